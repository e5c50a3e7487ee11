-- Streams in coroutines, on luv's loop and on a Loop without an event loop.
local helpers = require "helpers"
local runcible = require "runcible"
local unit = require "luaunit"
local uv = require "luv"

local ENDLESS = helpers.ENDLESS

local TestStreams = {}

-- Runs f in a coroutine on each kind of loop, to its end.
local function on_loops(f)
  for _, kind in ipairs {
    {loop = runcible.Loop.default(), run = uv.run},
    {loop = runcible.Loop.new()},
  } do
    local loop, failure, ended = kind.loop, nil, false
    coroutine.wrap(function()
      local going, problem = pcall(f, loop)
      if not going then failure = {problem} end
      ended = true
    end)()
    if kind.run then
      kind.run()
    else
      loop:run()
    end
    if failure then error(failure[1], 0) end
    unit.assertTrue(ended)
  end
end

local function endless(loop)
  return {ignore_eos = true, loop = loop}
end

function TestStreams.test_streams_that_share_a_loop_give_the_same_texts()
  on_loops(function(loop)
    local texts, left, waiting = {}, 16, coroutine.running()
    for seed = 1, 16 do
      coroutine.wrap(function()
        local stream = helpers.model():session():stream("A", {seed = seed, max_tokens = 20, loop = loop})
        texts[seed] = stream:text()
        left = left - 1
        if left == 0 then coroutine.resume(waiting) end
      end)()
    end
    coroutine.yield()
    -- On a CPU, other sessions do not change a bit of a session's results.
    local alone = helpers.model():session():generate("A", {seed = 3, max_tokens = 20})
    unit.assertEquals(alone:text(), texts[3])
    unit.assertNotEquals(texts[3], texts[4])
  end)
end

function TestStreams.test_luv_runs_while_a_stream_is_read()
  local ticks, pieces = 0, 0
  local timer = uv.new_timer()
  timer:start(0, 1, function()
    ticks = ticks + 1
  end)
  coroutine.wrap(function()
    -- Ends only if both the stream and the timer get their turns.
    for _ in helpers.endless():stream("A", {ignore_eos = true}) do
      pieces = pieces + 1
      if pieces > 50 and ticks > 5 then break end
    end
    timer:close()
  end)()
  uv.run()
  unit.assertTrue(pieces > 50)
  unit.assertTrue(ticks > 5)
end

function TestStreams.test_luv_ends_without_streams()
  unit.assertFalse(uv.loop_alive())
  uv.run()
end

function TestStreams.test_leaving_the_for_statement_cancels()
  on_loops(function(loop)
    local session = helpers.endless()
    for _ in session:stream("A", endless(loop)) do break end
    session:append "B" -- no longer busy
    for _ in session:generate("A", ENDLESS) do break end
    session:append "B"
  end)
end

function TestStreams.test_using_the_session_ends_a_stream_that_was_left()
  on_loops(function(loop)
    local session = helpers.endless()
    local stream = session:stream("A", endless(loop))
    for _ in stream do break end -- a loop over a function does not report its end
    session:append "B"
    helpers.raises("CancelledError", stream.text, stream)
  end)
end

function TestStreams.test_error_in_the_body_cancels_the_stream()
  on_loops(function(loop)
    local session = helpers.endless()
    local going, failure = pcall(function()
      for _ in session:stream("A", endless(loop)) do error("mine", 0) end
    end)
    unit.assertFalse(going)
    unit.assertEquals(failure, "mine")
    -- The request goes on for a moment, and other requests wait for their turn.
    unit.assertNotEquals(session:stream("B", {max_tokens = 2, loop = loop}):text(), "")
  end)
end

function TestStreams.test_close_cancels_the_stream()
  on_loops(function(loop)
    local session = helpers.endless()
    local stream = session:stream("A", endless(loop))
    stream()
    stream:close()
    stream:close()
    unit.assertEquals(stream.report.reason, "cancelled")
    unit.assertNil(stream())
    session:append "B"
  end)
end

function TestStreams.test_cancelled_stream_raises_cancelled_error()
  on_loops(function(loop)
    local stream = helpers.endless():stream("A", endless(loop))
    stream()
    stream:cancel()
    local failure = helpers.raises("CancelledError", stream.text, stream)
    unit.assertEquals(failure.report.reason, "cancelled")
    unit.assertNil(stream()) -- the error is raised once
  end)
end

function TestStreams.test_deadline_ends_the_stream()
  on_loops(function(loop)
    local options = {ignore_eos = true, deadline = 0.05, loop = loop}
    local stream = helpers.endless():stream("A", options)
    helpers.raises("DeadlineError", stream.text, stream)
  end)
end

