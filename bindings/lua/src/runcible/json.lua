--- JSON of the tables of programs: schemas, tools, messages, choices. dkjson
-- reads and writes it.
--
-- An empty table is an array unless its metatable has __jsontype = "object".
-- Members are in the order of their names, or in the order of the list
-- __jsonorder of the metatable.
local json = {}

local function dkjson()
  local found, module = pcall(require, "dkjson")
  if not found then
    error("reading and writing JSON needs dkjson: apt install lua-dkjson, or luarocks install dkjson", 4)
  end
  return module
end

--- Reads JSON as tables.
function json.decoded(text)
  return dkjson().decode(text)
end

local DEEPEST_VALUE = 200
local SIMPLE = {string = true, boolean = true, number = true}

-- Adds the names of all members within a value; raises a text if a part of it
-- cannot be written as JSON.
local function look(value, depth, found)
  local kind = type(value)
  if kind == "table" then
    if depth > DEEPEST_VALUE then
      error(("values are nested more than %d deep, or contain themselves"):format(DEEPEST_VALUE), 0)
    end
    -- dkjson's null, and other values that write their own JSON.
    local meta = getmetatable(value)
    if type(meta) == "table" and meta.__tojson then return end
    for name, each in pairs(value) do
      if type(name) == "string" then found[name] = true end
      look(each, depth + 1, found)
    end
  elseif not SIMPLE[kind] or value ~= value or value == math.huge or value == -math.huge then
    error(("JSON cannot represent %s"):format(tostring(value)), 0)
  end
end

--- Writes tables as JSON; a string is JSON already. Returns nil and a message if
-- a part of the value cannot be written as JSON.
function json.encoded(value)
  if type(value) == "string" then return value end
  local found, order = {}, {}
  local good, message = pcall(look, value, 0, found)
  if not good then return nil, message end
  for name in pairs(found) do order[#order + 1] = name end
  table.sort(order)
  return dkjson().encode(value, {keyorder = order})
end

return json
