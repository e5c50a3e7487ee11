-- Schemas, tools, choices and messages as tables.
local dkjson = require "dkjson"
local runcible = require "runcible"
local unit = require "luaunit"

local TestJson = {}

local model = runcible.Model("builtin:fable", "cpu")
local schema = {
  type = "object", required = {"clouds", "sky"},
  properties = {clouds = {type = "integer", const = 2}, sky = {const = "gréy"}},
}
local sky = {clouds = 2, sky = "gréy"}
local ordered = {
  type = "object", required = {"sky", "clouds"},
  properties = setmetatable({clouds = {type = "integer", const = 2}, sky = {const = "gréy"}},
    {__jsonorder = {"sky", "clouds"}}),
}

local function chat()
  return model:session():chat {template_name = "zephyr"}
end

function TestJson.test_schemas_are_tables_or_json()
  for name, given in pairs {table = schema, text = dkjson.encode(schema), ordered = ordered} do
    local grammar = runcible.Grammar.json_schema(model, given)
    local text = (model:session():generate("A", {grammar = grammar})):text()
    unit.assertEquals(dkjson.decode(text), sky)
    if name ~= "text" then
      unit.assertStrContains(text, name == "ordered" and '{"sky"' or '{"clouds"')
    end
    local inner = type(given) == "string" and dkjson.decode(given) or given
    local reply = chat():ask("How is it?", {response_format = {
      type = "json_schema", json_schema = {name = "sky", schema = inner}}})
    unit.assertEquals(dkjson.decode(reply.text), sky)
  end
end

function TestJson.test_jsontype_makes_empty_objects()
  local empty = setmetatable({}, {__jsontype = "object"})
  local grammar = runcible.Grammar.json_schema(model,
    {type = "object", properties = empty, additionalProperties = false})
  unit.assertEquals((model:session():generate("A", {grammar = grammar})):text(), "{}")
end

function TestJson.test_errors_name_the_argument()
  local talk = chat()
  talk:add "a"
  local circle = {}
  circle.circle = circle
  for _, bad in ipairs {circle, print, 0 / 0, math.huge, coroutine.create(print)} do
    local within = {a = {bad}}
    local wrong = {
      response_format = function() talk:answer {response_format = within} end,
      tool_choice = function() talk:answer {tool_choice = within} end,
      messages = function() talk:add {role = "user", content = bad} end,
      tools = function()
        model:session():chat {template_name = "zephyr", tools = {within}}
      end,
      schema = function() runcible.Grammar.json_schema(model, within) end,
    }
    for name, call in pairs(wrong) do
      local lived, message = pcall(call)
      unit.assertFalse(lived)
      unit.assertStrContains(tostring(message), name .. ": ")
    end
  end
end

return TestJson