function TestStreams.test_lost_stream_is_cancelled()
  on_loops(function(loop)
    local session = helpers.endless()
    session:stream("A", endless(loop))()
    collectgarbage()
    collectgarbage()
    unit.assertNotEquals(session:stream("B", {max_tokens = 2, loop = loop}):text(), "")
  end)
end

function TestStreams.test_two_coroutines_cannot_share_a_stream()
  local loop = runcible.Loop.new()
  local stream = helpers.endless():stream("A", endless(loop))
  local threads, failures = {}, {}
  for i = 1, 2 do
    threads[i] = coroutine.create(function()
      local _, failure = pcall(stream.text, stream)
      failures[i] = tostring(failure)
    end)
    coroutine.resume(threads[i])
  end
  unit.assertStrContains(failures[2], "another coroutine waits")
  stream:cancel()
  loop:run()
  unit.assertStrContains(failures[1], "CancelledError")
end

function TestStreams.test_streams_are_read_within_a_coroutine()
  local loop = runcible.Loop.new()
  local stream = helpers.model():session():stream("A", {max_tokens = 2, loop = loop})
  unit.assertErrorMsgContains("within a coroutine", stream)
  loop:run()
  unit.assertNotEquals(stream:text(), "") -- the whole text waits by now
end

function TestStreams.test_resuming_a_waiting_coroutine_does_no_harm()
  local loop = runcible.Loop.new()
  local text
  local thread = coroutine.create(function()
    text = helpers.model():session():stream("A", {max_tokens = 5, seed = 1, loop = loop}):text()
  end)
  for _ = 1, 10 do coroutine.resume(thread) end
  loop:run()
  unit.assertEquals(text, helpers.model():session():generate("A", {max_tokens = 5, seed = 1}):text())
end

function TestStreams.test_error_in_a_coroutine_is_raised_by_the_loop()
  local loop = runcible.Loop.new()
  local session, other = helpers.endless(), nil
  coroutine.wrap(function()
    for _ in session:stream("A", endless(loop)) do
      if other then error {mine = true} end
    end
  end)()
  coroutine.wrap(function()
    for piece in helpers.model():session():stream("A", {max_tokens = 20, loop = loop}) do
      other = (other or "") .. piece
    end
  end)()
  local going, failure = pcall(loop.run, loop)
  unit.assertFalse(going)
  unit.assertTrue(failure.mine)
  loop:run() -- the others go on; the stream of the dead coroutine was cancelled
  unit.assertNotNil(other)
  session:append "B"
end

function TestStreams.test_closing_a_coroutine_cancels_its_stream()
  local loop = runcible.Loop.new()
  local session = helpers.endless()
  local thread = coroutine.create(function()
    for _ in session:stream("A", endless(loop)) do
    end
  end)
  coroutine.resume(thread)
  coroutine.close(thread)
  loop:run()
  session:append "B"
end

function TestStreams.test_collected_stream_leaves_its_session()
  local loop = runcible.Loop.new()
  local session = helpers.endless()
  do
    local thread = coroutine.create(function()
      local stream = session:stream("A", endless(loop))
      stream()
      stream() -- the stream waits, and is lost with its coroutine
    end)
    coroutine.resume(thread)
    while coroutine.status(thread) == "suspended" and not loop._channels[1].waiter do
      loop:wait()
      loop:dispatch()
    end
    loop._channels[1].waiter = nil
  end
  collectgarbage()
  unit.assertNil(next(session._going))
  session:append "B"
end

function TestStreams.test_loop_is_watched_by_another_event_loop()
  local watched = 0
  local ready
  local loop = runcible.Loop.new(function(descriptor, dispatch)
    unit.assertIsNumber(descriptor)
    ready = dispatch
    return function()
      watched = watched + 1
    end, function()
      watched = watched - 1
    end
  end)
  local text
  coroutine.wrap(function()
    text = helpers.model():session():stream("A", {max_tokens = 5, loop = loop}):text()
  end)()
  unit.assertEquals(watched, 1)
  while watched > 0 do
    unit.assertTrue(loop:wait(60))
    ready()
  end
  unit.assertNotEquals(text, "")
  unit.assertFalse(loop:wait(0.01))
end

function TestStreams.test_default_loop_runs_without_luv()
  local output, status = helpers.run [[
    local runcible = require "runcible"
    local session = runcible.Model("builtin:fable", "cpu"):session()
    coroutine.wrap(function()
      print(#session:stream("A", {max_tokens = 9}):text() > 0)
    end)()
    runcible.Loop.default():run()
    print(package.loaded.luv)
  ]]
  unit.assertEquals(output, "true\nnil\n")
  unit.assertEquals(status, 0)
end

return TestStreams
