// Calls whose arguments are elements: how values within each other are read,
// and what a grammar writes of them.
#include <string>
#include <vector>

#include "text/chat/call_grammar_util.h"
#include "text/chat/reply_util.h"

namespace rc::text::chat {
namespace {

using ChoiceKind = ToolChoice::Kind;

constexpr const char* kMark = "]<]minimax[>[";

// With "~" for the mark of the format.
std::string marked(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '~') {
      result += kMark;
    } else {
      result += c;
    }
  }
  return result;
}

constexpr const char* kListTool = R"([{"type": "function", "function": {
  "name": "f", "parameters": {"type": "object", "properties": {
    "text": {"type": "string"},
    "n": {"type": "integer"},
    "any": {},
    "texts": {"type": "array", "items": {"type": "string"}},
    "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
    "tuple": {"prefixItems": [{"type": "string"}, {"type": "integer"}]},
    "old": {"items": [{"type": "string"}], "additionalItems": {"type": "null"}},
    "row": {"$ref": "#/$defs/row"},
    "either": {"anyOf": [{"type": "object", "properties": {
        "a": {"type": "string"}}}, {"type": "object", "properties": {
        "b": {"type": "integer"}}}]},
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "maybe": {"type": ["array", "null"], "items": {"type": ["null", "number"]}}
  }, "$defs": {"row": {"type": "object", "properties": {
    "item": {"type": "string"}, "next": {"$ref": "#/$defs/row"}}}}}}}])";

struct ElementCase {
  std::string arguments;
  std::string expected;
};

// Returns the events of an answer, the same at every cut.
std::string read_at_every_cut(const std::string& answer) {
  ReplyOptions options;
  options.tools = ToolTypes(parse_argument(kListTool, "tools"));
  const std::string whole = parsed("minimax-m3", {answer}, options);
  EXPECT_EQ(parsed("minimax-m3", bytes_of(answer), options), whole) << answer;
  for (size_t cut = 1; cut < answer.size(); ++cut) {
    EXPECT_EQ(parsed("minimax-m3", {answer.substr(0, cut), answer.substr(cut)},
                     options),
              whole)
        << cut << ": " << answer;
  }
  return whole;
}

TEST(ElementCalls, ValuesHaveTheTypesOfTheSchema) {
  const std::vector<ElementCase> cases = {
      {"", "{}"},
      {"~<text>7~</text>", R"({"text": "7"})"},
      {"~<text> 7\n~</text>", R"({"text": " 7\n"})"},
      {"~<text>~</text>", R"({"text": ""})"},
      {"~<text>~<b>x~</b>~</text>", marked("{\"text\": \"~<b>x~</b>\"}")},
      {"~<n>7~</n>", R"({"n": 7})"},
      {"~<any>7~</any>", R"({"any": 7})"},
      {"~<any>seven~</any>", R"({"any": "seven"})"},
      {"~<any>~</any>", R"({"any": ""})"},
      {"~<any>~<item>7~</item>~</any>", R"({"any": [7]})"},
      {"~<any>~<a>~<b>true~</b>~</a>~</any>", R"({"any": {"a": {"b": true}}})"},
      {"~<any>~<item>1~</item>~<a>2~</a>~</any>",
       R"({"any": {"item": 1, "a": 2}})"},
      {"~<any>x~<a>2~</a>~</any>", marked("{\"any\": \"x~<a>2~</a>\"}")},
      {"~<texts>~<item>7~</item>~<item>true~</item>~</texts>",
       R"({"texts": ["7", "true"]})"},
      {"~<texts>~</texts>", R"({"texts": []})"},
      {"~<texts>[\"7\"]~</texts>", R"({"texts": ["7"]})"},
      {"~<texts>~<text>7~</text>~</texts>", R"({"texts": ["7"]})"},
      {"~<rows>~<item>~<item>1~</item>~</item>~<item>~</item>~</rows>",
       R"({"rows": [{"item": "1"}, {}]})"},
      {"~<tuple>~<item>1~</item>~<item>1~</item>~<item>1~</item>~</tuple>",
       R"({"tuple": ["1", 1, 1]})"},
      {"~<old>~<item>1~</item>~<item>~</item>~</old>",
       R"({"old": ["1", null]})"},
      {"~<row>~<next>~<next>~<item>null~</item>~</next>~</next>~</row>",
       R"({"row": {"next": {"next": {"item": "null"}}}})"},
      {"~<either>~<a>1~</a>~<b>1~</b>~</either>",
       R"({"either": {"a": "1", "b": 1}})"},
      {"~<map>~<x y>1~</x y>~</map>", R"({"map": {"x y": "1"}})"},
      {"~<map>~</map>", R"({"map": {}})"},
      {"~<maybe>~<item>~</item>~<item>1.5~</item>~</maybe>",
       R"({"maybe": [null, 1.5]})"},
      {"~<maybe>null~</maybe>", R"({"maybe": null})"},
      {"\n ~<n>7~</n>\n~<rows>\n ~<item>\n~</item> \n~</rows>\n",
       R"({"n": 7, "rows": [{}]})"},
      {"~<other>7~</other>", R"({"other": 7})"},
  };
  for (const ElementCase& one : cases) {
    EXPECT_EQ(
        read_at_every_cut(marked("~<tool_call>\n~<invoke name=\"f\">" +
                                 one.arguments + "~</invoke>\n~</tool_call>")),
        "call f " + one.expected)
        << one.arguments;
  }
}

