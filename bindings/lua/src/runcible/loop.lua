--- Event loops that streams are read on.
--
-- The library signals through a descriptor that events wait; the event loop
-- watches it and takes them. No thread of the library ever runs Lua.
local errors = require "runcible.errors"
local handle = require "runcible.handle"
local native = require "runcible.native"

-- The time of a wait before Lua can notice an interrupt, milliseconds.
local INTERRUPT_MS = 100

--- A loop, to which streams post their events.
local Loop = {__name = "runcible.Loop"}
Loop.__index = Loop

-- The loops with streams in flight, which may have no other reference.
local busy = {}

--- Makes a loop for any event loop that can watch a descriptor.
--
-- `watch(descriptor, dispatch)` returns two or three functions. The first makes
-- the event loop call `dispatch` whenever the descriptor is readable; it is
-- called when the first stream begins. The second ends that; it is called when no
-- stream is in flight any more. The third, `every(seconds, f)`, which is
-- optional, calls f again and again, and returns a function that ends that: it
-- reports the progress of an opening, which posts no events before its end.
-- Without `watch` call `run`, or `dispatch` when the descriptor is readable.
function Loop.new(watch)
  local box = native.mailbox_create()
  local loop = setmetatable({_box = box, _channels = {}, _last_key = 0}, Loop)
  if watch then
    local weak = setmetatable({loop}, {__mode = "v"})
    loop._begin, loop._rest, loop._every = watch(native.mailbox_descriptor(box), function()
      if weak[1] then weak[1]:dispatch() end
    end)
  end
  return loop
end

--- Returns the descriptor, which is readable while there are events to dispatch.
function Loop:descriptor()
  return native.mailbox_descriptor(self._box)
end

local function watch_by_luv(descriptor, dispatch)
  local uv = require "luv"
  local poll = assert(uv.new_poll(descriptor))
  return function()
    assert(poll:start("r", function()
      dispatch()
    end))
  end, function()
    poll:stop()
  end, function(seconds, f)
    local timer = uv.new_timer()
    local period = math.floor(seconds * 1000)
    timer:start(period, period, function()
      f()
    end)
    return function()
      timer:close()
    end
  end
end

local plain, of_luv

--- Returns the loop of streams that are given none: luv's if the program has
-- loaded luv, else a loop whose `run` the program calls.
function Loop.default()
  if package.loaded.luv then
    of_luv = of_luv or Loop.new(watch_by_luv)
    return of_luv
  end
  plain = plain or Loop.new()
  return plain
end

--- Starts a request, by a function of a mailbox and a key. Returns its channel,
-- which receives the pieces, from `first` to `last`, and then the event `finish`;
-- `waiter` is the coroutine that is resumed for them.
function Loop.start(loop, begin)
  if getmetatable(loop) ~= Loop then
    handle.refuse("loop must be a Loop, not %s", type(loop))
  end
  local key = loop._last_key + 1
  local request = begin(loop._box, key)
  local channel = {first = 1, last = 0}
  loop._last_key = key
  loop._channels[key] = channel
  if not busy[loop] then
    busy[loop] = true
    if loop._begin then loop._begin() end
  end
  return channel, request
end

function Loop:_post(event)
  local channel = self._channels[event.key]
  if event.text then
    channel.last = channel.last + 1
    channel[channel.last] = event
  else
    channel.finish = event
    self._channels[event.key] = nil
    if channel.stop then channel.stop() end
  end
  return channel
end

--- Yields the coroutine until an event comes to a channel, `what`. Resuming the
-- coroutine otherwise does no harm. Outside of a coroutine raises `refusal`.
function Loop.await(channel, what, refusal)
  local thread = coroutine.running()
  if not coroutine.isyieldable() then handle.refuse("%s", refusal) end
  if channel.waiter and channel.waiter ~= thread then
    handle.refuse("another coroutine waits for %s", what)
  end
  channel.waiter = thread
  coroutine.yield()
  channel.waiter = nil
end

-- Returns the error of a coroutine that died, with its place; closes the
-- coroutine's to-be-closed variables.
local function failure_of(thread, failure)
  if type(failure) == "string" then failure = debug.traceback(thread, failure) end
  coroutine.close(thread)
  return failure
end

--- Takes the events that wait and resumes their coroutines, without blocking. If
-- one of the coroutines dies of an error, the others go on, and dispatch raises
-- the error.
function Loop:dispatch()
  local channels, failure = {}, nil
  for _, event in ipairs(native.mailbox_take(self._box)) do
    channels[#channels + 1] = self:_post(event)
  end
  if not next(self._channels) and busy[self] then
    busy[self] = nil
    if self._rest then self._rest() end
  end
  for _, channel in ipairs(channels) do
    local thread = channel.waiter
    if thread and coroutine.status(thread) == "suspended" then
      channel.waiter = nil
      local going, problem = coroutine.resume(thread)
      if not going then failure = failure or failure_of(thread, problem) end
    end
  end
  if failure then error(failure, 0) end
end

--- Waits until there is an event to dispatch, at most some seconds (nil: without
-- limit). Returns whether there is one.
function Loop:wait(seconds)
  local left = seconds and math.ceil(seconds * 1000 - 1e-6) or math.huge
  repeat
    local step = math.tointeger(math.min(left, INTERRUPT_MS))
    local ready, failure = pcall(native.mailbox_wait, self._box, step)
    if ready then return true end
    if not errors.TimeoutError:is(failure) then error(failure, 0) end
    left = left - step
  until left <= 0
  return false
end

-- Calls the progress functions of the calls in flight.
function Loop:_report()
  local reports = {}
  for _, channel in pairs(self._channels) do reports[#reports + 1] = channel.report end
  for _, report in ipairs(reports) do report() end
end

--- Runs until no stream and no call is in flight, for programs without an event
-- loop.
function Loop:run()
  while next(self._channels) do
    self:_report()
    self:wait(INTERRUPT_MS / 1000)
    self:dispatch()
  end
end

return Loop
