// Templates whose formats of calls no table has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/chat/prompt_util.h"

namespace rc::text::chat {

// What writes message.tool_calls, in each shape that is derived.
inline const std::string kObjectsWithinMarks =
    "{% for call in message.tool_calls %}{{ '\n<use>' +"
    " {'tool': call.function.name, 'with': call.function.arguments} | tojson"
    " + '</use>' }}{% endfor %}";
inline const std::string kObjectsInOneArray =
    "{{ 'ACTIONS[' }}{% for call in message.tool_calls %}"
    "{{ {'id': call.id, 'do': call.function.name, 'input':"
    " call.function.arguments} | tojson }}{{ ', ' if not loop.last }}"
    "{% endfor %}{{ ']END' }}";
inline const std::string kNamesBeforeObjects =
    "{{ '<calls>' }}{% for call in message.tool_calls %}"
    "{{ '<call>' + call.function.name + '<with>' + (call.function.arguments"
    " | tojson) + '</call>' }}{% endfor %}{{ '</calls>' }}";
inline const std::string kArgumentsWithinMarks =
    "{% for call in message.tool_calls %}{{ '<run>\n<name=' +"
    " call.function.name + '>\n' }}{% for key, value in"
    " call.function.arguments.items() %}{{ '<set ' + key + '>' + (value if"
    " value is string else value | tojson) + '</set>\n' }}{% endfor %}"
    "{{ '</name>\n</run>' }}{% endfor %}";
inline const std::string kPythonCalls =
    "{{ '<go>[' }}{% for call in message.tool_calls %}"
    "{{ call.function.name + '(' }}{% for key, value in"
    " call.function.arguments.items() %}{{ key + '=' + (value | tojson) }}"
    "{{ ', ' if not loop.last }}{% endfor %}{{ ')' }}"
    "{{ ', ' if not loop.last }}{% endfor %}{{ ']</go>' }}";

// A template whose answers end with </s>. `calls` writes message.tool_calls.
inline std::string template_with(const std::string& calls) {
  return "{% for message in messages %}{{ '<|' + message.role + '|>' }}"
         "{{ message.content or '' }}{% if message.tool_calls %}" +
         calls +
         "{% endif %}{{ '</s>' }}{% endfor %}"
         "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";
}

inline std::shared_ptr<const ChatTemplate> chat_with(const std::string& calls) {
  const std::string source = template_with(calls);
  return ChatTemplate::create(source, tokenizer_with(names_in(source)));
}

inline std::vector<const ReplyFormat*> derived_formats() {
  static const std::vector<std::shared_ptr<const ChatTemplate>> templates = {
      chat_with(kObjectsWithinMarks), chat_with(kObjectsInOneArray),
      chat_with(kNamesBeforeObjects), chat_with(kArgumentsWithinMarks),
      chat_with(kPythonCalls)};
  std::vector<const ReplyFormat*> formats;
  for (const auto& chat : templates) formats.push_back(&chat->reply_format());
  return formats;
}

}  // namespace rc::text::chat
