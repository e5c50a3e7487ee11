// Texts that grammars of calls allow: the output of models, one tool,
// reasoning, numbers; and the errors that they name.
#include <string>

#include "text/chat/call_grammar_util.h"

namespace rc::text::chat {
namespace {

using ChoiceKind = ToolChoice::Kind;

struct Written {
  const char* format;
  const char* text;
};

// As the templates' makers write them.
const Written kWritten[] = {
    {"hermes",
     "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": "
     "\"Oslo\", \"days\": 3, \"hours\": [1, 22]}}\n</tool_call>"},
    {"llama3",
     R"({"name": "get_weather", "parameters": {"days": 3, "city": "Oslo"}})"},
    {"mistral",
     R"([TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo", )"
     R"("days": 3, "place": {"lat": 59, "of": null}}}])"},
    {"mistral-v11",
     R"([TOOL_CALLS]get_weather[ARGS]{"city": "Oslo", "days": 3})"},
    {"command-r7b",
     "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": "
     "\"get_weather\", \"parameters\": {\"city\": \"Oslo\", \"days\": "
     "3}}]<|END_ACTION|>"},
    {"command-r",
     "Action: ```json\n[{\"tool_name\": \"get_weather\", \"parameters\": "
     "{\"city\": \"Oslo\", \"days\": 3}}]\n```"},
    {"harmony",
     "<|channel|>commentary to=functions.get_weather "
     "<|constrain|>json<|message|>{\"city\": \"Oslo\", \"days\": 3}"},
    {"deepseek-v3",
     "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>"
     "get_weather\n```json\n{\"city\": \"Oslo\", \"days\": 3}\n```"
     "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
    {"deepseek-v3.1",
     "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
     "{\"city\": \"Oslo\", \"days\": "
     "3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
    {"deepseek-v3.2",
     "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n"
     "<｜DSML｜parameter name=\"city\" "
     "string=\"true\">Oslo</｜DSML｜parameter>\n"
     "<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n"
     "</｜DSML｜invoke>\n</｜DSML｜function_calls>"},
    {"deepseek-v4",
     "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"get_weather\">\n"
     "<｜DSML｜parameter name=\"city\" "
     "string=\"true\">Oslo</｜DSML｜parameter>\n"
     "<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n"
     "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"},
    {"minicpm5",
     "<function name=\"get_weather\"><param name=\"city\">Os \"lo\"</param>"
     "<param name=\"days\">3</param></function>"},
    {"kimi-k2",
     "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:12"
     "<|tool_call_argument_begin|>{\"city\": \"Oslo\", \"days\": 3}"
     "<|tool_call_end|><|tool_calls_section_end|>"},
    {"minimax-m2",
     "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter "
     "name=\"city\">Os \"lo\"</parameter>\n<parameter "
     "name=\"days\">3</parameter>\n</invoke>\n</minimax:tool_call>"},
    {"minimax-m3",
     "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"get_weather\">"
     "]<]minimax[>[<city>Os\nl]]<]minimax[>[</city>]<]minimax[>[<days>3"
     "]<]minimax[>[</days>]<]minimax[>[<hours>]<]minimax[>[<item>1"
     "]<]minimax[>[</item>]<]minimax[>[<item>22]<]minimax[>[</item>"
     "]<]minimax[>[</hours>]<]minimax[>[<place>]<]minimax[>[<lat>59"
     "]<]minimax[>[</lat>]<]minimax[>[<of>null]<]minimax[>[</of>"
     "]<]minimax[>[</place>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"},
    {"seed-oss",
     "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Os\nlo"
     "</parameter>\n<parameter=days>3</parameter>\n</function>\n"
     "</seed:tool_call>"},
    {"glm-4.5",
     "<tool_call>get_weather\n<arg_key>days</arg_key>\n<arg_value>3"
     "</arg_value>\n<arg_key>city</arg_key>\n<arg_value>a < b</arg_value>\n"
     "</tool_call>"},
    {"qwen3-coder",
     "<tool_call>\n<function=get_weather>\n<parameter=city>\n\\\"\n\n"
     "\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
     "<parameter=place>\n{\"lat\": 59, \"of\": \"a\"}\n</parameter>\n"
     "</function>\n</tool_call>"},
    // A string or null, which is a word of the format.
    {"qwen3-coder",
     "<tool_call>\n<function=get_weather>\n<parameter=city>\nA\n"
     "</parameter>\n<parameter=days>\n3\n</parameter>\n"
     "<parameter=note>\nNone\n</parameter>\n</function>\n</tool_call>"},
    {"qwen3-coder",
     "<tool_call>\n<function=get_weather>\n<parameter=city>\nA\n"
     "</parameter>\n<parameter=days>\n3\n</parameter>\n"
     "<parameter=note>\nNon\n\n</parameter>\n</function>\n</tool_call>"},
    {"glm-4.5",
     "<tool_call>get_weather\n<arg_key>days</arg_key>\n<arg_value>3"
     "</arg_value>\n<arg_key>city</arg_key>\n<arg_value>\n\n</arg_value>\n"
     "<arg_key>note</arg_key>\n<arg_value>null</arg_value>\n</tool_call>"},
    {"glm-4.5",
     "<tool_call>get_weather\n<arg_key>days</arg_key>\n<arg_value>3"
     "</arg_value>\n<arg_key>city</arg_key>\n<arg_value>A</arg_value>\n"
     "<arg_key>note</arg_key>\n<arg_value></arg_value>\n</tool_call>"},
    {"gemma4",
     "<|tool_call>call:get_weather{city:<|\"|>Oslo<|\"|>,days:3,hours:[1,2],"
     "place:{lat:59,of:<|\"|>a<|\"|>}}<tool_call|>"},
    {"lfm2",
     "<|tool_call_start|>[get_weather(city=\"Os\\\"lo\", days=3, exact=True, "
     "place={\"lat\": 59, \"of\": None})]<|tool_call_end|>"},
    {"functionary-v3.1",
     "<function=get_weather>{\"city\": \"Oslo\", \"days\": 3}</function>"},
    {"functionary-v3.2", "get_weather\n{\"city\": \"Oslo\", \"days\": 3}"},
    {"nemotron-v2",
     "<TOOLCALL>[{\"name\": \"now\", \"arguments\": "
     "{}}]</TOOLCALL>"},
    {"granite", "<|tool_call|>[{\"name\": \"now\", \"arguments\": {}}]"},
    {"apriel",
     "<tool_calls>[{\"name\": \"now\", \"arguments\": {}}]</tool_calls>"},
    {"gigachat3.1", "<|function_call|>{\"name\": \"now\", \"arguments\": {}}"},
    {"llama4", R"(<|python_start|>[get_weather(city="Oslo", days=3)])"
               "<|python_end|>"},
    {"apertus",
     R"(<|tools_prefix|>[{"get_weather": {"city": "Oslo", "days": 3}}])"
     "<|tools_suffix|>"},
    {"solar",
     "<|tool_calls|><|tool_call:begin|>call00001<|tool_call:name|>get_weather"
     "<|tool_call:args|>{\"city\": \"Oslo\", \"days\": 3}<|tool_call:end|>"
     "<|calls|>"},
    {"gigachat3",
     "<|message_sep|>\n\nfunction call<|role_sep|>\n{\"name\": \"now\", "
     "\"arguments\": {}}"},
    {"tool-calls",
     "<tool_calls>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_calls>"},
    {"smollm3",
     "<tool_call>\n{\"name\": \"now\", \"arguments\": "
     "{}}\n</tool_call>"},
};

TEST(CallGrammars, AllowTheOutputOfModels) {
  for (const auto& [name, text] : kWritten) {
    const ReplyFormat& format = *reply_format(name);
    for (const bool special : {true, false}) {
      SCOPED_TRACE(std::string(name) + (special ? ", special" : ""));
      const World world = world_of(format, special);
      bool ends = false;
      EXPECT_EQ(
          refused_at(*grammar_of(format, world, {ChoiceKind::kRequired, ""}),
                     world, text, &ends),
          "");
      EXPECT_TRUE(ends);
    }
  }
}

// Models count their calls behind the name: one to four digits.
TEST(CallGrammars, CallNumbersHaveFourDigitsAtMost) {
  const ReplyFormat& format = *reply_format("kimi-k2");
  const World world = world_of(format, true);
  const auto grammar = grammar_of(format, world, {ChoiceKind::kRequired, ""});
  for (const char* number : {"", "0", "1234", "12345", "1a"}) {
    const std::string text =
        std::string(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:") +
        number +
        "<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>";
    bool ends = false;
    const bool right =
        number == std::string("0") || number == std::string("1234");
    EXPECT_EQ(refused_at(*grammar, world, text, &ends).empty() && ends, right)
        << number;
  }
}

TEST(CallGrammars, CanBeLimitedToOneTool) {
  const ReplyFormat& format = *reply_format("hermes");
  const World world = world_of(format, false);
  const auto grammar =
      grammar_of(format, world, {ChoiceKind::kRequired, "now"});
  bool ends = false;
  EXPECT_NE(refused_at(*grammar, world,
                       "<tool_call>\n{\"name\": \"get_weather\"", &ends),
            "");
  // The two members may come in any order.
  const auto matcher = grammar->match();
  EXPECT_EQ(matcher->forced(), "<tool_call>\n{\"");
  EXPECT_TRUE(matcher->accept_bytes("<tool_call>\n{\"n"));
  EXPECT_EQ(matcher->forced(),
            "ame\": \"now\", \"arguments\": {}}\n</tool_call>");
}

TEST(CallGrammars, AllowReasoningBeforeCalls) {
  const ReplyFormat& format = *reply_format("hermes");
  const World world = world_of(format, false);
  const std::string call =
      "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";
  const auto allows = [&](const AnswerBegin& begin, const std::string& text) {
    bool ends = false;
    const auto grammar =
        grammar_of(format, world, {ChoiceKind::kRequired, ""}, begin);
    return refused_at(*grammar, world, text, &ends).empty() && ends;
  };
  const std::string thought = "well <tool_call> or not</think>\n\n";
  EXPECT_TRUE(allows({.within_reasoning = true}, thought + call));
  EXPECT_TRUE(allows({.may_reason = true}, "<think>" + thought + call));
  EXPECT_TRUE(allows({.may_reason = true}, call));
  EXPECT_FALSE(allows({}, "<think>" + thought + call));
  EXPECT_FALSE(allows({.within_reasoning = true}, thought + "So" + call));
  const ReplyFormat& harmony = *reply_format("harmony");
  const World channels = world_of(harmony, true);
  bool ends = false;
  EXPECT_EQ(
      refused_at(*grammar_of(harmony, channels, {ChoiceKind::kRequired, ""},
                             {.may_reason = true}),
                 channels,
                 "<|channel|>analysis<|message|>why<|end|><|start|>assistant"
                 "<|channel|>commentary to=functions.now <|constrain|>json"
                 "<|message|>{}",
                 &ends),
      "");
  EXPECT_TRUE(ends);
}

// A model that writes digits for ever comes to an end, and nothing is rounded
// to what the schema does not allow.
TEST(CallGrammars, NumbersAreShort) {
  const ReplyFormat& format = *reply_format("hermes");
  const World world = world_of(format, true);
  const auto grammar = response_grammar(
      format,
      parse_json(R"({"type": "array", "items": {"type": "number",
                     "exclusiveMaximum": 100}})",
                 "schema", 10),
      {}, *world.tokenizer,
      [&](std::string_view name) { return world.is_special(name); });
  const auto allows = [&](const std::string& text) {
    return grammar->match()->accept_bytes(text);
  };
  EXPECT_TRUE(allows("[99.9999999999999, -123456789012345, 1e-7]"));
  EXPECT_FALSE(allows("[99.99999999999999"));
  EXPECT_FALSE(allows("[-1234567890123456"));
  EXPECT_FALSE(allows("[100"));
}

TEST(CallGrammars, NoneAllowsNoCalls) {
  const ReplyFormat& format = *reply_format("hermes");
  for (const bool special : {true, false}) {
    const World world = world_of(format, special);
    const auto grammar = grammar_of(format, world, {ChoiceKind::kNone, ""});
    bool ends = false;
    EXPECT_EQ(refused_at(*grammar, world, "No <tool", &ends), "");
    EXPECT_TRUE(ends);
    EXPECT_NE(refused_at(*grammar, world, "No <tool_call>", &ends), "");
  }
}

TEST(CallGrammars, ErrorsNameTheFault) {
  const ReplyFormat& format = *reply_format("hermes");
  const World world = world_of(format, false);
  const auto message = [&](const ReplyFormat& of, const char* list,
                           const ToolChoice& choice) {
    const JsonValue read = parse_json(list, "tools", 100);
    return message_of([&] {
      call_grammar(of, &read, choice, {}, *world.tokenizer, nullptr);
    });
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos ? "" : text;
  };
  EXPECT_EQ(has(message(format, "[]", {ChoiceKind::kRequired, ""}), "no tools"),
            "");
  EXPECT_EQ(
      has(message(format, kTools, {ChoiceKind::kRequired, "later"}), "'later'"),
      "");
  EXPECT_EQ(
      has(message(*reply_format("plain"), kTools, {ChoiceKind::kRequired, ""}),
          "no way of writing calls"),
      "");
  EXPECT_EQ(has(message(*reply_format("plain"), kTools, {}), "strict"), "");
  EXPECT_EQ(message(*reply_format("plain"), kTools, {ChoiceKind::kNone, ""}),
            "");
  const char* const odd = R"([{"type": "function", "function": {"name": "f",
      "parameters": {"type": "object", "properties": {"a<b": {}}}}}])";
  EXPECT_EQ(
      has(message(*reply_format("glm-4.5"), odd, {ChoiceKind::kRequired, ""}),
          "'a<b'"),
      "");
  EXPECT_EQ(message(format, odd, {ChoiceKind::kRequired, ""}), "");
  const char* const format_keyword = R"([{"type": "function", "function": {
      "name": "f", "parameters": {"type": "object", "properties": {
        "a": {"type": "string", "format": "idn-hostname"}}}}}])";
  EXPECT_EQ(has(message(format, format_keyword, {ChoiceKind::kRequired, ""}),
                "/properties/a/format"),
            "");
  for (const char* wrong :
       {"always", "\"never\"", "{\"type\": \"function\"}", "[1]", "{"}) {
    EXPECT_EQ(has(message_of([&] { parse_tool_choice(wrong); }), "tool_choice"),
              "")
        << wrong;
  }
  EXPECT_EQ(parse_tool_choice("\"required\""),
            (ToolChoice{ChoiceKind::kRequired}));
  EXPECT_EQ(
      parse_tool_choice(R"({"type": "function", "function": {"name": "now"}})"),
      (ToolChoice{ChoiceKind::kRequired, "now"}));
}

}  // namespace
}  // namespace rc::text::chat
