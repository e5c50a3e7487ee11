// Kinds of answers that are not as their format has them, but whose meaning is
// clear: calls, or text, the same at every cut.
#include <string>
#include <vector>

#include "text/chat/reply_util.h"

namespace rc::text::chat {
namespace {

const char* const kOffered = R"([
  {"type": "function", "function": {"name": "f", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}},
  {"type": "function", "function": {"name": "now"}}])";

struct ReplyCase {
  const char* format;
  std::string answer;
  std::string expected;
  const char* tools = kOffered;
};

const std::string kParis = R"(call f {"city": "Paris"})";

void expect_at_every_cut(const std::vector<ReplyCase>& cases,
                         const std::string& prompt = "") {
  for (const ReplyCase& one : cases) {
    ReplyOptions options;
    options.prompt = prompt;
    options.tools = ToolTypes(parse_argument(one.tools, "tools"));
    ASSERT_NE(reply_format(one.format), nullptr) << one.format;
    EXPECT_EQ(parsed(one.format, {one.answer}, options), one.expected)
        << one.format << ": " << one.answer;
    EXPECT_EQ(parsed(one.format, bytes_of(one.answer), options), one.expected)
        << one.format << " byte by byte: " << one.answer;
    for (size_t cut = 1; cut < one.answer.size(); ++cut) {
      EXPECT_EQ(
          parsed(one.format,
                 {one.answer.substr(0, cut), one.answer.substr(cut)}, options),
          one.expected)
          << one.format << " cut at " << cut << ": " << one.answer;
    }
  }
}

TEST(ReplyKinds, ObjectWithoutMarksIsACallOnlyIfItsToolIsOffered) {
  const std::string person = R"({"name": "Bob", "age": 3})";
  const std::string call = R"({"name": "f", "parameters": {"city": "Paris"}})";
  expect_at_every_cut({
      {"llama3", person, "text(" + person + ")", "[]"},
      {"llama3", call, "text(" + call + ")", "[]"},
      {"llama3", person, "text(" + person + ")"},
      {"llama3", " " + person + "\n", "text( " + person + "\n)"},
      {"llama3", R"({"name": "f", "age": 3})",
       R"(text({"name": "f", "age": 3}))"},
      {"llama3", R"({"name": "f"})", R"(text({"name": "f"}))"},
      {"llama3", R"({"name": "g", "parameters": {}})",
       R"(text({"name": "g", "parameters": {}}))"},
      {"llama3", R"({"name": "f", "parameters": [1]} is wrong)",
       R"(text({"name": "f", "parameters": [1]} is wrong))"},
      {"llama3", R"({"name": "f", "parameters)",
       R"(text({"name": "f", "parameters))"},
      {"llama3", R"({"parameters": {"city": "Paris"}, "age": 3})",
       R"(text({"parameters": {"city": "Paris"}, "age": 3}))"},
      {"llama3", call, kParis},
      {"llama3", R"({"parameters": {"city": "Paris"}, "name": "f"})", kParis},
      {"llama3",
       R"({"type": "function", "name": "f", "arguments": )"
       R"({"city": "Paris"}})",
       kParis},
      {"llama3", R"({"name": "now", "parameters": {}})", "call now {}"},
      {"llama3", R"({"name": "now", "parameters": null})", "call now {}"},
      {"llama3", call + "; " + call + "\n" + call, kParis + kParis + kParis},
      {"llama3", "So: " + call, "text(So: " + call + ")"},
      {"hermes", person, "text(" + person + ")"},
      {"hermes", "{\n  \"a\": [\n{\"b\": 1}\n]\n}\n",
       "text({\n  \"a\": [\n{\"b\": 1}\n]\n}\n)"},
  });
}

