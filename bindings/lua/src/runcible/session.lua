--- Sessions, the state of one conversation; see runcible/session.h.
local Chat = require "runcible.chat"
local Generation = require "runcible.generation"
local Model = require("runcible.model").Model
local Stream = require "runcible.stream"
local Tensor = require "runcible.tensor"
local Tokenizer = require "runcible.tokenizer"
local handle = require "runcible.handle"
local native = require "runcible.native"

local need = handle.need

local function session_options(options)
  return handle.set_options(native.session_options(), options)
end

local Session = handle.class "Session"

local function of_model(model, proxy)
  local session = Session.of(proxy)
  session._model = model
  -- Generations and streams in progress, until they are lost.
  session._going = setmetatable({}, {__mode = "k"})
  return session
end

-- Returns the handle for calls that need the session to themselves. A coroutine
-- that has read a generation and then uses its session has left the generation,
-- and nothing else reports that.
local function idle(session)
  local proxy = need(session, Session, "self")
  Generation.end_left(session._going)
  return proxy
end

--- Makes an empty session.
-- :api: members rc_session_options
function Session.new(model, options)
  local proxy = need(model, Model, "model")
  return of_model(model, native.session_create(proxy, session_options(options)))
end

--- Restores a session that was saved to a file.
function Session.restore(model, path, options)
  local proxy = need(model, Model, "model")
  return of_model(model, native.session_restore(proxy, path, session_options(options)))
end

--- Restores a session from the string that save_memory returned.
function Session.restore_memory(model, saved, options)
  local proxy = need(model, Model, "model")
  return of_model(model, native.session_restore_memory(proxy, saved, session_options(options)))
end

function Session:model()
  need(self, Session, "self")
  return self._model
end

--- Starts generating; see Generation. The prompt is a text, a list of tokens, or
-- nil. For use in a for statement, which cancels the generation when it is left.
function Session:generate(prompt, options)
  local made = Generation.new(idle(self), prompt, options):_going_in(self._going)
  return made, nil, nil, made
end

--- Starts generating on an event loop; the stream is read within a coroutine; see
-- Stream.
function Session:stream(prompt, options)
  local made = Stream.new(idle(self), prompt, options):_going_in(self._going)
  return made, nil, nil, made
end

--- Begins a conversation without messages on top of the session; see Chat.
-- Options: `tools`, a list of the functions that the model may call, in the shape
-- of "tools" of OpenAI's chat completions; `template_name`, a variant in the
-- file, or a well-known template ("chatml", "zephyr", ...); `template_text`, the
-- source of a template, which replaces `template_name`; `template_arguments`, a
-- table of more variables; `thinking`, for models that can do both; `now`,
-- "2024-07-26" or "2024-07-26T14:05:09". Tables may be JSON as well.
function Session:chat(options)
  return Chat.begin(idle(self), options, self._going)
end

--- Adds a text or a list of tokens, which the next decode or generation
-- evaluates. Options: add_special, parse_special.
function Session:append(what, options)
  local proxy = idle(self)
  if type(what) == "table" then
    native.session_append(proxy, what)
  else
    native.session_append_text(proxy, what, Tokenizer.flags(options))
  end
end

--- Evaluates the tokens that were appended; with the option all_logits it keeps
-- the logits of every token and not only of the last.
function Session:decode(options)
  local all = options and options.all_logits
  native.session_decode(idle(self), all and native.DECODE_ALL_LOGITS or 0)
end

--- Returns the logits of the last decode: a list of rows, one, or one for each
-- token evaluated; the logit of a token is at [token + 1].
function Session:logits()
  local numbers, rows, columns = native.session_logits(idle(self))
  local unpack = require("runcible.numbers").unpack
  local made = {}
  for row = 1, rows do
    made[row] = unpack(numbers, "f32", (row - 1) * columns, columns)
  end
  return made
end

-- :api: methods rc_session

return Session
