--- Conversations with models; see runcible/chat.h.
local Generation = require "runcible.generation"
local Stream = require "runcible.stream"
local handle = require "runcible.handle"
local native = require "runcible.native"

local need = handle.need

-- Returns the values of the iterators for an event: its kind, and its text or
-- call.
local function values(event)
  if event.kind ~= "call" then return event.kind, event.text, event.tokens end
  local arguments = handle.decoded(event.text)
  return "call", {id = event.id, name = event.name, arguments = arguments}
end

-- Returns the rest of an answer at once.
local function reply(answer)
  local made = {text = "", reasoning = "", calls = {}}
  for kind, value in answer do
    if kind == "call" then
      made.calls[#made.calls + 1] = value
    else
      made[kind] = made[kind] .. value
    end
  end
  made.report = answer.report
  return made
end

-- Makes a class of answers that are read as `class` is.
local function answers_like(class, name)
  local made = {}
  for key, value in pairs(class) do made[key] = value end
  made.__name = "runcible." .. name
  made.__index = made
  made._values = values
  made.reply = reply
  function made:text()
    return reply(self).text
  end
  return made
end

--- An answer that is being generated, as an iterator over its parts: "text" or
-- "reasoning" with a piece and its tokens, or "call" with a complete tool call, a
-- table of `id`, `name` and `arguments`. `reply` returns the rest at once, a
-- table of `text`, `reasoning`, `calls` and `report`. Otherwise an Answer is like
-- a Generation. At its end the answer as far as it came is a message of the
-- conversation.
local Answer = answers_like(Generation, "Answer")
--- An answer on an event loop, as a Stream.
local AnswerStream = answers_like(Stream, "AnswerStream")

local Chat = handle.class "Chat"

local JSON = {tools = true, template_arguments = true}
local TEXTS = {template_name = true, template_text = true, now = true}

local function chat_options(options)
  local made = native.chat_options()
  for name, value in pairs(options or {}) do
    if JSON[name] then
      made["set_" .. name](made, handle.encoded(value, name))
    elseif TEXTS[name] then
      made["set_" .. name](made, value)
    elseif name == "thinking" then
      made.thinking = value and 1 or 0
    else
      handle.refuse("there is no option %s", tostring(name))
    end
  end
  return made
end

--- See Session:chat. `going` has the session's generations in progress.
function Chat.begin(session, options, going)
  local chat = Chat.of(native.chat_create(session, chat_options(options)))
  chat._going = going
  return chat
end

-- Returns the handle for calls that need the session without an answer in
-- progress; ends the generations that were left.
local function idle(chat)
  local proxy = need(chat, Chat, "self")
  Generation.end_left(chat._going)
  return proxy
end

--- Adds messages, tables in the shape of "messages" of OpenAI's chat completions,
-- or one; a string is a message of the user.
function Chat:add(messages)
  if type(messages) == "string" then messages = {role = "user", content = messages} end
  native.chat_add(idle(self), handle.encoded(messages, "messages"))
end

--- Removes the last messages (default: one).
function Chat:undo(count)
  native.chat_undo(idle(self), count or 1)
end

--- Returns all messages, a list.
function Chat:messages()
  return handle.decoded(native.chat_messages(idle(self)))
end

--- Makes a second conversation with the same messages, on a fork of the session.
function Chat:fork()
  local fork = Chat.of(native.chat_fork(idle(self)))
  fork._going = setmetatable({}, {__mode = "k"})
  return fork
end

--- Lets the model answer; see Answer. The options are those of Session:generate.
-- For use in a for statement, which cancels the answer when it is left.
function Chat:answer(options)
  local proxy = idle(self)
  local request = native.answer_start(proxy, Generation.make_options(nil, options))
  local made = setmetatable({_request = request}, Answer):_going_in(self._going)
  return made, nil, nil, made
end

--- Lets the model answer on an event loop; the answer is read within a coroutine.
function Chat:stream(options)
  local proxy = idle(self)
  local given = Generation.make_options(nil, options)
  local made = setmetatable(Stream._started(options, function(box, key)
    return native.mailbox_answer(box, proxy, given, key)
  end), AnswerStream):_going_in(self._going)
  return made, nil, nil, made
end

--- Adds messages, unless they are nil, and returns the whole answer; see Answer.
function Chat:ask(messages, options)
  if messages ~= nil then self:add(messages) end
  return (self:answer(options)):reply()
end

return Chat