TEST(ReplyKinds, ArgumentsMayBeCalledParameters) {
  for (const ReplyFormat& format : reply_formats()) {
    // Where the name is the key there is no other name for arguments.
    if (format.shape != CallShape::kObjects || format.name_key.empty())
      continue;
    const std::string begin(format.call_begin);
    const std::string end(format.call_end);
    const char* name = format.name.data();
    for (const char* key : {"arguments", "parameters"}) {
      const std::string member = std::string(", \"") + key + "\": ";
      const auto call = [&](const std::string& value) {
        return begin + "{\"" + std::string(format.name_key) + "\": \"f\"" +
               member + value + "}" + end;
      };
      expect_at_every_cut({
          {name, call(R"({"city": "Paris"})"), kParis},
          {name, call("null"), "call f {}"},
          {name, call("\"\""), "call f {}"},
          {name, call("\" \""), "call f {}"},
          {name, call("{}"), "call f {}"},
          {name, call(R"("{\"city\": \"Paris\"}")"), kParis},
          {name, call("{\"city\": \"a\nb\"}"), R"(call f {"city": "a\nb"})"},
          {name, call(R"("{\"city\": \"a\nb\"}")"),
           R"(call f {"city": "a\nb"})"},
      });
    }
  }
}

TEST(ReplyKinds, CallsWithUnexpectedMembersAreMalformed) {
  const auto bad = [](const std::string& text) { return "bad(" + text + ")"; };
  const auto hermes = [](const std::string& object) {
    return "<tool_call>" + object + "</tool_call>";
  };
  const std::string other = hermes(R"({"name": "f", "input": {"city": "P"}})");
  const std::string flat = hermes(R"({"name": "f", "city": "P"})");
  const std::string nested = hermes(R"({"type": "function", "function": )"
                                    R"({"name": "f", "arguments": {}}})");
  const std::string list = hermes(R"({"name": "f", "arguments": ["P"]})");
  const std::string twice =
      hermes(R"({"name": "f", "arguments": {"a": 1}, "parameters": {"b": 2}})");
  expect_at_every_cut({
      {"hermes", other, bad(other)},
      {"hermes", flat, bad(flat)},
      {"hermes", nested, bad(nested)},
      {"hermes", list, bad(list)},
      // The arguments that were delivered become invalid.
      {"hermes", twice, "call " + bad(twice)},
      {"hermes",
       hermes(R"({"name": "f", "arguments": null, )"
              R"("parameters": {"city": "Paris"}})"),
       kParis},
      {"hermes",
       hermes(R"({"thought": "so", "name": "f", )"
              R"("arguments": {"city": "Paris"}})"),
       kParis},
  });
}

TEST(ReplyKinds, OneBlockMayHoldSeveralCalls) {
  const std::string now = R"({"name": "now", "arguments": {}})";
  const std::string paris = R"({"name": "f", "arguments": {"city": "Paris"}})";
  const std::string both = "call now {}" + kParis;
  expect_at_every_cut({
      {"hermes", "<tool_call>\n" + now + "\n" + paris + "\n</tool_call>", both},
      {"hermes", "<tool_call>" + now + paris + "</tool_call>.",
       both + "text(.)"},
      {"hermes", "<tool_call>" + now + ",\n" + paris + "</tool_call>", both},
      {"hermes", "<tool_call>[" + now + "]\n[" + paris + "]</tool_call>", both},
      {"hermes", "<tool_call>" + now + "\n<tool_call>" + paris, both},
      {"hermes", "<tool_call>\n<tool_call>\n" + now + "\n</tool_call>",
       "call now {}"},
      {"mistral", "[TOOL_CALLS]" + now + paris + " So.", both + "text(So.)"},
      {"granite", "<|tool_call|>[" + now + "]\n[" + paris + "]", both},
      {"qwen3-coder",
       "<tool_call>\n<function=now>\n</function>\n<function=f>\n"
       "<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
       both},
      {"lfm2",
       "<|tool_call_start|>[now()]\n[f(city=\"Paris\")]"
       "<|tool_call_end|>",
       "call now {}call f {\"city\":\"Paris\"}"},
      {"gemma4",
       "<|tool_call>call:now{}call:f{city:<|\"|>Paris<|\"|>}<tool_call|>",
       "call now {}call f {\"city\":\"Paris\"}"},
  });
}

TEST(ReplyKinds, TheFirstMarkMayBeMissing) {
  const std::string paris = R"({"name": "f", "arguments": {"city": "Paris"}})";
  const std::string tagged =
      "<function=f>\n<parameter=city>\nParis\n</parameter>\n</function>";
  const std::string seen = "text(I look.)";
  expect_at_every_cut({
      {"hermes", paris + "\n</tool_call>", kParis},
      {"hermes", paris, kParis},
      {"hermes", "I look.\n" + paris + "\n</tool_call>", seen + kParis},
      // Nothing says that this is a call.
      {"hermes", "I look.\n" + paris, "text(I look.\n" + paris + ")"},
      {"hermes", "I look.\n" + paris + "\nSo.",
       "text(I look.\n" + paris + "\nSo.)"},
      {"hermes", "So.</tool_call>", "text(So.)"},
      {"hermes", paris + "\n" + paris + "</tool_call>So.",
       kParis + kParis + "text(So.)"},
      {"hermes", "<tool_call>" + paris + "</think>So.", kParis + "text(So.)"},
      {"command-r",
       R"([{"tool_name": "f", "parameters": {"city": "Paris"}}])"
       "\n```",
       kParis},
      {"command-r7b",
       R"([{"tool_name": "f", "parameters": {"city": "Paris"}}])"
       "<|END_ACTION|>",
       kParis},
      {"mistral", "[" + paris + "]", kParis},
      {"qwen3-coder", "I look.\n\n" + tagged + "\n</tool_call>", seen + kParis},
      {"qwen3-coder", "I look.\n\n" + tagged, seen + kParis},
      {"qwen3-coder", tagged + "\n" + tagged + "\nSo.",
       kParis + kParis + "text(So.)"},
      {"seed-oss", "I look.\n" + tagged + "\n</seed:tool_call>",
       seen + R"(call f {"city": "\nParis\n"})"},
      {"glm-4.5",
       "I look.\nf\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
       "</tool_call>",
       seen + kParis},
      {"kimi-k2",
       "<|tool_calls_section_begin|>functions.f:0<|tool_call_argument_begin|>"
       "{\"city\": \"Paris\"}<|tool_call_end|><|tool_calls_section_end|>",
       R"(call f#functions.f:0 {"city": "Paris"})"},
      {"mistral-v11", "I look.\nf[ARGS]{\"city\": \"Paris\"}", seen + kParis},
      {"deepseek-v3.1",
       "<｜tool▁calls▁begin｜>f<｜tool▁sep｜>{\"city\": \"Paris\"}"
       "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       kParis},
      {"deepseek-v3",
       "function<｜tool▁sep｜>f\n```json\n{\"city\": \"Paris\"}\n```"
       "<｜tool▁call▁end｜>",
       kParis},
      {"lfm2", "[f(city=\"Paris\")]<|tool_call_end|>",
       "call f {\"city\":\"Paris\"}"},
      {"lfm2", "[f(x)](link) is text", "text([f(x)](link) is text)"},
      {"lfm2", "<|tool_call_start|>[f(city=\"Paris\")]",
       "call f {\"city\":\"Paris\"}"},
      {"gemma4", "<|tool_call>call:f{city:<|\"|>Pa",
       "bad(<|tool_call>call:f{city:<|\"|>Pa)"},
      {"gemma4", "call:f{city:<|\"|>Paris<|\"|>}<tool_call|>",
       "call f {\"city\":\"Paris\"}"},
      // Parts of a call that is none.
      {"qwen3-coder", "<parameter=city>\nParis\n</parameter>\n</tool_call>So.",
       "bad(<parameter=city>\nParis\n</parameter>\n</tool_call>)text(So.)"},
      {"glm-4.5", "g\n<arg_key>a</arg_key></tool_call>",
       "text(g\n)bad(<arg_key>a</arg_key></tool_call>)"},
  });
}

TEST(ReplyKinds, ArgumentsOfANamedCallMayBeEmpty) {
  expect_at_every_cut({
      {"mistral-v11", "[TOOL_CALLS]now[ARGS]null", "call now {}"},
      {"mistral-v11", "[TOOL_CALLS]now[ARGS]\"\"", "call now {}"},
      {"mistral-v11", "[TOOL_CALLS]now[ARGS]",
       "call bad([TOOL_CALLS]now[ARGS])"},
      {"mistral-v11", R"([TOOL_CALLS]f[ARGS]"{\"city\": \"Paris\"}")", kParis},
      {"mistral-v11", "[TOOL_CALLS]f[ARGS]{\"city\": \"a\tb\"}",
       R"(call f {"city": "a\tb"})"},
      {"kimi-k2",
       "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>"
       "<|tool_call_end|>",
       "call now#functions.now:0 {}"},
      {"functionary-v3.1", "<function=now></function>So.",
       "call now {}text(So.)"},
      {"deepseek-v3",
       "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n\n"
       "```<｜tool▁call▁end｜>",
       "call now {}"},
      {"harmony",
       " to=functions.now<|channel|>commentary json<|message|>"
       "<|call|>",
       "call now {}"},
  });
}

TEST(ReplyKinds, RepeatedMarksOfReasoningAreIgnored) {
  expect_at_every_cut({
      {"hermes", "<think>\n<think>\nwhy</think>so", "why(why)text(so)"},
      {"hermes", "<think>why</think></think>\nso", "why(why)text(so)"},
      {"hermes", "so</think> it is", "text(so it is)"},
      {"plain", "<think><think>why</think>so", "why(why)text(so)"},
      {"seed-oss", "<seed:think><seed:think>why</seed:think>so",
       "why(why)text(so)"},
  });
  expect_at_every_cut({{"hermes", "<think>\nwhy</think>so", "why(why)text(so)"},
                       {"hermes", "why</think>so", "why(why)text(so)"}},
                      "<|im_start|>assistant\n<think>\n");
}

// Under a grammar that keeps calls to their schemas, others are text.
TEST(ReplyKinds, StrictModeRequiresTheMarks) {
  const std::string paris = R"({"name": "f", "arguments": {"city": "Paris"}})";
  ReplyOptions options;
  options.tools = ToolTypes(parse_argument(kOffered, "tools"));
  options.strict = true;
  const auto read = [&](const char* format, const std::string& answer) {
    return parsed(format, {answer}, options);
  };
  EXPECT_EQ(read("hermes", "<tool_call>" + paris + "</tool_call>"), kParis);
  EXPECT_EQ(read("hermes", paris), "text(" + paris + ")");
  EXPECT_EQ(read("hermes", "So\n" + paris + "</tool_call>"),
            "text(So\n" + paris + ")");
  EXPECT_EQ(read("mistral", "[TOOL_CALLS][" + paris + "]" + paris),
            kParis + "text(" + paris + ")");
  EXPECT_EQ(read("mistral-v11", "f[ARGS]{}"), "text(f)bad([ARGS]{})");
  // A grammar knows of these.
  EXPECT_EQ(read("llama3", paris), kParis);
}

// Marks that are special tokens come as these; what ends a call may also be
// text.
TEST(ReplyKinds, SpecialTokensMarkIrregularCalls) {
  ReplyOptions options;
  options.tools = ToolTypes(parse_argument(kOffered, "tools"));
  options.is_special = [](std::string_view name) {
    return name == "<tool_call>" || name == "</tool_call>";
  };
  const std::string paris = R"({"name": "f", "arguments": {"city": "Paris"}})";
  ReplyParser parser(*reply_format("hermes"), options);
  Events events;
  parser.feed_special("<tool_call>", &events);
  parser.feed(paris + "\n" + paris, &events);
  parser.feed_special("<|im_end|>", &events);
  parser.feed_special("<tool_call>", &events);
  parser.feed(paris + "</tool_call>", &events);
  parser.feed("I look.\n" + paris + "\n", &events);
  parser.feed_special("</tool_call>", &events);
  parser.finish(&events);
  EXPECT_EQ(shown(events), kParis + kParis + kParis + "text(I look.)" + kParis);
}

// Where an argument says what its value is, this holds for tools without a
// schema.
TEST(ReplyKinds, MarksGiveTheTypesOfArguments) {
  const std::string name = "<|open|>call tool=\"now\" index=\"1\"<|sep|>";
  const auto argument = [](const std::string& type, const std::string& value) {
    return "<|open|>argument key=\"a\" type=\"" + type + "\"<|sep|>" + value +
           "<|close|>argument<|sep|>";
  };
  const std::string end = "<|close|>call<|sep|>";
  const std::string invoke = "<｜DSML｜invoke name=\"now\">";
  const auto parameter = [](const std::string& is_string) {
    return "<｜DSML｜parameter name=\"a\" string=\"" + is_string +
           "\">7</｜DSML｜parameter>";
  };
  expect_at_every_cut({
      {"kimi-k3", name + argument("number", "7") + end, R"(call now {"a": 7})"},
      {"kimi-k3", name + argument("string", "7") + end,
       R"(call now {"a": "7"})"},
      {"kimi-k3", name + argument("boolean", "true") + end,
       R"(call now {"a": true})"},
      {"kimi-k3", name + argument("array", "[1, {}]") + end,
       R"(call now {"a": [1, {}]})"},
      {"kimi-k3", name + argument("null", "null") + end,
       R"(call now {"a": null})"},
      {"kimi-k3", name + end, "call now {}"},
      {"kimi-k3",
       "Hm.<|close|>think<|sep|><|open|>response<|sep|>So."
       "<|close|>response<|sep|><|open|>tools<|sep|>" +
           name + end + "<|close|>tools<|sep|><|close|>message<|sep|>",
       "text(Hm.So.)call now {}"},
      {"deepseek-v4", invoke + parameter("true") + "</｜DSML｜invoke>",
       R"(call now {"a": "7"})"},
      {"deepseek-v4", invoke + parameter("false") + "</｜DSML｜invoke>",
       R"(call now {"a": 7})"},
      {"deepseek-v3.2", invoke + parameter("false") + "</｜DSML｜invoke>",
       R"(call now {"a": 7})"},
  });
}

TEST(ReplyKinds, CdataMayContainMarks) {
  const auto call = [](const std::string& value) {
    return "<function name=\"now\"><param name=\"a\">" + value +
           "</param></function>";
  };
  expect_at_every_cut({
      {"minicpm5", call("<![CDATA[7]]>"), R"(call now {"a": "7"})"},
      {"minicpm5", call("7"), R"(call now {"a": 7})"},
      {"minicpm5", call("True"), R"(call now {"a": true})"},
      {"minicpm5", call("<![CDATA[<param>x</param>\n</function>]]>"),
       R"(call now {"a": "<param>x</param>\n</function>"})"},
      {"minicpm5", call("\n<![CDATA[]]>\n"), R"(call now {"a": ""})"},
      {"minicpm5", call("<![CDAT"), R"(call now {"a": "<![CDAT"})"},
  });
}

}  // namespace
}  // namespace rc::text::chat
