--- Calls that run while an event loop does: openings, discoveries, runs of
-- graphs.
local Loop = require "runcible.loop"
local errors = require "runcible.errors"
local handle = require "runcible.handle"
local native = require "runcible.native"

-- The time between two reports of a call's progress on an event loop with timers,
-- seconds.
local REPORT_S = 0.05

--- A call in progress; `wait` returns its result. A call that is lost is
-- cancelled.
local Pending = {__name = "runcible.Pending"}
Pending.__index = Pending

--- Starts a call by a function of a mailbox and a key. `result` makes the result
-- of the call. Options: `loop`, and `progress`, a function that receives the
-- fraction done.
function Pending.start(options, begin, result)
  local progress = options and options.progress
  if progress ~= nil and type(progress) ~= "function" then
    handle.refuse("progress must be a function, not %s", type(progress))
  end
  local loop = options and options.loop or Loop.default()
  local channel, call = Loop.start(loop, begin)
  if progress then
    channel.report = function()
      if channel.problem then return end
      local going, problem = pcall(progress, native.pending_call_fraction(call))
      if not going then
        channel.problem = {problem}
        native.pending_call_cancel(call)
      end
    end
    if loop._every then channel.stop = loop._every(REPORT_S, channel.report) end
  end
  return setmetatable({_channel = channel, _call = call, _result = result}, Pending)
end

-- Stores the result of the call, once.
function Pending:_settle()
  local channel = self._channel
  if channel.finish.status == native.OK and channel.report then channel.report() end
  if channel.problem then
    self._failure = channel.problem
  elseif channel.finish.status ~= native.OK then
    self._failure = {errors.of_status(channel.finish.status, channel.finish.message)}
  else
    self._made = table.pack(self._result(self._call))
  end
  native.dispose(self._call)
  self._settled = true
end

--- Returns the result of the call, or raises its error. Must be called within a
-- coroutine, which yields until the end. An error that `progress` raised cancels
-- the call and is raised here.
function Pending:wait()
  local channel = self._channel
  while not channel.finish do
    Loop.await(channel, "this call", "a call is waited for within a coroutine")
  end
  if not self._settled then self:_settle() end
  if self._failure then error(self._failure[1], 0) end
  return table.unpack(self._made, 1, self._made.n)
end

--- Asks the call to end; `wait` raises CancelledError then, unless the call was
-- over before. For a graph, all runs in progress end.
function Pending:cancel()
  if not self._channel.finish then native.pending_call_cancel(self._call) end
end
Pending.__close = Pending.cancel

function Pending:__gc()
  pcall(Pending.cancel, self) -- raises in the child of a fork
end

return Pending
