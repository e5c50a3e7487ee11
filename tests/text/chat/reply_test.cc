// Answers of models, by format: text, reasoning and calls, the same at every
// cut.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "text/chat/reply_util.h"

namespace rc::text::chat {
namespace {

using Type = ReplyEvent::Type;

struct AnswerCase {
  std::string format;
  std::string text;
  std::string expected;
};

const std::string kCall = R"(call f {"a": "x"})";

std::vector<AnswerCase> answers() {
  const std::string object = R"({"name": "f", "arguments": {"a": "x"}})";
  return {
      {"hermes",
       "<think>\nwhy\n</think>\n\nSee:\n<tool_call>\n" + object +
           "\n</tool_call>\n<tool_call>\n" + object + "\n</tool_call>",
       "why(why)text(See:)" + kCall + kCall},
      {"smollm3", "<tool_call>" + object + "</tool_call>", kCall},
      {"qwen3-coder",
       "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n"
       "<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>",
       R"(call f {"a": "x", "n": 3})"},
      {"seed-oss",
       "<seed:think>why</seed:think><seed:tool_call>\n<function=f>\n"
       "<parameter=a>x</parameter>\n</function>\n</seed:tool_call>",
       "why(why)" + kCall},
      {"llama3", R"({"name": "f", "parameters": {"a": "x"}})", kCall},
      {"llama3", R"(<|python_tag|>{"name": "f", "parameters": {"a": "x"}})",
       kCall},
      {"llama3", R"({"colour": [1, {"red": true}]} is an answer.)",
       R"(text({"colour": [1, {"red": true}]} is an answer.))"},
      {"mistral",
       R"([TOOL_CALLS][{"name": "f", "arguments": {"a": "x"}, "id": "abc"},)"
       R"( {"name": "g", "arguments": {}}])",
       R"(call f#abc {"a": "x"}call g {})"},
      {"mistral-v11",
       R"([THINK]why[/THINK]So[TOOL_CALLS]f[CALL_ID]abc[ARGS]{"a": "x"})"
       R"([TOOL_CALLS]g[ARGS]{})",
       R"(why(why)text(So)call f#abc {"a": "x"}call g {})"},
      {"deepseek-v3",
       "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n"
       "```json\n{\"a\": \"x\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>"
       "function<｜tool▁sep｜>f\n```json\n{\"a\": \"x\"}\n```"
       "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       kCall + kCall},
      {"deepseek-v3.1",
       "why</"
       "think>Now<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>"
       "{\"a\": \"x\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       "text(whyNow)" + kCall},
      {"deepseek-v3.2",
       "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n"
       "<｜DSML｜parameter name=\"a\" string=\"true\">7</｜DSML｜parameter>\n"
       "<｜DSML｜parameter name=\"n\" string=\"false\">7</｜DSML｜parameter>\n"
       "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
       R"(call f {"a": "7", "n": 7})"},
      {"deepseek-v4",
       "why</think>So<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"f\">\n"
       "<｜DSML｜parameter name=\"a\" string=\"true\">x</｜DSML｜parameter>\n"
       "</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
       "text(whySo)" + kCall},
      {"kimi-k3",
       "<|open|>think<|sep|>why<|close|>think<|sep|><|open|>response<|sep|>So"
       "<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool=\"f\" "
       "index=\"1\"<|sep|><|open|>argument key=\"a\" type=\"string\"<|sep|>x"
       "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
       "<|close|>message<|sep|><|end_of_msg|>",
       "why(why)text(So)" + kCall},
      {"minicpm5",
       "<think>why</think><function name=\"f\"><param name=\"a\">x</param>"
       "</function>\n<function name=\"f\"><param name=\"a\"><![CDATA[x]]>"
       "</param></function>",
       "why(why)" + kCall + kCall},
      {"minimax-m3",
       "<mm:think>why</mm:think>See:]<]minimax[>[<tool_call>\n"
       "]<]minimax[>[<invoke name=\"f\">]<]minimax[>[<a>x]<]minimax[>[</a>"
       "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
       "why(why)text(See:)" + kCall},
      {"minimax-m3-as-m2",
       "<mm:think>why</mm:think>\n\n<minimax:tool_call>\n<invoke name=\"f\">\n"
       "<parameter name=\"a\">x</parameter>\n</invoke>\n</minimax:tool_call>",
       "why(why)" + kCall},
      {"harmony",
       "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>"
       "commentary to=functions.f <|constrain|>json<|message|>{\"a\": \"x\"}"
       "<|call|>",
       "why(why)" + kCall},
      {"harmony",
       "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>"
       "final<|message|>Hello there.<|return|>",
       "why(why)text(Hello there.)"},
      {"harmony",
       " to=functions.f<|channel|>commentary json<|message|>{\"a\": \"x\"}"
       "<|call|>",
       kCall},
      {"command-r7b",
       "<|START_THINKING|>why<|END_THINKING|><|START_ACTION|>[\n    "
       "{\"tool_call_id\": \"0\", \"tool_name\": \"f\", \"parameters\": "
       "{\"a\": \"x\"}}\n]<|END_ACTION|>",
       R"(why(why)call f#0 {"a": "x"})"},
      {"command-r7b", "<|START_RESPONSE|>Hello.<|END_RESPONSE|>",
       "text(Hello.)"},
      {"command-r",
       "Action: ```json\n[{\"tool_name\": \"f\", \"parameters\": {\"a\": "
       "\"x\"}}]```",
       kCall},
      {"command-r",
       "Plan: look.\nAction:\n```json\n[{\"tool_name\": \"f\", "
       "\"parameters\": {\"a\": \"x\"}}]```",
       "text(Plan: look.)" + kCall},
      {"apertus",
       "<|inner_prefix|>why<|inner_suffix|>So.<|tools_prefix|>[{\"f\": "
       "{\"a\": \"x\"}}, {\"g\": {}}]<|tools_suffix|>",
       "why(why)text(So.)" + kCall + "call g {}"},
      {"apertus", R"(<|tools_prefix|>[{"f": {}, "g": {}}]<|tools_suffix|>)",
       R"(call bad(<|tools_prefix|>[{"f": {}, "g": {}}]<|tools_suffix|>))"},
      {"apertus", R"([{"f": {"a": "x"}}]<|tools_suffix|>)", kCall},
      {"apertus", R"({"h": {"a": "x"}})", R"(text({"h": {"a": "x"}}))"},
      {"solar",
       "<|think|>why<|end|><|begin|>assistant<|tool_calls|>"
       "<|tool_call:begin|>abc<|tool_call:name|>f<|tool_call:args|>"
       "{\"a\": \"x\"}<|tool_call:end|><|tool_call:begin|>def"
       "<|tool_call:name|>g<|tool_call:args|>{}<|tool_call:end|><|calls|>",
       R"(why(why)call f#abc {"a": "x"}call g#def {})"},
      {"solar", "<|content|>Hello.<|end|>", "text(Hello.)"},
      {"gigachat3",
       "So.<|message_sep|>\n\nfunction call<|role_sep|>\n" + object +
           "<|message_sep|>\n\n",
       "text(So.)" + kCall},
      {"tool-calls",
       "<think>why</think>\n<tool_calls>\n" + object + "\n" + object +
           "\n</tool_calls>",
       "why(why)" + kCall + kCall},
      {"llama4", R"(<|python_start|>[f(a="x"), g()]<|python_end|>)",
       R"(call f {"a":"x"}call g {})"},
      {"llama4",
       R"(<|python_start|>{"name": "f", "parameters": {"a": "x"}})"
       "<|python_end|>",
       kCall},
      {"llama4", R"({"name": "f", "parameters": {"a": "x"}})", kCall},
      {"llama4", R"([f(a="x"), g()])", R"(call f {"a":"x"}call g {})"},
      {"llama4", "[f(a=", "text([f(a=)"},
      {"llama4", R"({"a": "x"} is an answer.)",
       R"(text({"a": "x"} is an answer.))"},
      {"tool-calls", "<tool_calls>[\n  " + object + "\n]</tool_calls>", kCall},
      {"apriel", "<tool_calls>[" + object + "]</tool_calls>", kCall},
      {"gigachat3.1", "<|function_call|>" + object, kCall},
      {"granite",
       "<think>why</think><response>So.</response><|tool_call|>[" + object +
           "]",
       "why(why)text(So.)" + kCall},
      {"glm-4.5",
       "<think>why</think>\n<tool_call>f\n<arg_key>a</arg_key>\n"
       "<arg_value>x</arg_value>\n<arg_key>n</arg_key>\n"
       "<arg_value>[1]</arg_value>\n</tool_call>",
       R"(why(why)call f {"a": "x", "n": [1]})"},
      {"glm-4.5", "<tool_call>f\n</tool_call>", "call f {}"},
      {"kimi-k2",
       "So<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
       "<|tool_call_argument_begin|>{\"a\": \"x\"}<|tool_call_end|>"
       "<|tool_calls_section_end|>",
       R"(text(So)call f#functions.f:0 {"a": "x"})"},
      {"minimax-m2",
       "<think>why</think>\n\n<minimax:tool_call>\n<invoke name=\"f\">\n"
       "<parameter name=\"a\">x</parameter>\n</invoke>\n<invoke name=\"f\">\n"
       "<parameter name=\"a\">x</parameter>\n</invoke>\n"
       "</minimax:tool_call>",
       "why(why)" + kCall + kCall},
      {"gemma4",
       "<|channel>thought\nwhy\n<channel|><|tool_call>call:f{a:<|\"|>x"
       "<|\"|>,n:[1,{b:true}]}<tool_call|>",
       R"(why(why)call f {"a":"x","n":[1,{"b":true}]})"},
      {"lfm2",
       "<|tool_call_start|>[f(a=\"x\", n=-3, ok=True), g(t='it\\'s')]"
       "<|tool_call_end|>Done.",
       R"(call f {"a":"x","n":-3,"ok":true}call g {"t":"it's"}text(Done.))"},
      {"lfm2.5", "<think>why</think><|tool_call_start|>[f()]<|tool_call_end|>",
       "why(why)call f {}"},
      {"nemotron-v2",
       "<think>\nwhy\n</think>\n\n<TOOLCALL>[" + object + "]</TOOLCALL>",
       "why(why)" + kCall},
      {"functionary-v3.1", "Now<function=f>{\"a\": \"x\"}</function>",
       "text(Now)" + kCall},
      {"functionary-v3.2", "all\nHello there.>>>f\n{\"a\": \"x\"}",
       "text(Hello there.)" + kCall},
      {"plain", "  <think>why</think>\n Hello\n there. \n",
       "why(why)text(Hello\n there. \n)"},
      // Arguments before the name, and as text.
      {"hermes",
       R"(<tool_call>{"arguments": {"a": "x"}, "name": "f"}</tool_call>)",
       kCall},
      {"hermes",
       R"(<tool_call>{"name": "f", "arguments": "{\"a\": \"x\"}"}</tool_call>)",
       kCall},
      {"hermes", R"(<tool_call>{"name": "f"}</tool_call>)", "call f {}"},
      // Calls that are none.
      {"hermes", "Hm <tool_call>not so</tool_call> yes",
       "text(Hm)bad(<tool_call>not so</tool_call>)text(yes)"},
      // Within one that is none only the marks of calls count.
      {"hermes",
       "<tool_call>no<think>t</think>so<tool_call>" + object + "</tool_call>",
       "bad(<tool_call>no<think>t</think>so)" + kCall},
      {"hermes", "<tool_call>no</tool_call><think>t</think>so",
       "bad(<tool_call>no</tool_call>)why(t)text(so)"},
      {"hermes", R"(<tool_call>{"name": 7}</tool_call>)",
       R"(bad(<tool_call>{"name": 7}</tool_call>))"},
      {"hermes", R"(<tool_call>{"name": "f", "arguments": 7}</tool_call>)",
       R"(bad(<tool_call>{"name": "f", "arguments": 7}</tool_call>))"},
      {"hermes", R"(<tool_call>{"name": "f", "arguments": "{a"}</tool_call>)",
       R"(bad(<tool_call>{"name": "f", "arguments": "{a"}</tool_call>))"},
      {"hermes", R"(<tool_call>{"name": "f", "arguments": "[1]"}</tool_call>)",
       R"(bad(<tool_call>{"name": "f", "arguments": "[1]"}</tool_call>))"},
      {"hermes", R"(<tool_call>{"name": "f", "arg)",
       R"(bad(<tool_call>{"name": "f", "arg))"},
      {"glm-4.5", "<tool_call>f\n<arg_key>a</arg_key> what",
       "call bad(<tool_call>f\n<arg_key>a</arg_key> what)"},
      {"lfm2", "<|tool_call_start|>[f(a=]<|tool_call_end|>.",
       "bad(<|tool_call_start|>[f(a=]<|tool_call_end|>.)"},
      // The beginning of a possible mark.
      {"hermes", "a < b <tool", "text(a < b <tool)"},
      {"harmony", "no header", "text(no header)"},
  };
}

TEST(Replies, DoNotDependOnCuts) {
  for (const AnswerCase& answer : answers()) {
    ASSERT_NE(reply_format(answer.format), nullptr) << answer.format;
    EXPECT_EQ(parsed(answer.format, {answer.text}), answer.expected)
        << answer.format << ": " << answer.text;
    EXPECT_EQ(parsed(answer.format, bytes_of(answer.text)), answer.expected)
        << answer.format << " byte by byte: " << answer.text;
    for (size_t cut = 1; cut < answer.text.size(); ++cut) {
      EXPECT_EQ(parsed(answer.format,
                       {answer.text.substr(0, cut), answer.text.substr(cut)}),
                answer.expected)
          << answer.format << " cut at " << cut << ": " << answer.text;
    }
  }
}

// Marks and parts of calls in any order: nothing is lost or counted twice at a
// cut, whatever a model writes.
TEST(Replies, RandomRepliesDoNotDependOnCuts) {
  std::mt19937 random(7);
  const auto below = [&](size_t limit) { return random() % limit; };
  for (const ReplyFormat& format : reply_formats()) {
    std::vector<std::string_view> parts = {
        format.reasoning_begin,
        format.reasoning_end,
        format.call_begin,
        format.call_end,
        format.name_begin,
        format.id_begin,
        format.name_end,
        format.key_begin,
        format.key_end,
        format.value_begin,
        format.value_end,
        format.body_end,
        format.header_begin,
        format.header_end,
        format.dropped[0],
        format.dropped[1],
        "f",
        "{\"a\": [1, \"x\"]}",
        "{\"name\": \"f\", ",
        "\"arguments\": ",
        "{}",
        "}",
        "[",
        "]",
        " ",
        "\n",
        "<",
        "text",
        "f(a=1)",
        "call:f{a:1}",
        format.name_key,
        "\n{\"name\": \"f\", ",
        "\"parameters\": ",
        "{\"name\": \"f\", \"arguments\": {}}",
        "null",
        "\"",
        ",",
        ";",
        "\nf",
        "functions.f:0",
        "[f(",
        "True",
        "</s>"};
    std::erase(parts, std::string_view());
    for (int round = 0; round < 300; ++round) {
      std::string text;
      for (size_t i = below(12); i > 0; --i) {
        const std::string_view part = parts[below(parts.size())];
        // Some are cut off.
        text += below(8) == 0 ? part.substr(0, below(part.size())) : part;
      }
      const std::string name(format.name);
      const std::string whole = parsed(name, {text});
      EXPECT_EQ(parsed(name, bytes_of(text)), whole) << name << ": " << text;
      const size_t cut = below(text.size() + 1);
      EXPECT_EQ(parsed(name, {text.substr(0, cut), text.substr(cut)}), whole)
          << name << " cut at " << cut << ": " << text;
    }
  }
}

TEST(Replies, CoverEveryFormat) {
  const std::vector<AnswerCase> all = answers();
  for (const ReplyFormat& format : reply_formats()) {
    EXPECT_TRUE(std::any_of(
        all.begin(), all.end(),
        [&](const AnswerCase& answer) { return answer.format == format.name; }))
        << format.name;
  }
  EXPECT_EQ(reply_format("no such"), nullptr);
}

TEST(Replies, ArgumentsComePieceByPiece) {
  ReplyParser parser(*reply_format("hermes"));
  Events events;
  parser.feed(R"(<tool_call>{"name": "f", "arguments": {"a": )", &events);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].type, Type::kCallBegin);
  EXPECT_EQ(events[1].text, R"({"a": )");
  events.clear();
  parser.feed("[1, 2", &events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, "[1, 2");
}

TEST(Replies, StartInReasoningIfThePromptDoes) {
  ReplyOptions options;
  options.prompt = "<|im_start|>assistant\n<think>\n";
  EXPECT_EQ(parsed("hermes", {"why</think>so"}, options), "why(why)text(so)");
}

TEST(Replies, ArgumentsThatAreStringsStayStrings) {
  ReplyOptions options;
  options.tools = ToolTypes(parse_argument(
      R"([{"type": "function", "function": {"name": "f", "parameters":)"
      R"( {"type": "object", "properties": {"a": {"type": "string"},)"
      R"( "n": {"type": "integer"}}}}}])",
      "tools"));
  EXPECT_EQ(parsed("glm-4.5",
                   {"<tool_call>f\n<arg_key>a</arg_key><arg_value>7</arg_value>"
                    "<arg_key>n</arg_key><arg_value>7</arg_value></tool_call>"},
                   options),
            R"(call f {"a": "7", "n": 7})");
}

// Marks that are special tokens count only as these.
TEST(Replies, MarksThatAreSpecialTokensAreNotText) {
  ReplyOptions options;
  options.is_special = [](std::string_view name) {
    return name == "<tool_call>" || name == "</tool_call>" ||
           name == "<|im_end|>";
  };
  ReplyParser parser(*reply_format("hermes"), options);
  Events events;
  parser.feed("I write <tool_call> like this. ", &events);
  parser.feed_special("<tool_call>", &events);
  parser.feed(R"({"name": "f", "arguments": {"a": "x"}})", &events);
  parser.feed_special("</tool_call>", &events);
  parser.feed_special("<|im_end|>", &events);
  parser.finish(&events);
  EXPECT_EQ(shown(events), "text(I write <tool_call> like this.)" + kCall);
}

}  // namespace
}  // namespace rc::text::chat
