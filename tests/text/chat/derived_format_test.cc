// Formats of calls that are found by rendering calls with a template.
#include "text/chat/replies/derived_format.h"

#include <iostream>
#include <string>
#include <vector>

#include "text/chat/find_format.h"
#include "text/chat/reply_util.h"

namespace rc::text::chat {
namespace {

// A template whose answers end with </s>. `calls` writes message.tool_calls.
std::string template_with(const std::string& calls) {
  return "{% for message in messages %}{{ '<|' + message.role + '|>' }}"
         "{{ message.content or '' }}{% if message.tool_calls %}" +
         calls +
         "{% endif %}{{ '</s>' }}{% endfor %}"
         "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";
}

std::string read(const std::string& calls, const std::string& answer) {
  const std::string source = template_with(calls);
  const auto chat =
      ChatTemplate::create(source, tokenizer_with(names_in(source)));
  EXPECT_EQ(chat->reply_format().name, "derived");
  ReplyParser parser(chat->reply_format(), offering());
  Events events;
  parser.feed(answer, &events);
  parser.finish(&events);
  return shown(events);
}

TEST(DerivedFormats, AreObjectsWithinMarks) {
  const std::string each =
      "{% for call in message.tool_calls %}{{ '\n<use>' +"
      " {'tool': call.function.name, 'with': call.function.arguments} | tojson"
      " + '</use>' }}{% endfor %}";
  EXPECT_EQ(read(each, R"(Well. <use>{"tool": "f", "with": {"a": [1]}}</use>)"
                       R"(<use>{"tool": "g", "with": {}}</use>)"),
            R"(text(Well.)call f {"a": [1]}call g {})");
}

TEST(DerivedFormats, AreObjectsInOneArray) {
  const std::string list =
      "{{ 'ACTIONS[' }}{% for call in message.tool_calls %}"
      "{{ {'id': call.id, 'do': call.function.name, 'input':"
      " call.function.arguments} | tojson }}{{ ', ' if not loop.last }}"
      "{% endfor %}{{ ']END' }}";
  EXPECT_EQ(read(list, R"(ACTIONS[{"id": "x1", "do": "f", "input": {"a": 1}},)"
                       R"( {"do": "g", "input": {}}]END)"),
            R"(call f#x1 {"a": 1}call g {})");
}

TEST(DerivedFormats, AreNamesBeforeObjects) {
  const std::string section =
      "{{ '<calls>' }}{% for call in message.tool_calls %}"
      "{{ '<call>' + call.function.name + '<with>' + (call.function.arguments"
      " | tojson) + '</call>' }}{% endfor %}{{ '</calls>' }}";
  EXPECT_EQ(read(section,
                 "<calls><call>f<with>{\"a\": \"b\"}</call>"
                 "<call>g<with>{}</call></calls>"),
            R"(call f {"a": "b"}call g {})");
}

TEST(DerivedFormats, AreArgumentsWithinMarks) {
  const std::string tags =
      "{% for call in message.tool_calls %}{{ '<run>\n<name=' +"
      " call.function.name + '>\n' }}{% for key, value in"
      " call.function.arguments.items() %}{{ '<set ' + key + '>' + (value if"
      " value is string else value | tojson) + '</set>\n' }}{% endfor %}"
      "{{ '</name>\n</run>' }}{% endfor %}";
  EXPECT_EQ(
      read(tags, "<run><name=f><set a>x y</set><set b>[1]</set></name></run>"),
      R"(call f {"a": "x y", "b": [1]})");
  EXPECT_EQ(read(tags, "<run>\n<name=g>\n</name>\n</run>"), "call g {}");
}

TEST(DerivedFormats, ArePythonCalls) {
  const std::string python =
      "{{ '<go>[' }}{% for call in message.tool_calls %}"
      "{{ call.function.name + '(' }}{% for key, value in"
      " call.function.arguments.items() %}{{ key + '=' + (value | tojson) }}"
      "{{ ', ' if not loop.last }}{% endfor %}{{ ')' }}"
      "{{ ', ' if not loop.last }}{% endfor %}{{ ']</go>' }}";
  EXPECT_EQ(read(python, R"(<go>[f(a="b", c=True), g()]</go>)"),
            R"(call f {"a":"b","c":true}call g {})");
}

// The sign is that of a format without a mark at the end.
TEST(DerivedFormats, AreTakenWhereThoseWithTheSameSignsReadOtherwise) {
  const std::string marks =
      "{% for call in message.tool_calls %}{{ '<|tool_call|>' +"
      " call.function | tojson + '<|/tool_call|>' }}{% endfor %}";
  EXPECT_EQ(reply_format_of(template_with(marks)).name, "granite");
  EXPECT_EQ(read(marks,
                 R"(<|tool_call|>{"name": "f", "arguments": {}}<|/tool_call|>)"
                 "Done."),
            "call f {}text(Done.)");
}

// Of a template that shows calls in no shape that is known, or changes them.
TEST(DerivedFormats, AreNoneWhereCallsAreNotReadAsGiven) {
  for (const std::string calls :
       {"{% for call in message.tool_calls %}{{ call.function.arguments }}"
        "{% endfor %}",
        "{{ 'calls ' + message.tool_calls[0].function.name }}",
        "{% for call in message.tool_calls %}{{ '<c>' + {'n':"
        " call.function.name, 'a': {}} | tojson + '</c>' }}{% endfor %}"}) {
    const std::string source = template_with(calls);
    const auto chat =
        ChatTemplate::create(source, tokenizer_with(names_in(source)));
    EXPECT_EQ(chat->reply_format().name, "plain") << calls;
  }
}

}  // namespace
}  // namespace rc::text::chat
