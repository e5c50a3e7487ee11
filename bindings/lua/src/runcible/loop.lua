--- Event loops that streams are read on.
--
-- The library tells through a descriptor that events wait; the event loop watches
-- it and takes them. No thread of the library ever runs Lua.
local errors = require "runcible.errors"
local handle = require "runcible.handle"
local native = require "runcible.native"

-- How long a wait lasts before Lua can notice an interrupt, milliseconds.
local INTERRUPT_MS = 100

--- Where streams post what they have to tell.
local Loop = {__name = "runcible.Loop"}
Loop.__index = Loop

-- The loops with streams in flight, which nothing else may hold.
local busy = {}

--- A loop of one's own, for any event loop that can watch a descriptor.
--
-- `watch(descriptor, dispatch)` returns two functions. The first makes the event
-- loop call `dispatch` whenever the descriptor is readable; it is called when the
-- first stream begins. The second ends that, when no stream is in flight any
-- more. A third, if there is one, `every(seconds, f)`, calls f again and again, and
-- returns a function that ends that: so a `progress` is told of an opening that
-- says nothing else. Without `watch` call `run`, or `dispatch` when the descriptor
-- is readable.
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

--- The descriptor, readable while there is something to dispatch.
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

--- The loop of streams that are given none: luv's if the program has loaded luv,
-- else one that is to be run by `run`.
function Loop.default()
  if package.loaded.luv then
    of_luv = of_luv or Loop.new(watch_by_luv)
    return of_luv
  end
  plain = plain or Loop.new()
  return plain
end

--- Starts a request, by a function of a mailbox and a key. Its channel takes the
-- pieces, from `first` to `last`, and then the event `finish`; `waiter` is the
-- coroutine to be resumed.
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

--- Yields the coroutine until something comes to a channel, `what`. Who else
-- resumes it sees no harm. Outside of one `refusal` is the error.
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

-- The error of a coroutine that died, with where; its to-be-closed variables
-- are closed.
local function failure_of(thread, failure)
  if type(failure) == "string" then failure = debug.traceback(thread, failure) end
  coroutine.close(thread)
  return failure
end

--- Takes what waits and resumes the coroutines that it is for, without blocking.
-- If one of them dies of an error the others go on, and dispatch raises it.
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

--- Waits until something can be dispatched, at most some seconds (nil: without
-- limit); whether it can.
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

-- Tells calls how far they are.
function Loop:_tell()
  local telling = {}
  for _, channel in pairs(self._channels) do telling[#telling + 1] = channel.tell end
  for _, tell in ipairs(telling) do tell() end
end

--- Runs until no stream and no call is in flight, for programs without an event
-- loop.
function Loop:run()
  while next(self._channels) do
    self:_tell()
    self:wait(INTERRUPT_MS / 1000)
    self:dispatch()
  end
end

return Loop
