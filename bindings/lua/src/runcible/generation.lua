--- Generating text: options, and the iterator that blocks.
local Grammar = require "runcible.grammar"
local Tokenizer = require "runcible.tokenizer"
local errors = require "runcible.errors"
local handle = require "runcible.handle"
local native = require "runcible.native"

-- The time of a wait before Lua can notice an interrupt, milliseconds.
local INTERRUPT_MS = 100

-- Options that are not a single number of C.
local OTHERS = {
  stop = true,
  stop_tokens = true,
  logit_bias = true,
  grammar = true,
  add_special = true,
  parse_special = true,
  loop = true,
}

local function of_type(value, name, wanted)
  if type(value) ~= wanted then
    handle.refuse("%s must be a %s, not %s", name, wanted, type(value))
  end
  return value
end

local function make_options(prompt, options)
  local made = handle.set_options(native.generate_options(), options, OTHERS)
  options = options or {}
  made.tokenize_flags = Tokenizer.flags(options)
  if type(prompt) == "table" then
    made:set_prompt_tokens(prompt)
  elseif prompt ~= nil then
    made:set_prompt(prompt)
  end
  local stop = options.stop or {}
  for _, text in ipairs(type(stop) == "string" and {stop} or of_type(stop, "stop", "table")) do
    made:add_stop(of_type(text, "stop", "string"))
  end
  if options.stop_tokens then made:set_stop_tokens(options.stop_tokens) end
  for token, bias in pairs(of_type(options.logit_bias or {}, "logit_bias", "table")) do
    made:add_logit_bias(token, bias)
  end
  if options.grammar ~= nil then
    made:set_grammar(handle.need(options.grammar, Grammar, "grammar"))
  end
  return made
end

--- A text that is being generated, as an iterator over its pieces.
--
-- Each call returns the next piece, a string that is final; the list of the
-- tokens generated since the last piece; and with the option `logprobs` a list of
-- the tokens as {token, logprob}, and a list of the most probable tokens at the
-- position of each. All pieces in order are the whole text. If the generation did
-- not succeed, the call after the last piece raises the error: DeadlineError,
-- CancelledError, ... `report` describes the end, times and counts; it is nil
-- before the end.
--
-- If a coroutine has read a generation and then uses the session for something
-- else, the generation ends, as one does whose for statement is left. Reading it
-- further raises CancelledError.
--
-- :api: members rc_generate_options
-- Further options: `stop`, a text or a list of them; `stop_tokens`, a list;
-- `logit_bias`, a table of numbers by token; `grammar`, a Grammar; `add_special` and
-- `parse_special`.
local Generation = {__name = "runcible.Generation", make_options = make_options}
Generation.__index = Generation

-- Adds the generation to its session's table of generations in progress; see
-- Session.
function Generation:_going_in(all)
  all[self] = true
  self._all = all
  return self
end

-- Returns whether the coroutine that calls it has left the generation, or its
-- reader is dead.
function Generation:_is_left()
  local reader = self._reader
  return reader ~= nil and (reader == coroutine.running() or coroutine.status(reader) == "dead")
end

-- Ends the generations that the coroutine that calls it has left.
function Generation.end_left(all)
  local left = {}
  for each in pairs(all) do
    if each:_is_left() then left[#left + 1] = each end
  end
  for _, each in ipairs(left) do each:_end() end
end

-- Ends the generation, and returns when the session can be used again.
function Generation:_end()
  native.request_cancel(self._request)
  native.request_wait(self._request, -1)
  self._all[self] = nil
end

function Generation.new(session, prompt, options)
  local request = native.request_start(session, make_options(prompt, options))
  return setmetatable({_request = request}, Generation)
end

-- Returns the values of the iterator for an event.
function Generation._values(piece)
  return piece.text, piece.tokens, piece.logprobs, piece.top_logprobs
end

--- Returns the error of an end without success; nil for success.
function Generation.failure(finish)
  if finish.status == native.OK then return nil end
  local message = finish.message
  if message == "" then message = "the request ended: " .. finish.report.reason end
  local failure = errors.of_status(finish.status, message)
  failure.report = finish.report
  return failure
end

function Generation:_next()
  while not self.report do
    local event = native.request_next(self._request, INTERRUPT_MS)
    if event and event.text then return event end
    if event then
      self.report = event.report
      self._failure = Generation.failure(event)
      self._all[self] = nil
      native.dispose(self._request)
    end
  end
end

function Generation:__call()
  self._reader = coroutine.running()
  local piece = self:_next()
  if piece then return self._values(piece) end
  local failure = self._failure
  self._failure = nil
  if failure then error(failure) end
end

--- Returns the rest of the text at once.
function Generation:text()
  local pieces = {}
  for piece in self do pieces[#pieces + 1] = piece end
  return table.concat(pieces)
end

--- Asks the generation to end; CancelledError is raised after the last piece.
function Generation:cancel()
  if not self.report then native.request_cancel(self._request) end
end

--- Cancels and waits for the end; pieces not yet read are dropped.
function Generation:close()
  self:cancel()
  repeat until not self:_next()
  self._failure = nil
end
Generation.__close = Generation.close

function Generation:__gc()
  if self._all and not self.report then
    pcall(self._end, self) -- raises in the child of a fork
  end
end

return Generation