TEST(ElementCalls, MayFollowTextReasoningAndEachOther) {
  const std::string call = "~<invoke name=\"f\">~<n>7~</n>~</invoke>";
  EXPECT_EQ(
      read_at_every_cut(marked("<mm:think>why</mm:think>So.~<tool_call>\n" +
                               call + "\n" + call + "\n~</tool_call>")),
      R"(why(why)text(So.)call f {"n": 7}call f {"n": 7})");
  EXPECT_EQ(read_at_every_cut(marked("</mm:think>" + call)),
            R"(call f {"n": 7})");
}

TEST(ElementCalls, InvalidElementsAreMalformedCalls) {
  for (const std::string arguments :
       {"7", "~<n>7~</m>~</invoke>", "~<rows>~<item>~</rows>~</item>",
        "~<rows>~<item>~</item>x~</rows>", "~<n>7", "~<>7~</>", "~</n>",
        "~<texts>~<item>7~</item>~</invoke>"}) {
    const std::string answer =
        marked("~<invoke name=\"f\">" + arguments + "~</invoke>");
    EXPECT_NE(read_at_every_cut(answer).find("bad("), std::string::npos)
        << arguments << " " << read_at_every_cut(answer);
  }
  EXPECT_EQ(read_at_every_cut(marked("So ~<n>7")),
            marked("text(So )bad(~<n>7)"));
}

// Elements nest as deep as is read, and an answer that nests deeper is none.
TEST(ElementCalls, NestUpToTheLimit) {
  ReplyOptions options;
  options.tools = ToolTypes(parse_argument(kListTool, "tools"));
  const auto answer = [](size_t deep) {
    std::string text = "~<invoke name=\"f\">~<row>";
    for (size_t i = 1; i < deep; ++i) text += "~<next>";
    for (size_t i = 1; i < deep; ++i) text += "~</next>";
    return marked(text + "~</row>~</invoke>");
  };
  EXPECT_EQ(parsed("minimax-m3", {answer(64)}, options).find("bad("),
            std::string::npos);
  EXPECT_NE(parsed("minimax-m3", {answer(65)}, options).find("bad("),
            std::string::npos);
}

