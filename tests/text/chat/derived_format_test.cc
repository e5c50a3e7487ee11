// Formats of calls that are found by rendering calls with a template.
#include <iostream>
#include <string>
#include <vector>

#include "text/chat/derived_util.h"
#include "text/chat/reply_util.h"

namespace rc::text::chat {
namespace {

std::string read(const std::string& calls, const std::string& answer) {
  const auto chat = chat_with(calls);
  EXPECT_EQ(chat->reply_format().name, "derived");
  ReplyParser parser(chat->reply_format(), offering());
  Events events;
  parser.feed(answer, &events);
  parser.finish(&events);
  return shown(events);
}

TEST(DerivedFormats, AreObjectsWithinMarks) {
  EXPECT_EQ(read(kObjectsWithinMarks,
                 R"(Well. <use>{"tool": "f", "with": {"a": [1]}}</use>)"
                 R"(<use>{"tool": "g", "with": {}}</use>)"),
            R"(text(Well.)call f {"a": [1]}call g {})");
}

TEST(DerivedFormats, AreObjectsInOneArray) {
  EXPECT_EQ(read(kObjectsInOneArray,
                 R"(ACTIONS[{"id": "x1", "do": "f", "input": {"a": 1}},)"
                 R"( {"do": "g", "input": {}}]END)"),
            R"(call f#x1 {"a": 1}call g {})");
}

TEST(DerivedFormats, AreNamesBeforeObjects) {
  EXPECT_EQ(read(kNamesBeforeObjects,
                 "<calls><call>f<with>{\"a\": \"b\"}</call>"
                 "<call>g<with>{}</call></calls>"),
            R"(call f {"a": "b"}call g {})");
}

TEST(DerivedFormats, AreArgumentsWithinMarks) {
  EXPECT_EQ(read(kArgumentsWithinMarks,
                 "<run><name=f><set a>x y</set><set b>[1]</set></name></run>"),
            R"(call f {"a": "x y", "b": [1]})");
  EXPECT_EQ(read(kArgumentsWithinMarks, "<run>\n<name=g>\n</name>\n</run>"),
            "call g {}");
}

TEST(DerivedFormats, ArePythonCalls) {
  EXPECT_EQ(read(kPythonCalls, R"(<go>[f(a="b", c=True), g()]</go>)"),
            R"(call f {"a":"b","c":true}call g {})");
}

// The sign is that of a format without a mark at the end.
TEST(DerivedFormats, AreTakenWhereThoseWithTheSameSignsReadOtherwise) {
  const std::string marks =
      "{% for call in message.tool_calls %}{{ '<|tool_call|>' +"
      " call.function | tojson + '<|/tool_call|>' }}{% endfor %}";
  EXPECT_EQ(reply_format_of(template_with(marks)).name, "granite");
  EXPECT_EQ(
      read(marks, R"(<|tool_call|>{"name": "f", "arguments": {}}<|/tool_call|>)"
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
    EXPECT_EQ(chat_with(calls)->reply_format().name, "plain") << calls;
  }
}

}  // namespace
}  // namespace rc::text::chat
