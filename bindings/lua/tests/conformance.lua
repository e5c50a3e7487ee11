-- Runs the cases of bindings/conformance/cases.json in Lua.
local json = require "dkjson"
local runcible = require "runcible"
local unit = require "luaunit"
local uv = require "luv"

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return assert(json.decode(file:read "a"))
end

local PATH = assert(os.getenv "RUNCIBLE_CASES")

local conformance = {document = read(PATH)}
local golden = read(PATH:match "^(.*/)" .. conformance.document.golden)

-- The class of a status; "IO" is that of RC_E_IO.
local function error_class(name)
  local words = ("_" .. name:lower()):gsub("_(%l)", string.upper)
  return assert(runcible.errors[words .. "Error"], name)
end

local steps = {}

local Runner = {}
Runner.__index = Runner

-- What a step means by a value.
function Runner:value(given)
  if type(given) == "table" and given.file then return self.objects[given.file] end
  if type(given) ~= "table" or not given.golden then return given end
  local found = golden
  for key in given.golden:gmatch "[^/]+" do
    found = found[type(found) == "table" and #found > 0 and tonumber(key) + 1 or key]
  end
  return found
end

function Runner:step(given)
  local step = {}
  for key, value in pairs(given) do step[key] = self:value(value) end
  local going, failure = pcall(assert(steps[step["do"]], step["do"]), self, step)
  if not step.raises then
    if not going then error(failure, 0) end
    return
  end
  unit.assertFalse(going)
  local class = error_class(step.raises)
  if getmetatable(failure) ~= class then error(failure, 0) end
  unit.assertStrContains(failure.message, step.says or "")
  unit.assertStrContains(failure.message, step.names or "")
  for _, of_c in ipairs {"%f[%w]rc_", "%f[%w]RC_", "%->"} do
    unit.assertNil(failure.message:find(of_c), failure.message)
  end
  unit.assertNotEquals(failure.message, "")
  if step.reason then unit.assertEquals(failure.report.reason, step.reason) end
end

-- Runs a case in a coroutine, on luv's loop.
function conformance.run(case)
  local runner = setmetatable({objects = {}}, Runner)
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
  for _, path in ipairs(runner.objects) do os.remove(path) end
  if failure then error(failure[1], 0) end
  unit.assertTrue(ended)
end

local function temporary(runner)
  local path = os.tmpname()
  table.insert(runner.objects, path)
  return path
end

local function check_text(step, text)
  unit.assertEquals(text, step.expect or text)
  unit.assertNotEquals(text, "")
  local whole = step.expect_start_of or text
  unit.assertEquals(whole:sub(1, #text), text)
end

-- Options of generating, with the grammar that is named.
local function generating(runner, step)
  local made = {}
  for name, value in pairs(step.options or {}) do
    made[name] = name == "grammar" and runner.objects[value] or value
  end
  return made
end

function steps.load(runner, step)
  local backend = runcible.Backend(step.backend, step.backend_options)
  runner.objects[step.as] = step.hub and runcible.Model.from_hub(step.hub, backend)
    or runcible.Model(step.path or "builtin:fable", backend)
end

local function near(row, expected)
  for i, number in ipairs(expected) do
    unit.assertTrue(math.abs(row[i] - number) < 2e-3)
  end
end

function steps.embed(runner, step)
  local rows = runner.objects[step.model]:embed(step.texts)
  unit.assertEquals(#rows, #step.expect)
  for i, expected in ipairs(step.expect) do near(rows[i], expected) end
end

function steps.rerank(runner, step)
  local scores = runner.objects[step.model]:rerank(step.query, step.documents)
  unit.assertEquals(#scores, #step.expect)
  near(scores, step.expect)
end

function steps.report(runner, step)
  local report = runner.objects[step.model]:report()
  for name, expected in pairs(step.expect) do unit.assertEquals(report[name], expected) end
end

function steps.tokenize(runner, step)
  local tokens = runner.objects[step.model]:tokenize(step.text, {add_special = false})
  unit.assertEquals(tokens, step.expect)
end

function steps.detokenize(runner, step)
  unit.assertEquals(runner.objects[step.model]:detokenize(step.tokens), step.expect)
end

function steps.session(runner, step)
  runner.objects[step.as] = runner.objects[step.model]:session(step.options)
end

function steps.generate(runner, step)
  local generation = runner.objects[step.session]:generate(step.prompt, generating(runner, step))
  check_text(step, generation:text())
  unit.assertEquals(generation.report.reason, step.reason)
end

function steps.stream(runner, step)
  local stream = runner.objects[step.session]:stream(step.prompt, generating(runner, step))
  local pieces = {}
  for piece in stream do
    pieces[#pieces + 1] = piece
    if #pieces == step.cancel_after then stream:cancel() end
  end
  check_text(step, table.concat(pieces))
  unit.assertTrue(#pieces >= (step.pieces or 0))
  unit.assertEquals(stream.report.reason, step.reason)
end

function steps.grammar(runner, step)
  local given = step.schema or step.choices or step.text
  local make = runcible.Grammar[step.kind]
  runner.objects[step.as] = make(runner.objects[step.model], given, step.options)
end

function steps.chat(runner, step)
  runner.objects[step.as] = runner.objects[step.session]:chat(step.options)
end

function steps.add(runner, step)
  runner.objects[step.chat]:add(step.messages)
end

function steps.undo(runner, step)
  runner.objects[step.chat]:undo(step.count)
end

function steps.messages(runner, step)
  unit.assertEquals(runner.objects[step.chat]:messages(), step.expect)
end

function steps.fork_chat(runner, step)
  runner.objects[step.as] = runner.objects[step.chat]:fork()
end

local function check_reply(step, reply)
  for name, expected in pairs(step.expect) do
    unit.assertEquals(reply[name], expected)
  end
  unit.assertEquals(reply.report.reason, step.reason)
end

-- On the event loop.
function steps.answer(runner, step)
  local stream = runner.objects[step.chat]:stream(generating(runner, step))
  local reply = {text = "", reasoning = "", calls = {}}
  for kind, value in stream do
    if kind == "call" then
      table.insert(reply.calls, value)
    else
      reply[kind] = reply[kind] .. value
    end
  end
  reply.report = stream.report
  check_reply(step, reply)
end

function steps.ask(runner, step)
  check_reply(step, runner.objects[step.chat]:ask(step.text, generating(runner, step)))
end

-- Each step in a coroutine of its own; the last to end goes on with this one.
function steps.together(runner, step)
  local waiting, left, failure = coroutine.running(), #step.steps, nil
  for _, each in ipairs(step.steps) do
    coroutine.wrap(function()
      local going, problem = pcall(runner.step, runner, each)
      if not going then failure = failure or {problem} end
      left = left - 1
      if left == 0 and coroutine.status(waiting) == "suspended" then coroutine.resume(waiting) end
    end)()
  end
  if left > 0 then coroutine.yield() end
  if failure then error(failure[1], 0) end
end

function steps.tokens(runner, step)
  -- The end token ends a text and is no part of the session.
  local tokens = runner.objects[step.session]:tokens()
  unit.assertEquals(tokens, table.move(step.expect, 1, #tokens, 1, {}))
  unit.assertTrue(#tokens >= #step.expect - 1)
end

function steps.append(runner, step)
  runner.objects[step.session]:append(step.text or step.tokens)
end

function steps.statuses(_, step)
  for name, number in pairs(step.expect) do
    local class = error_class(name)
    unit.assertEquals(class.status, number)
    local failure = runcible.errors.of_status(number, "a message")
    unit.assertIs(getmetatable(failure), class)
    unit.assertEquals(failure.message, "a message")
    unit.assertTrue(class:is(failure) and runcible.errors.Error:is(failure))
  end
end

function steps.file(runner, step)
  local path = temporary(runner)
  local file <close> = assert(io.open(path, "wb"))
  file:write(step.text)
  runner.objects[step.as] = path
end

function steps.start(runner, step)
  runner.objects[step.as] = runner.objects[step.session]:generate(step.prompt, step.options)
end

function steps.finish(runner, step)
  local generation = runner.objects[step.generation]
  generation:close()
  unit.assertEquals(generation.report.reason, "cancelled")
end

function steps.close(runner, step)
  runner.objects[step.object]:close()
end

function steps.save(runner, step)
  local path = temporary(runner)
  runner.objects[step.session]:save(path)
  runner.objects[step.as] = path
end

function steps.restore(runner, step)
  runner.objects[step.as] = runcible.Session.restore(runner.objects[step.model], runner.objects[step.saved])
end

function steps.fork(runner, step)
  runner.objects[step.as] = runner.objects[step.session]:fork()
end

function steps.decode(runner, step)
  runner.objects[step.session]:decode {all_logits = step.all_logits}
end

function steps.logits(runner, step)
  local rows = runner.objects[step.session]:logits()
  unit.assertEquals(#rows, step.rows)
  local row = rows[step.row + 1]
  unit.assertEquals(#row, step.vocabulary)
  local sum, largest = 0, 1
  for i, logit in ipairs(row) do
    sum = sum + logit
    if logit > row[largest] then largest = i end
  end
  unit.assertEquals(largest - 1, step.largest)
  unit.assertAlmostEquals(sum, step.sum, math.abs(step.sum) * step.tolerance)
end

function steps.tensor(runner, step)
  local count = 1
  for _, size in ipairs(step.shape) do count = count * size end
  local values = step.values or {}
  for i = #values + 1, count do values[i] = step.fill end
  runner.objects[step.as] = runcible.Tensor(values, runcible.Backend(step.backend), {shape = step.shape})
end

function steps.matmul(runner, step)
  runner.objects[step.as] = runner.objects[step.a]:matmul(runner.objects[step.b])
end

function steps.quantize(runner, step)
  runner.objects[step.tensor]:quantize(step.dtype)
end

function steps.read(runner, step)
  local tensor = runner.objects[step.tensor]
  unit.assertEquals(tensor:shape(), step.expect_shape)
  unit.assertEquals(tensor:read(), step.expect)
end

function steps.record(runner, step)
  local like = {}
  for i, name in ipairs(step.like) do like[i] = runner.objects[name] end
  runner.objects[step.as] = runcible.Graph.record(runcible.Backend(step.backend), like, function(...)
    local values = {...}
    for _, op in ipairs(step.ops) do
      local a, b = values[op[2] + 1], op[3] and values[op[3] + 1]
      values[#values + 1] = op[3] and a[op[1]](a, b) or a[op[1]](a)
    end
    local outputs = {}
    for i, number in ipairs(step.outputs) do outputs[i] = values[number + 1] end
    return table.unpack(outputs)
  end)
end

local function run_graph(runner, step, run)
  local inputs = {}
  for i, name in ipairs(step.inputs) do inputs[i] = runner.objects[name] end
  local made = {run(runner.objects[step.graph], inputs)}
  unit.assertEquals(#made, #step.as)
  for i, name in ipairs(step.as) do runner.objects[name] = made[i] end
end

function steps.run(runner, step)
  run_graph(runner, step, function(graph, inputs)
    return graph:run(inputs)
  end)
end

function steps.run_later(runner, step)
  run_graph(runner, step, function(graph, inputs)
    return graph:run_async(inputs):wait()
  end)
end

function steps.open_later(_, step)
  local told = {}
  local opening = runcible.Backend.open_async(step.spec, {
    progress = function(fraction)
      told[#told + 1] = fraction
    end,
  })
  local backend = opening:wait()
  unit.assertEquals(told[#told], 1)
  unit.assertEquals(backend:device().id, step.expect)
end

function steps.switch(_, step)
  local backend = runcible.Backend(step["from"])
  backend:switch(step.spec)
  unit.assertEquals(backend:device().id, step.expect)
end

function steps.custom_op(runner, step)
  runner.objects[step.as] = runcible.CustomOp {
    name = step.name, signature = step.signature, attributes = step.attributes,
    items = step.items, library = os.getenv "RUNCIBLE_CUSTOM_OP",
  }
end

function steps.compute(runner, step)
  local inputs = {}
  for i, name in ipairs(step.inputs) do inputs[i] = runner.objects[name] end
  runner.objects[step.as[1]] = runner.objects[step.op]:compute(inputs, {scale = step.scale})
end

function steps.pinned(runner, step)
  local count = 1
  for _, size in ipairs(step.shape) do count = count * size end
  local memory = runcible.Pinned(runcible.Backend(step.backend), 4 * count, step.device)
  unit.assertEquals(memory:read(), ("\0"):rep(4 * count))
  runner.objects[step.as] = memory
  steps.write_pinned(runner, {memory = step.as, values = step.values})
end

function steps.write_pinned(runner, step)
  runner.objects[step.memory]:write(string.pack(("f"):rep(#step.values), table.unpack(step.values)))
end

local function of_pinned(runner, step, make)
  local memory, backend = runner.objects[step.memory], runcible.Backend(step.backend)
  runner.objects[step.as] = make(memory, step.shape, "f32", backend)
end

function steps.from_pinned(runner, step)
  of_pinned(runner, step, runcible.Tensor.from_bytes)
end

function steps.borrow_pinned(runner, step)
  of_pinned(runner, step, runcible.Tensor.borrow)
end

function steps.read_into(runner, step)
  local memory = runner.objects[step.memory]
  runner.objects[step.tensor]:read_into(memory)
  local numbers = {string.unpack(("f"):rep(#step.expect), memory:read())}
  numbers[#numbers] = nil -- where the next would be
  unit.assertEquals(numbers, step.expect)
end

function steps.drop_pinned(runner, step)
  runner.objects[step.memory]:close()
end

function steps.discover_later(_, step)
  local ids = {}
  for _, device in ipairs(runcible.discover_async():wait()) do ids[device.id] = true end
  unit.assertTrue(ids[step.expect])
end

return conformance
