-- Runs the steps of the cases in bindings/conformance; see README.md there.
local json = require "dkjson"
local runcible = require "runcible"
local unit = require "luaunit"
local uv = require "luv"

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return assert(json.decode(file:read "a", 1, json.null))
end

local PATH = assert(os.getenv "RUNCIBLE_CASES")

local conformance = {document = read(PATH)}
local golden = read(PATH:match "^(.*/)" .. conformance.document.golden)

-- Returns the class of a status; "IO" is that of RC_E_IO.
local function error_class(name)
  local words = ("_" .. name:lower()):gsub("_(%l)", string.upper)
  return assert(runcible.errors[words .. "Error"], name)
end

local Runner = {}
Runner.__index = Runner

-- Resolves a value of a step: "$name" is an object.
function Runner:value(given)
  if given == json.null then return nil end
  if type(given) == "table" and getmetatable(given) and getmetatable(given).__jsontype then
    local made = setmetatable({}, getmetatable(given))
    for key, each in pairs(given) do made[key] = self:value(each) end
    return made
  end
  if type(given) ~= "string" or given:sub(1, 1) ~= "$" then return given end
  local kind, rest = given:match "^%$([^/]*)/?(.*)"
  if kind == "golden" then
    local found = golden
    for key in rest:gmatch "[^/]+" do
      found = found[#found > 0 and type(found) == "table" and tonumber(key) + 1 or key]
    end
    return found
  end
  if kind == "path" then return self:path(rest) end
  if kind == "backend" then return runcible.Backend(rest) end
  local found = self.objects[kind]
  for name in rest:gmatch "[^/]+" do found = found[name] end
  return found
end

function Runner:path(name)
  self.paths[name] = self.paths[name] or os.tmpname()
  return self.paths[name]
end

function Runner:step(step)
  for _, language in ipairs(step.except or {}) do
    if language == "Lua" then return end
  end
  local going, failure = pcall(self.act, self, step)
  if not step.raises then
    if not going then error(failure, 0) end
    return
  end
  unit.assertFalse(going, json.encode(step))
  if step.raises == "TYPE" or step.raises == "VALUE" then return unit.assertIsString(failure) end
  if getmetatable(failure) ~= error_class(step.raises) then error(failure, 0) end
  unit.assertStrContains(failure.message, step.says or "")
  unit.assertEquals(failure.message:sub(1, #(step.names or "")), step.names or "")
  for _, of_c in ipairs {"%f[%w]rc_", "%f[%w]RC_", "%->"} do
    unit.assertNil(failure.message:find(of_c), failure.message)
  end
  unit.assertNotEquals(failure.message, "")
  if step.retries ~= nil then unit.assertEquals(failure.retry_after ~= nil, step.retries) end
  if step.reason then unit.assertEquals(failure.report.reason, step.reason) end
end

function Runner:act(step)
  local made = {self:call(step)}
  if type(step.as) == "table" then
    unit.assertEquals(#made, #step.as)
    for i, name in ipairs(step.as) do self.objects[name] = made[i] end
  elseif step.as then
    self.objects[step.as] = made[1]
  end
  if step.expect ~= nil then self:check(made[1], self:value(step.expect), step["do"]) end
end

local actions = {}

-- Calls the function that a step names, of an object, a class or the package.
function Runner:call(step)
  local on, method = step["do"]:match "^([%w_]+)%.?(.*)"
  local given, count = {}, #(step.with or {})
  for i = 1, count do given[i] = self:value(step.with[i]) end
  local options = step.options and self:value(step.options)
  if options and options.logit_bias then
    local biases = {}
    for _, pair in ipairs(options.logit_bias) do biases[pair[1]] = pair[2] or -math.huge end
    options.logit_bias = biases
  end
  local target = self.objects[on] or runcible[on]
  local action = actions[step["do"]] or actions[method ~= "" and method or on]
  if action then
    given[count + 1] = options
    return action(self, step, target, table.unpack(given, 1, count + 1))
  end
  if options then
    count = count + 1
    given[count] = options.keep == nil and options or options.keep
  end
  if method == "" then
    if type(target) ~= "function" then return target end
    return target(table.unpack(given, 1, count))
  end
  if self.objects[on] then return target[method](target, table.unpack(given, 1, count)) end
  return target[method](table.unpack(given, 1, count))
end

local comparisons = {}

-- Returns members, also those that have another name or place in Lua.
local function member_of(found, name)
  if name == "numbers" then return found:read() end
  if type(found) == "string" then found = json.decode(found) end
  if name == "devices" and found.devices == nil then return found end
  if name == "tool_calls" then name = "calls" end
  local member = found[name]
  if type(member) == "function" then return (member(found)) end
  return member
end

-- Checks a result against the expected part of it.
function Runner:check(found, expected, what)
  local kind = type(expected) == "table" and getmetatable(expected) and getmetatable(expected).__jsontype
  if kind == "array" then
    unit.assertEquals(#found, #expected, what)
    for i, each in ipairs(expected) do self:check(found[i], each, what .. "[" .. i .. "]") end
  elseif kind == "object" then
    for name, wanted in pairs(expected) do
      if name:sub(1, 1) == "$" then
        local compare = name ~= "$by" and assert(comparisons[name], name)
        if compare then compare(self, found, wanted, what, expected["$by"]) end
      else
        self:check(member_of(found, name), wanted, what .. "." .. name)
      end
    end
  else
    unit.assertEquals(found, expected, what)
  end
end

function Runner:passes(found, wanted)
  return (pcall(self.check, self, found, wanted, ""))
end

comparisons["$same"] = function(_, found, wanted, what)
  unit.assertEquals(found, wanted, what)
end

comparisons["$not"] = function(_, found, wanted, what)
  unit.assertNotEquals(found, wanted, what)
end

comparisons["$near"] = function(_, found, wanted, what, by)
  if type(wanted) ~= "table" then found, wanted = {found}, {wanted} end
  for i, number in ipairs(wanted) do unit.assertAlmostEquals(found[i], number, by, what) end
end

comparisons["$least"] = function(_, found, wanted, what)
  unit.assertTrue(found >= wanted, what)
end

comparisons["$most"] = function(_, found, wanted, what)
  unit.assertTrue(found <= wanted, what)
end

comparisons["$count"] = function(self, found, wanted, what)
  self:check(#found, wanted, what .. " count")
end

comparisons["$some"] = function(self, found, wanted, what)
  for _, each in ipairs(found) do
    if self:passes(each, wanted) then return end
  end
  unit.fail(what)
end

comparisons["$all"] = function(self, found, wanted, what)
  for _, each in ipairs(found) do self:check(each, wanted, what) end
end

comparisons["$any"] = function(self, found, wanted, what)
  for _, each in ipairs(wanted) do
    if self:passes(found, each) then return end
  end
  unit.fail(what)
end

comparisons["$start_of"] = function(_, found, wanted, what)
  unit.assertNotEquals(found, "", what)
  unit.assertEquals(wanted:sub(1, #found), found, what)
end

comparisons["$but_last"] = function(_, found, wanted, what)
  unit.assertEquals(found, table.move(wanted, 1, #found, 1, {}), what)
  unit.assertTrue(#found >= #wanted - 1, what)
end

-- Runs a case in a coroutine, on luv's loop.
function conformance.run(case)
  local runner = setmetatable({objects = {}, paths = {}}, Runner)
  local failure, ended
  coroutine.wrap(function()
    for _, step in ipairs(case.steps) do
      local going, problem = pcall(runner.step, runner, step)
      if not going then
        failure = {problem}
        break
      end
    end
    ended = true
  end)()
  uv.run()
  for _, path in pairs(runner.paths) do os.remove(path) end
  if failure then error(failure[1], 0) end
  unit.assertTrue(ended)
end

-- Steps that are not a single call of the package, or that have another name in
-- Lua.

actions["Backend.open"] = function(_, _, Backend, spec, options)
  return Backend(spec, options)
end

actions["Model.load"] = function(_, _, Model, path, backend, options)
  return Model(path, backend, options)
end

actions["Tenant.create"] = function(_, _, Tenant, options)
  return Tenant(options)
end

actions["Tokenizer.open"] = function(_, _, Tokenizer, path)
  return Tokenizer(path)
end

actions["Tensor.of"] = function(_, _, Tensor, values, shape, backend, options)
  return Tensor(values, backend, {shape = shape, dtype = options and options.dtype})
end

function actions.reshape(_, _, tensor, ...)
  return tensor:reshape {...}
end

function actions.fused_linear(_, _, x, weight, options)
  return x:fused_linear(weight, nil, options["function"])
end

function actions.save_bytes(_, _, session)
  return session:save_memory()
end

function actions.restore_bytes(_, _, Session, model, saved)
  return Session.restore_memory(model, saved)
end

function actions.generate(_, step, session, ...)
  local generation = step.with and session:generate(...) or session:generate(nil, ...)
  return {text = generation:text(), report = generation.report}
end

function actions.stream(_, step, session, prompt, options)
  local stream = session:stream(prompt, options)
  local pieces, texts = {}, {}
  for text, tokens, logprobs, top_logprobs in stream do
    texts[#texts + 1] = text
    pieces[#pieces + 1] = {text = text, tokens = tokens, logprobs = logprobs, top_logprobs = top_logprobs}
    if #pieces == step.cancel_after then stream:cancel() end
  end
  return {text = table.concat(texts), pieces = pieces, report = stream.report}
end

function actions.start(_, _, session, prompt, options)
  return (session:generate(prompt, options))
end

function actions.leave(_, _, session, prompt, options)
  local generation = session:generate(prompt, options)
  generation()
  return generation
end

function actions.close_all(self, _, _, ...)
  for _, name in ipairs {...} do self.objects[name]:close() end
end

function actions.finish(_, _, generation)
  generation:close()
  return generation
end

-- Answers on the event loop.
function actions.answer(_, _, chat, options)
  local stream = chat:stream(options)
  local reply = {text = "", reasoning = "", calls = {}}
  for kind, value in stream do
    if kind == "call" then
      table.insert(reply.calls, value)
    else
      reply[kind] = reply[kind] .. value
    end
  end
  reply.report = stream.report
  return reply
end

-- Runs each step in a separate coroutine; the last to end resumes this one.
function actions.together(self, step)
  local waiting, left, failure = coroutine.running(), #step.steps, nil
  for _, each in ipairs(step.steps) do
    coroutine.wrap(function()
      local going, problem = pcall(self.step, self, each)
      if not going then failure = failure or {problem} end
      left = left - 1
      if left == 0 and coroutine.status(waiting) == "suspended" then coroutine.resume(waiting) end
    end)()
  end
  if left > 0 then coroutine.yield() end
  if failure then error(failure[1], 0) end
end

function actions.statuses(_, _, _, numbers)
  for name, number in pairs(numbers) do
    local class = error_class(name)
    unit.assertEquals(class.status, number)
    local failure = runcible.errors.of_status(number, "a message")
    unit.assertIs(getmetatable(failure), class)
    unit.assertEquals(failure.message, "a message")
    unit.assertTrue(class:is(failure) and runcible.errors.Error:is(failure))
  end
end

function actions.file(_, _, _, path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

function actions.logits(_, _, session, number)
  local rows = session:logits()
  local row, sum, largest = rows[number + 1], 0, 1
  for i, logit in ipairs(row) do
    sum = sum + logit
    if logit > row[largest] then largest = i end
  end
  return {rows = #rows, vocabulary = #row, largest = largest - 1, sum = sum}
end

function actions.record(self, _, Graph, backend, like, ops, outputs, kept)
  return Graph.record(backend, like, function(...)
    local values = {...}
    table.move(kept or {}, 1, #(kept or {}), #values + 1, values)
    for _, op in ipairs(ops) do
      local a, b = values[op[2] + 1], op[3] and values[op[3] + 1]
      self.objects.recorded = op[3] and a[op[1]](a, b) or a[op[1]](a)
      values[#values + 1] = self.objects.recorded
    end
    local made = {}
    for i, number in ipairs(outputs) do made[i] = values[number + 1] end
    return table.unpack(made)
  end)
end

function actions.run_later(_, _, graph, inputs, options)
  return graph:run_async(inputs, options):wait()
end

function actions.switch_later(_, _, backend, spec, options)
  return backend:switch_async(spec, options):wait()
end

function actions.open_later(_, _, Backend, spec)
  local fractions = {}
  local opening = Backend.open_async(spec, {
    progress = function(fraction)
      fractions[#fractions + 1] = fraction
    end,
  })
  local backend = opening:wait()
  unit.assertEquals(fractions[#fractions], 1)
  return backend
end

function actions.discover_later()
  return runcible.discover_async():wait()
end

actions["CustomOp.of"] = function(_, _, CustomOp, options)
  options.library = os.getenv "RUNCIBLE_CUSTOM_OP"
  return CustomOp(options)
end

actions["Pinned.of"] = function(_, _, Pinned, values, backend, device)
  local memory = Pinned(backend, 4 * #values, device)
  unit.assertEquals(memory:read(), ("\0"):rep(4 * #values))
  memory:write(string.pack(("f"):rep(#values), table.unpack(values)))
  return memory
end

function actions.write_pinned(_, _, memory, values)
  memory:write(string.pack(("f"):rep(#values), table.unpack(values)))
end

function actions.from_pinned(_, _, Tensor, memory, shape, backend)
  return Tensor.from_bytes(memory, shape, "f32", backend)
end

function actions.borrow_pinned(_, _, Tensor, memory, shape, backend)
  return Tensor.borrow(memory, shape, "f32", backend)
end

function actions.read_into(_, _, tensor, memory)
  tensor:read_into(memory)
  local numbers = {string.unpack(("f"):rep(memory:size() // 4), memory:read())}
  numbers[#numbers] = nil -- the position after the numbers
  return numbers
end

function actions.drop(self, _, _, name)
  self.objects[name]:close()
end

return conformance
