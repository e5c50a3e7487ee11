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

TEST(DerivedFormats, ReadsObjectsWithinMarks) {
  EXPECT_EQ(read(kObjectsWithinMarks,
                 R"(Well. <use>{"tool": "f", "with": {"a": [1]}}</use>)"
                 R"(<use>{"tool": "g", "with": {}}</use>)"),
            R"(text(Well.)call f {"a": [1]}call g {})");
}

TEST(DerivedFormats, ReadsObjectsInOneArray) {
  EXPECT_EQ(read(kObjectsInOneArray,
                 R"(ACTIONS[{"id": "x1", "do": "f", "input": {"a": 1}},)"
                 R"( {"do": "g", "input": {}}]END)"),
            R"(call f#x1 {"a": 1}call g {})");
}

TEST(DerivedFormats, ReadsNamesBeforeObjects) {
  EXPECT_EQ(read(kNamesBeforeObjects,
                 "<calls><call>f<with>{\"a\": \"b\"}</call>"
                 "<call>g<with>{}</call></calls>"),
            R"(call f {"a": "b"}call g {})");
}

TEST(DerivedFormats, ReadsArgumentsWithinMarks) {
  EXPECT_EQ(read(kArgumentsWithinMarks,
                 "<run><name=f><set a>x y</set><set b>[1]</set></name></run>"),
            R"(call f {"a": "x y", "b": [1]})");
  EXPECT_EQ(read(kArgumentsWithinMarks, "<run>\n<name=g>\n</name>\n</run>"),
            "call g {}");
}

TEST(DerivedFormats, ReadsPythonCalls) {
  EXPECT_EQ(read(kPythonCalls, R"(<go>[f(a="b", c=True), g()]</go>)"),
            R"(call f {"a":"b","c":true}call g {})");
}

TEST(DerivedFormats, ReadsArgumentsWithTypesInTheirMarks) {
  EXPECT_EQ(
      read(kArgumentsWithTypes,
           "<!calls>\n<!use name=\"f\">\n<!with name=\"a\" text=\"yes\">12"
           "</!with>\n<!with name=\"b\" text=\"no\">12</!with>\n"
           "<!with name=\"c\" text=\"no\">[1]</!with>\n</!use>\n"
           "<!use name=\"g\">\n</!use>\n</!calls>"),
      R"(call f {"a": "12", "b": 12, "c": [1]}call g {})");
}

TEST(DerivedFormats, ReadsPythonCallsWithoutEscapes) {
  const std::string expected =
      R"j(call f {"a":"It's, \"b\\c\", (d)","b":["x",true],"c":null})j"
      R"(call g {"a":""})";
  EXPECT_EQ(read(kRawPythonCalls,
                 "<go>[f(a='It's, \"b\\c\", (d)', b=['x', True], c=None),"
                 " g(a='')]</go>"),
            expected);
}

// The templates write reasoning between these marks.
TEST(DerivedFormats, HaveTheMarksOfReasoning) {
  const auto marks = [](const std::string& begin, const std::string& end) {
    const auto chat =
        chat_with("{{ '" + begin + "' + (message.reasoning_content or '') + '" +
                  end + "' }}" + kArgumentsWithSuffixes);
    const ReplyFormat& format = chat->reply_format();
    EXPECT_EQ(format.name, "derived");
    return std::string(format.reasoning_begin) + " " +
           std::string(format.reasoning_end);
  };
  EXPECT_EQ(marks("<think:x>", "</think:x>"), "<think:x> </think:x>");
  EXPECT_EQ(marks("[WHY]\\n", "\\n[/WHY]"), "[WHY] [/WHY]");
  EXPECT_EQ(marks("<a>", "<b>"), "<think> </think>");
  EXPECT_EQ(marks("", ""), "<think> </think>");
}

// The sign is that of a format without a mark at the end.
TEST(DerivedFormats, ReplaceFormatsWithOtherEndMarks) {
  const std::string marks =
      "{% for call in message.tool_calls %}{{ '<|tool_call|>' +"
      " call.function | tojson + '<|/tool_call|>' }}{% endfor %}";
  EXPECT_EQ(reply_format_of(template_with(marks)).name, "granite");
  EXPECT_EQ(
      read(marks, R"(<|tool_call|>{"name": "f", "arguments": {}}<|/tool_call|>)"
                  "Done."),
      "call f {}text(Done.)");
}

// The templates write calls in an unknown shape, or change them.
TEST(DerivedFormats, FormatIsPlainIfCallsDoNotRoundTrip) {
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