TEST(ElementCalls, AreWrittenByTheirSchemas) {
  const ReplyFormat& format = *reply_format("minimax-m3");
  const JsonValue list = parse_json(R"([{"type": "function", "function": {
      "name": "f", "parameters": {"type": "object",
      "additionalProperties": false, "properties": {
        "text": {"type": "string"},
        "any": {},
        "flag": {"type": "boolean"},
        "texts": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "pair": {"type": ["array", "object"], "items": {"type": "integer"},
                 "properties": {"it": {"type": "string", "maxLength": 1},
                                "item": {"type": "string"},
                                "items": {"type": "null"}},
                 "additionalProperties": false},
        "row": {"$ref": "#/$defs/row"}},
      "$defs": {"row": {"type": "object", "additionalProperties": false,
        "required": ["n"], "properties": {"n": {"type": "integer"},
        "row": {"$ref": "#/$defs/row"}}}}}}}])",
                                    "tools", 100);
  for (const bool special : {true, false}) {
    const World world = world_of(format, special);
    const auto grammar = call_grammar(
        format, &list, {ChoiceKind::kRequired, ""}, {}, *world.tokenizer,
        [&](std::string_view name) { return world.is_special(name); });
    const auto fault = [&](std::string_view arguments) {
      bool ends = false;
      const std::string refused =
          refused_at(*grammar, world,
                     marked(cat("~<tool_call>\n~<invoke name=\"f\">", arguments,
                                "~</invoke>\n~</tool_call>")),
                     &ends);
      return refused.empty() && !ends ? "no end" : refused;
    };
    for (const char* right :
         {"", "~<text>~</text>", "~<text>]<] <\"\\\n[~</text>",
          "~<text>]~</text>~<flag>true~</flag>", "~<any>1.5~</any>",
          "~<any>\"a\"~</any>", "~<any>~</any>",
          "~<any>~<item>~<a>null~</a>~</item>~<item>~</item>~</any>",
          "~<any>~<ite>1~</ite>~<item>2~</item>~</any>",
          "~<any>~<$a b/c>1~</$a b/c>~</any>", "~<texts>~</texts>",
          "~<texts>~<item>7~</item>~<item>]~</item>~</texts>",
          "~<pair>~<it>x~</it>~<item>x~</item>~</pair>",
          "~<pair>~<items>null~</items>~</pair>",
          "~<pair>~<item>7~</item>~<item>8~</item>~</pair>", "~<pair>~</pair>",
          "~<row>~<row>~<n>-1~</n>~</row>~<n>1~</n>~</row>"}) {
      EXPECT_EQ(fault(right), "") << right;
    }
    for (const char* wrong :
         {" ", "~<other>1~</other>", "~<text>x~</texts>",
          "~<flag>maybe~</flag>", "~<flag>~</flag>", "~<any>[1]~</any>",
          "~<any>{}~</any>", "~<any>text~</any>", "~<any>~<a>1~</a>",
          "~<any>~<item>1~</any>", "~<texts>~<x>7~</x>~</texts>",
          "~<texts>~<item>1~</item>~<item>2~</item>~<item>3~</item>~</texts>",
          "~<pair>~<it>xx~</it>~</pair>", "~<pair>~<item>x~</item>~</pair>",
          "~<pair>~<other>1~</other>~</pair>", "~<row>~</row>",
          "~<row>~<n>1~</n>~<n>1~</n>~</row>",
          "~<text>x~</text>~<text>x~</text>"}) {
      EXPECT_NE(fault(wrong), "") << wrong;
    }
  }
}

// Members of objects that are arguments are written without quotes too.
TEST(ElementCalls, NamesWithinArgumentsAreChecked) {
  for (const std::string place :
       {R"("a": {"properties": {"x<y": {}}})",
        R"("a": {"items": {"properties": {"x<y": {}}}})",
        R"("a": {"prefixItems": [{}, {"properties": {"x<y": {}}}]})",
        R"("a": {"anyOf": [{"properties": {"x<y": {}}}]})",
        R"("a": {"additionalProperties": {"properties": {"x<y": {}}}})"}) {
    const JsonValue list = parse_json(
        R"([{"type": "function", "function": {"name": "f", "parameters":
            {"type": "object", "properties": {)" +
            place + "}}}}]",
        "tools", 100);
    for (const char* name : {"minimax-m3", "gemma4"}) {
      const ReplyFormat& format = *reply_format(name);
      const World world = world_of(format, false);
      const std::string message = message_of([&] {
        call_grammar(format, &list, {ChoiceKind::kRequired, ""}, {},
                     *world.tokenizer, nullptr);
      });
      EXPECT_NE(message.find(".properties: 'x<y'"), std::string::npos)
          << name << " " << place << ": " << message;
    }
  }
}

}  // namespace
}  // namespace rc::text::chat
