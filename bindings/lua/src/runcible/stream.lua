--- Generating text on an event loop.
local Generation = require "runcible.generation"
local Loop = require "runcible.loop"
local native = require "runcible.native"

--- A text that is being generated, as an iterator over its pieces, which is read
-- within a coroutine. Where a Generation blocks, the coroutine yields until its
-- loop finds that an event has arrived; otherwise a Stream is like a Generation.
-- The option `loop` is a Loop (default: Loop.default()).
local Stream = {__name = "runcible.Stream"}
Stream.__index = Stream

function Stream.new(session, prompt, options)
  local made = Generation.make_options(prompt, options)
  return setmetatable(Stream._started(options, function(box, key)
    return native.mailbox_generate(box, session, made, key)
  end), Stream)
end

-- Returns the fields of a stream whose request `begin` starts.
function Stream._started(options, begin)
  local loop = options and options.loop or Loop.default()
  local channel, request = Loop.start(loop, begin)
  return {_channel = channel, _request = request}
end

Stream._values = Generation._values

function Stream:_next()
  local channel = self._channel
  while channel.first > channel.last do
    if channel.finish then return nil end
    Loop.await(channel, "this stream", "a stream is read within a coroutine; Session:generate blocks")
  end
  local piece = channel[channel.first]
  channel[channel.first] = nil
  channel.first = channel.first + 1
  return piece
end

-- Records the end once all pieces were read.
function Stream:_settle()
  local finish = self._channel.finish
  if finish and not self.report then
    self.report = finish.report
    self._all[self] = nil
    self._failure = Generation.failure(finish)
    native.dispose(self._request)
  end
end

Stream._going_in = Generation._going_in
Stream._is_left = Generation._is_left
Stream._end = Generation._end

function Stream:__call()
  self._reader = coroutine.running()
  local piece = self:_next()
  if piece then return self._values(piece) end
  self:_settle()
  local failure = self._failure
  self._failure = nil
  if failure then error(failure) end
end

Stream.text = Generation.text
Stream.cancel = Generation.cancel

--- Cancels; pieces not yet read are dropped. Within a coroutine, also waits for
-- the end, so that the session can be used again at once.
function Stream:close()
  self:cancel()
  if coroutine.isyieldable() then
    repeat until not self:_next()
    self:_settle()
    self._failure = nil
  end
end

--- Closes a stream whose for statement was left. After an error it does not wait,
-- because a coroutine that dies cannot wait.
function Stream:__close(failure)
  if failure ~= nil then
    self:cancel()
  else
    self:close()
  end
end

-- Also removes the stream from the session's table, whose weak keys outlive
-- finalizers.
Stream.__gc = Generation.__gc

return Stream
