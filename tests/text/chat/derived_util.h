// Templates whose formats of calls no table has.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/chat/prompt_util.h"

namespace rc::text::chat {

// Templates that write message.tool_calls, in each shape that is derived.
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

// Marks that say which values are strings, as those of GigaChat 3.5.
inline const std::string kArgumentsWithTypes =
    "{{ '<!calls>\n' }}{% for call in message.tool_calls %}"
    "{{ '<!use name=\"' + call.function.name + '\">\n' }}"
    "{% for key, value in call.function.arguments.items() %}"
    "{{ '<!with name=\"' + key + '\" text=\"' + ('yes' if value is string else"
    " 'no') + '\">' + (value if value is string else value | tojson) +"
    " '</!with>\n' }}{% endfor %}{{ '</!use>\n' }}{% endfor %}"
    "{{ '</!calls>' }}";
// Marks with a suffix, as those of Hy3.
inline const std::string kArgumentsWithSuffixes =
    "{{ '<calls:x>\n' }}{% for call in message.tool_calls %}"
    "{{ '<call:x>' + call.function.name + '<sep:x>\n' }}"
    "{% for key, value in call.function.arguments.items() %}"
    "{{ '<key:x>' + key + '</key:x>\n<value:x>' + (value if value is string"
    " else value | tojson) + '</value:x>\n' }}{% endfor %}"
    "{{ '</call:x>\n' }}{% endfor %}{{ '</calls:x>' }}";
// Texts between quotes without escapes, as those of LFM2.5-8B.
inline const std::string kRawPythonCalls =
    "{{ '<go>[' }}{% for call in message.tool_calls %}"
    "{{ call.function.name + '(' }}{% for key, value in"
    " call.function.arguments.items() %}{{ key + '=' }}"
    "{% if value is string %}{{ \"'\" + value + \"'\" }}"
    "{% elif value is mapping %}{{ value | tojson }}"
    "{% else %}{{ value | string }}{% endif %}"
    "{{ ', ' if not loop.last }}{% endfor %}{{ ')' }}"
    "{{ ', ' if not loop.last }}{% endfor %}{{ ']</go>' }}";

// Formats that the table has, by the signs of newer models.
inline const std::string kCallsOfKimiK3 =
    "{{ '<|open|>tools<|sep|>' }}{% for call in message.tool_calls %}"
    "{{ '<|open|>call tool=\"' + call.function.name + '\" index=\"' }}"
    "{{ loop.index }}{{ '\"<|sep|>' }}"
    "{% for key, value in call.function.arguments.items() %}"
    "{{ '<|open|>argument key=\"' + key + '\" type=\"' }}"
    "{{ 'string' if value is string else 'boolean' if value is boolean else"
    " 'number' if value is number else 'null' if value is none else 'object'"
    " if value is mapping else 'array' }}{{ '\"<|sep|>' }}"
    "{{ value if value is string else value | tojson }}"
    "{{ '<|close|>argument<|sep|>' }}{% endfor %}"
    "{{ '<|close|>call<|sep|>' }}{% endfor %}"
    "{{ '<|close|>tools<|sep|>' }}";
inline const std::string kCallsOfDeepSeekV4 =
    "{{ '\n\n<｜DSML｜tool_calls>\n' }}{% for call in message.tool_calls %}"
    "{{ '<｜DSML｜invoke name=\"' + call.function.name + '\">\n' }}"
    "{% for key, value in call.function.arguments.items() %}"
    "{{ '<｜DSML｜parameter name=\"' + key + '\" string=\"' + ('true' if value "
    "is"
    " string else 'false') + '\">' + (value if value is string else value |"
    " tojson) + '</｜DSML｜parameter>\n' }}{% endfor %}"
    "{{ '</｜DSML｜invoke>\n' }}{% endfor %}{{ '</｜DSML｜tool_calls>' }}";
inline const std::string kCallsOfMiniCpm5 =
    "{% for call in message.tool_calls %}{{ '\n' if not loop.first }}"
    "{{ '<function name=\"' + call.function.name + '\">' }}"
    "{% for key, value in call.function.arguments.items() %}"
    "{{ '<param name=\"' + key + '\">' }}"
    "{% if value is string and ('<' in value or '&' in value or '\n' in value)"
    " %}{{ '<![CDATA[' + value + ']]>' }}{% else %}{{ value }}{% endif %}"
    "{{ '</param>' }}{% endfor %}{{ '</function>' }}{% endfor %}";
inline const std::string kCallsOfLaguna =
    "{% for call in message.tool_calls %}"
    "{{ '<tool_call>' + call.function.name }}"
    "{% for key, value in call.function.arguments.items() %}"
    "{{ '<arg_key>' + key + '</arg_key><arg_value>' + (value if value is string"
    " else value | tojson) + '</arg_value>' }}{% endfor %}"
    "{{ '</tool_call>' }}{% endfor %}";
inline const std::string kCallsOfStep37 =
    "{% for call in message.tool_calls %}"
    "{{ '<tool_call>\n<function=' + call.function.name + '>\n' }}"
    "{% for key, value in call.function.arguments.items() %}"
    "{{ '<parameter=' + key + '>\n' }}"
    "{{ value | tojson if value is mapping or (value is sequence and value is"
    " not string) else value | string }}{{ '\n</parameter>\n' }}{% endfor %}"
    "{{ '</function>\n</tool_call>' }}{% endfor %}";
inline const std::string kCallsOfPhi4 =
    "{% for call in message.tool_calls %}{{ '<|tool_call|>' +"
    " call.function | tojson + '<|/tool_call|>' }}{% endfor %}";
inline const std::string kCallsOfMiniMaxM3 =
    "{% macro shown(value) %}{% if value is mapping %}"
    "{% for key, inner in value.items() if inner is not none %}"
    "{{ ']<]minimax[>[<' + key + '>' + shown(inner) }}"
    "{{ ']<]minimax[>[</' + key + '>' }}{% endfor %}"
    "{% elif value is boolean %}{{ value | tojson }}"
    "{% elif value is sequence and value is not string %}"
    "{% for inner in value %}{{ ']<]minimax[>[<item>' + shown(inner) +"
    " ']<]minimax[>[</item>' }}{% endfor %}"
    "{% elif value is not none %}{{ value }}{% endif %}{% endmacro %}"
    "{{ ']<]minimax[>[<tool_call>\n' }}{% for call in message.tool_calls %}"
    "{{ ']<]minimax[>[<invoke name=\"' + call.function.name + '\">' }}"
    "{{ shown(call.function.arguments) + ']<]minimax[>[</invoke>\n' }}"
    "{% endfor %}{{ ']<]minimax[>[</tool_call>' }}{# <mm:think> #}";
inline const std::string kCallsOfMiniMaxM3AsM2 =
    "{{ '\n<minimax:tool_call>\n' }}{% for call in message.tool_calls %}"
    "{{ '<invoke name=\"' + call.function.name + '\">\n' }}"
    "{% for key, value in call.function.arguments.items() %}"
    "{{ '<parameter name=\"' + key + '\">' + (value if value is string else"
    " value | tojson) + '</parameter>' }}{% endfor %}"
    "{{ '</invoke>\n' }}{% endfor %}{{ '</minimax:tool_call>' }}"
    "{# <mm:think> #}";

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

// Returns the templates by name.
inline std::vector<std::pair<std::string, std::string>> templates_of_calls() {
  return {{"objects within marks", kObjectsWithinMarks},
          {"objects in one array", kObjectsInOneArray},
          {"names before objects", kNamesBeforeObjects},
          {"arguments within marks", kArgumentsWithinMarks},
          {"Python calls", kPythonCalls},
          {"arguments with types", kArgumentsWithTypes},
          {"arguments with suffixes", kArgumentsWithSuffixes},
          {"raw Python calls", kRawPythonCalls},
          {"Kimi K3", kCallsOfKimiK3},
          {"DeepSeek V4", kCallsOfDeepSeekV4},
          {"MiniCPM5", kCallsOfMiniCpm5},
          {"Laguna", kCallsOfLaguna},
          {"Step 3.7", kCallsOfStep37},
          {"Phi 4", kCallsOfPhi4},
          {"MiniMax M3", kCallsOfMiniMaxM3},
          {"MiniMax M3 as M2", kCallsOfMiniMaxM3AsM2}};
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
