-- Wrong types, closed objects, threads, forks, exits: no crash, no hang.
local forking = require "forking"
local helpers = require "helpers"
local runcible = require "runcible"
local unit = require "luaunit"
local uv = require "luv"

local ENDLESS, raises = helpers.ENDLESS, helpers.raises

local TestFaults = {}

function TestFaults.test_wrong_values_raise_messages()
  local model = helpers.model()
  local backend = model:backend()
  local wrong = {
    {runcible.Backend, "cpu", 7},
    {runcible.Backend, "cpu", {nonsense = 1}},
    {runcible.Backend, "cpu", {[1] = 1}},
    {runcible.Backend, "cpu", {timeout = "soon"}},
    {runcible.Backend, "cpu", {tenant = backend}},
    {runcible.Model, "builtin:fable", io.stdout},
    {runcible.Model, 7, "cpu"},
    {runcible.Model, "builtin:fable", "cpu", {cache_dtype = "f31"}},
    {runcible.Model, "builtin:fable", "cpu", {progress = 7}},
    {runcible.Session, "model"},
    {runcible.Session, backend},
    {runcible.Session, nil},
    {model.session, model, {context_length = 0 / 0}},
    {model.session, backend},
    {model.tokenize, "model", "A"},
    {runcible.Tensor, 7, backend},
    {runcible.Tensor, {1, "2"}, backend},
    {runcible.Tensor, {{1, 2}, {3}}, backend},
    {runcible.Tensor, {{1, 2}, 3}, backend},
    {runcible.Tensor, {1, 2.5}, backend, {dtype = "i32"}},
    {runcible.Tensor.zeros, {"a"}, backend},
    {runcible.Tensor.zeros, 7, backend},
    {runcible.Tensor.zeros({2}, backend).fused_linear, runcible.Tensor.zeros({2}, backend), backend},
  }
  for _, arguments in ipairs {
    {"A", 7},
    {"A", {stop = 7}},
    {"A", {stop = "a\0b"}},
    {"A", {stop_tokens = 7}},
    {"A", {deadline = 0 / 0}},
    {"A", {logit_bias = {"b"}}},
    {"A", {logit_bias = 7}},
    {"A", {echo = "yes"}},
    {"A", {loop = 7}},
  } do
    local session = model:session()
    local streams = type(arguments[2]) == "table" and arguments[2].loop
    local what = streams and session.stream or session.generate
    wrong[#wrong + 1] = {what, session, table.unpack(arguments)}
  end
  for i, call in ipairs(wrong) do
    local going, failure = pcall(table.unpack(call))
    unit.assertFalse(going, i)
    unit.assertIsString(failure, i)
  end
end

function TestFaults.test_message_of_a_wrong_value_names_the_line()
  local going, failure = pcall(function()
    helpers.model():session():generate("A", {nonsense = 1})
  end)
  unit.assertFalse(going)
  unit.assertStrMatches(failure, ".*test_faults%.lua:%d+: there is no option nonsense")
end

function TestFaults.test_closed_session_raises_closed_error()
  local session = helpers.model():session()
  session:close()
  unit.assertTrue(session:is_closed())
  raises("ClosedError", session.model, session)
  raises("FormatError", runcible.Session.restore_memory, helpers.model(), "nothing")
  unit.assertStrContains(tostring(session), "closed")
end

function TestFaults.test_calls_after_the_end_do_no_harm()
  local generation = helpers.model():session():generate("A", {max_tokens = 1})
  generation:text()
  unit.assertNil(generation())
  generation:cancel()
  generation:close()
  unit.assertEquals(generation:text(), "")
end

local function shuffled(things)
  for i = #things, 2, -1 do
    local j = math.random(i)
    things[i], things[j] = things[j], things[i]
  end
  return things
end

function TestFaults.test_objects_are_collected_in_any_order()
  for _ = 1, 6 do
    local backend = runcible.Backend("cpu")
    local model = runcible.Model("builtin:fable", backend)
    local session = model:session()
    local things = {backend, model, session, session:fork(), (session:generate "A")}
    backend, model, session = nil, nil, nil
    shuffled(things)
    while #things > 0 do
      things[#things] = nil
      collectgarbage()
    end
  end
end

function TestFaults.test_error_in_a_loop_cancels_the_generation()
  local session = helpers.endless()
  local generation = session:generate("A", ENDLESS)
  local going, failure = pcall(function()
    local closing <close> = generation
    for _ in generation do error {mine = true} end
  end)
  unit.assertFalse(going)
  unit.assertTrue(failure.mine)
  unit.assertEquals(generation.report.reason, "cancelled")
  session:append "B"
  pcall(function()
    for _ in session:generate("A", ENDLESS) do error() end
  end)
  session:append "B"
end

-- A generation of a coroutine that died, and a generation that is lost.
function TestFaults.test_using_the_session_ends_a_generation_that_was_left()
  local session = helpers.endless()
  local left
  pcall(coroutine.wrap(function()
    left = session:generate("A", ENDLESS)
    left()
    error "mine"
  end))
  session:append "B"
  for _ = 1, 10 do
    session:generate("A", ENDLESS)()
    collectgarbage()
    collectgarbage()
    session:append "B"
  end
end

function TestFaults.test_generation_of_another_coroutine_is_not_left()
  local session = helpers.endless()
  local generation = session:generate("A", ENDLESS)
  local read = coroutine.wrap(function()
    while true do
      generation()
      coroutine.yield()
    end
  end)
  read()
  raises("BusyError", session.append, session, "B")
  read()
  generation()
  session:append "B"
end

function TestFaults.test_errors_have_the_errno_of_the_system()
  local folder = assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/runcible-XXXXXX"))
  local loop = folder .. "/loop.gguf"
  assert(uv.fs_symlink("loop.gguf", loop))
  local _, _, number = io.open(loop)
  unit.assertEquals(raises("IoError", runcible.verify, loop).errno, number)
  _, _, number = io.open(folder .. "/none.gguf")
  unit.assertEquals(raises("NotFoundError", runcible.verify, folder .. "/none.gguf").errno, number)
  unit.assertNil(raises("InvalidArgumentError", helpers.model():session().decode, helpers.model():session()).errno)
  uv.fs_unlink(loop)
  uv.fs_rmdir(folder)
end

function TestFaults.test_error_in_the_progress_function_is_raised()
  local going, failure = pcall(runcible.Model, "builtin:fable", "reference", {
    progress = function()
      error {mine = true}
    end,
  })
  unit.assertFalse(going)
  unit.assertTrue(failure.mine)
end

function TestFaults.test_progress_function_cannot_yield()
  local going, failure = pcall(runcible.Model, "builtin:fable", "reference", {progress = coroutine.yield})
  unit.assertFalse(going)
  unit.assertStrContains(failure, "yield")
end

-- Programs with requests of an iterator and of streams in flight.
local IN_FLIGHT = [[
  local runcible = require "runcible"
  local model = runcible.Model("builtin:fable", "cpu")
  local kept = {}
  local function start(loop)
    local session = model:session {when_full = "shift"}
    coroutine.wrap(function()
      local options = {ignore_eos = true, loop = loop}
      for _ in session:stream("A", options) do
        if loop then kept[#kept + 1] = session end
      end
    end)()
    kept[#kept + 1] = model:session {when_full = "shift"}:generate("A", {ignore_eos = true})
    kept[#kept]()
  end
  local loop = runcible.Loop.new()
  for _ = 1, 3 do start(loop) end
  loop:wait()
  loop:dispatch()
]]

function TestFaults.test_exit_with_requests_in_flight()
  local luv = [[
    local uv = require "luv"
    for _ = 1, 3 do start() end
    local timer = uv.new_timer()
    timer:start(20, 0, function() uv.stop() end)
    uv.run()
    uv.walk(function(handle) kept[#kept + 1] = handle end)
  ]]
  for _, before in ipairs {"", luv} do
    for _, exit in ipairs {"", "os.exit(0)", "os.exit(0, true)"} do
      local output, status = helpers.run(IN_FLIGHT .. before .. 'print "done" io.stdout:flush() ' .. exit)
      unit.assertEquals(output, "done\n")
      unit.assertEquals(status, 0, exit)
    end
  end
end

function TestFaults.test_interrupt_ends_a_generation()
  local program = [[
    local runcible = require "runcible"
    local session = runcible.Model("builtin:fable", "cpu"):session {when_full = "shift"}
    io.stdout:setvbuf "no"
    local begun
    for _ in session:generate("A", {ignore_eos = true}) do
      if not begun then io.write "begun" end
      begun = true
    end
  ]]
  local output, status = uv.new_pipe(), nil
  local received = ""
  local child
  child = assert(uv.spawn("lua5.4", {args = {"-e", program}, stdio = {nil, output, nil}}, function(code)
    status = code
    child:close()
  end))
  output:read_start(function(_, data)
    if data then
      received = received .. data
      if received == "begun" then child:kill "sigint" end
    else
      output:close()
    end
  end)
  uv.run()
  unit.assertEquals(received, "begun")
  unit.assertEquals(status, 1) -- the status after the Lua error "interrupted!"
end

function TestFaults.test_child_of_a_fork_cannot_use_handles()
  local model = helpers.model()
  local session = model:session()
  local generation = session:generate("A", {max_tokens = 5})
  local stream = session:stream("A", {max_tokens = 5, loop = runcible.Loop.new()})
  local status = forking.run(function()
    for _, use in ipairs {
      {session.fork, session},
      {generation},
      {generation.cancel, generation},
      {runcible.Backend, "cpu"},
      {model.session, model},
    } do
      local failure = raises("ClosedError", table.unpack(use))
      unit.assertStrContains(failure.message, "child of a fork")
    end
    session:close()
    session, generation, stream = nil, nil, nil
    collectgarbage()
  end)
  unit.assertEquals(status, 0)
  unit.assertTrue(#generation:text() > 0)
  unit.assertNotNil(stream)
end

function TestFaults.test_child_of_a_fork_before_any_model_generates()
  local output, status = helpers.run [[
    local runcible = require "runcible"
    print(require("forking").run(function()
      local model = runcible.Model("builtin:fable", "cpu")
      assert(#model:session():generate("A", {max_tokens = 3}):text() > 0)
    end))
  ]]
  unit.assertEquals(output, "0\n")
  unit.assertEquals(status, 0)
end

-- Each thread of luv has a separate Lua state.
function TestFaults.test_concurrent_threads_generate_the_same_texts()
  local function work(seed, path, cpath)
    package.path, package.cpath = path, cpath
    local mine = require "runcible"
    local session = mine.Model("builtin:fable", "cpu"):session()
    local text = session:generate("A", {seed = seed, max_tokens = 20}):text()
    local again = session:model():session():generate("A", {seed = seed, max_tokens = 20}):text()
    if text ~= again or #text == 0 then error "another text" end
    local file = assert(io.open(("%s/thread-%d"):format(os.getenv "TMPDIR" or "/tmp", seed), "w"))
    file:write(text)
    file:close()
  end
  local threads = {}
  for seed = 1, 4 do threads[seed] = uv.new_thread(work, seed, package.path, package.cpath) end
  for seed = 1, 4 do
    threads[seed]:join()
    local path = ("%s/thread-%d"):format(os.getenv "TMPDIR" or "/tmp", seed)
    local file <close> = assert(io.open(path))
    local alone = helpers.model():session():generate("A", {seed = seed, max_tokens = 20})
    unit.assertEquals(file:read "a", alone:text())
    os.remove(path)
  end
end

-- Runs 10000 generations in a separate Lua, whose memory no other test has used.
function TestFaults.test_memory_does_not_grow()
  local output, status = helpers.run [[
    local runcible = require "runcible"
    local model = runcible.Model("builtin:fable", "cpu")

    local function generate()
      local options = {max_tokens = 1, stop = "x", logit_bias = {[5] = -1.0}}
      for _ = 1, 50 do model:session():generate("A", options):text() end
      local loop = runcible.Loop.new()
      for _ = 1, 50 do
        coroutine.wrap(function()
          model:session():stream("A", {max_tokens = 1, stop = {"x", "y"}, loop = loop}):text()
        end)()
      end
      loop:run()
      for _ = 1, 10 do pcall(runcible.Backend, "nosuch") end
    end

    local function resident() -- bytes
      collectgarbage()
      collectgarbage()
      local file <close> = assert(io.open "/proc/self/statm")
      return tonumber(file:read("a"):match "^%d+ (%d+)") * 4096
    end

    for _ = 1, 20 do generate() end
    -- A leak grows in every round. The allocator grows in steps, and for longer
    -- with many threads.
    local grown = {}
    repeat
      local before = resident()
      for _ = 1, 20 do generate() end
      table.insert(grown, resident() - before)
    until grown[#grown] < 1 << 20 or #grown == 16
    print(grown[#grown] < 1 << 20 and "done" or table.concat(grown, " "))
  ]]
  unit.assertEquals(status, 0, output)
  unit.assertEquals(output, "done\n")
end

return TestFaults
