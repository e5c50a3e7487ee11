// Calls that a grammar makes a model write, in every format: what is drawn at
// random through the masks is read as one call that is valid, and what models
// write is allowed.
#include "text/chat/calls/call_grammar.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/chat/prompt_util.h"
#include "text/chat/replies/reply_parser.h"
#include "text/grammar/forced_tokens.h"

namespace rc::text::chat {
namespace {

using Kind = ToolChoice::Kind;
using Type = ReplyEvent::Type;
using Events = std::vector<ReplyEvent>;

const char* const kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "strict": true,
    "parameters": {
      "type": "object", "required": ["city", "days"],
      "properties": {
        "city": {"type": "string", "minLength": 1, "maxLength": 8},
        "days": {"type": "integer", "minimum": 1, "maximum": 30},
        "unit": {"type": "string", "enum": ["celsius", "kelvin"]},
        "exact": {"type": "boolean"},
        "hours": {"type": "array", "items": {"type": "integer",
                  "minimum": 0, "maximum": 23}, "maxItems": 3},
        "place": {"$ref": "#/$defs/place"}},
      "$defs": {"place": {"type": "object", "required": ["lat"],
        "additionalProperties": false,
        "properties": {"lat": {"type": "integer", "minimum": 0, "maximum": 90},
                       "of": {"type": ["string", "null"],
                              "maxLength": 4}}}}}}},
  {"type": "function", "function": {"name": "now", "strict": true}}])";

// Formats whose calls a grammar can write.
std::vector<const ReplyFormat*> formats_with_calls() {
  std::vector<const ReplyFormat*> formats;
  for (const ReplyFormat& format : reply_formats()) {
    if (format.shape != CallShape::kNone) formats.push_back(&format);
  }
  return formats;
}

// What looks like special tokens in the texts of a format.
std::vector<std::string> special_names_of(const ReplyFormat& format) {
  std::string texts;
  for (const std::string_view text :
       {format.written.section_begin, format.written.begin,
        format.written.name_end, format.written.key_begin,
        format.written.key_end, format.written.value_end, format.written.end,
        format.written.section_end, format.call_begin, format.call_end,
        format.reasoning_begin, format.reasoning_end,
        format.written.reasoning_begin, format.written.reasoning_end}) {
    texts += text;
    texts += ' ';
  }
  for (const std::string_view text : format.dropped) {
    texts += text;
    texts += ' ';
  }
  if (format.shape == CallShape::kGemma) texts += "<|\"|>";
  std::vector<std::string> names = names_in(texts);
  for (const std::string_view name :
       {"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<|\"|>",
        "<|constrain|>", "<|channel|>"}) {
    if (texts.find(name) != std::string::npos &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      names.emplace_back(name);
    }
  }
  return names;
}

// A tokenizer for which the names are control tokens, or for which nothing is.
struct World {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::string> names;
  bool is_special(std::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

World world_of(const ReplyFormat& format, bool special) {
  World world;
  world.names = {"<s>", "</s>"};
  if (special) world.names = special_names_of(format);
  world.tokenizer = tokenizer_with(world.names);
  return world;
}

JsonValue tools() { return parse_json(kTools, "tools", 100); }

std::shared_ptr<const grammar::Grammar> grammar_of(
    const ReplyFormat& format, const World& world, const ToolChoice& choice,
    const AnswerBegin& begin = {}) {
  const JsonValue list = tools();
  return call_grammar(
      format, &list, choice, begin, *world.tokenizer,
      [&](std::string_view name) { return world.is_special(name); });
}

Events read_tokens(const ReplyFormat& format, const World& world,
                   const std::vector<TokenId>& tokens,
                   std::string_view prompt = {}) {
  const JsonValue list = tools();
  ReplyParser parser(format, {.is_special =
                                  [&](std::string_view name) {
                                    return world.is_special(name);
                                  },
                              .prompt = prompt,
                              .strings = string_arguments(list)});
  Events events;
  for (const TokenId token : tokens) {
    if (world.tokenizer->token_type(token) == TokenType::kControl) {
      parser.feed_special(world.tokenizer->token_text(token), &events);
    } else {
      parser.feed(world.tokenizer->token_bytes(token), &events);
    }
  }
  parser.finish(&events);
  return events;
}

// To JSON Schema 1.0 is an integer.
bool is_int(const Json& value, double low, double high) {
  return value.is_number() && value >= low && value <= high &&
         value.get<double>() == std::floor(value.get<double>());
}

size_t characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Whether the arguments are what the schema says, as a person reads it.
std::string fault_of(const std::string& name, const Json& arguments) {
  if (!arguments.is_object()) return "no object";
  if (name == "now") return arguments.empty() ? "" : "not empty";
  if (name != "get_weather") return "no such tool";
  if (!arguments.contains("city") || !arguments.contains("days")) {
    return "required arguments are not there";
  }
  for (const auto& [key, value] : arguments.items()) {
    bool good = false;
    if (key == "city") {
      good =
          value.is_string() && characters(value) >= 1 && characters(value) <= 8;
    } else if (key == "days") {
      good = is_int(value, 1, 30);
    } else if (key == "unit") {
      good = value == "celsius" || value == "kelvin";
    } else if (key == "exact") {
      good = value.is_boolean();
    } else if (key == "hours") {
      good = value.is_array() && value.size() <= 3 &&
             std::all_of(value.begin(), value.end(),
                         [](const Json& hour) { return is_int(hour, 0, 23); });
    } else if (key == "place") {
      good = value.is_object() && value.contains("lat") &&
             is_int(value["lat"], 0, 90) &&
             value.size() == 1U + value.count("of") &&
             (!value.contains("of") || value["of"].is_null() ||
              (value["of"].is_string() && characters(value["of"]) <= 4));
    }
    if (!good) return key + ": " + value.dump();
  }
  return "";
}

// An answer at random, through masks and forced tokens.
std::vector<TokenId> drawn(const grammar::Grammar& grammar,
                           const Tokenizer& tokenizer, std::mt19937* random,
                           size_t most = 2000) {
  const auto matcher = grammar.match();
  std::vector<TokenId> tokens;
  while (tokens.size() < most && !matcher->complete()) {
    const std::span<const TokenId> all = tokens;
    const auto forced = grammar::forced_tokens(
        tokenizer, all.last(std::min(all.size(), grammar::kLastTokens)),
        matcher.get());
    for (const TokenId token : forced) {
      EXPECT_TRUE(matcher->accept(token)) << "forced";
      tokens.push_back(token);
    }
    if (!forced.empty()) continue;
    const grammar::TokenMask& mask = matcher->mask();
    std::vector<TokenId> allowed;
    for (int32_t token = 0; token < tokenizer.size(); ++token) {
      if (mask.test(token)) allowed.push_back(token);
    }
    if (allowed.empty()) {
      ADD_FAILURE() << "nothing goes on after "
                    << text_of_tokens(tokenizer, tokens);
      break;
    }
    const TokenId token = allowed[(*random)() % allowed.size()];
    EXPECT_TRUE(matcher->accept(token)) << token;
    tokens.push_back(token);
  }
  return tokens;
}

TEST(CallGrammars, DrawnAtRandomAreValidCalls) {
  std::mt19937 random(16);
  for (const ReplyFormat* format : formats_with_calls()) {
    for (const bool special : {true, false}) {
      SCOPED_TRACE(std::string(format->name) + (special ? ", special" : ""));
      const World world = world_of(*format, special);
      const auto grammar = grammar_of(*format, world, {Kind::kRequired, ""});
      size_t with_arguments = 0;
      for (int i = 0; i < 25; ++i) {
        const auto tokens = drawn(*grammar, *world.tokenizer, &random);
        const Events events = read_tokens(*format, world, tokens);
        const std::string text = text_of_tokens(*world.tokenizer, tokens);
        const auto calls = std::count_if(
            events.begin(), events.end(),
            [](const ReplyEvent& e) { return e.type == Type::kCallEnd; });
        ASSERT_EQ(calls, 1) << text;
        ASSERT_EQ(events.back().type, Type::kCallEnd) << text;
        ASSERT_EQ(events.front().type, Type::kCallBegin) << text;
        const Json arguments = Json::parse(events.back().text);
        ASSERT_EQ(fault_of(events.back().name, arguments), "") << text;
        if (!arguments.empty()) ++with_arguments;
      }
      EXPECT_GT(with_arguments, 5u);
    }
  }
}

// Whether the grammar allows the text, as the tokenizer writes it, and whether
// it may end there.
std::string refused_at(const grammar::Grammar& grammar, const World& world,
                       const std::string& text, bool* ends) {
  TokenizeOptions options;
  options.add_special = false;
  options.parse_special = true;
  const auto matcher = grammar.match();
  const auto tokens = world.tokenizer->tokenize(text, options);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool allowed = matcher->mask().test(tokens[i]);
    EXPECT_EQ(matcher->accept(tokens[i]), allowed);
    if (!allowed) {
      const std::vector<TokenId> read(tokens.begin(),
                                      tokens.begin() + static_cast<long>(i));
      return "after " + text_of_tokens(*world.tokenizer, read);
    }
  }
  *ends = matcher->can_end();
  return "";
}

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
    {"kimi-k2",
     "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:12"
     "<|tool_call_argument_begin|>{\"city\": \"Oslo\", \"days\": 3}"
     "<|tool_call_end|><|tool_calls_section_end|>"},
    {"minimax-m2",
     "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter "
     "name=\"city\">Os \"lo\"</parameter>\n<parameter "
     "name=\"days\">3</parameter>\n</invoke>\n</minimax:tool_call>"},
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
    {"smollm3",
     "<tool_call>\n{\"name\": \"now\", \"arguments\": "
     "{}}\n</tool_call>"},
};

TEST(CallGrammars, AllowWhatModelsWrite) {
  for (const auto& [name, text] : kWritten) {
    const ReplyFormat& format = *reply_format(name);
    for (const bool special : {true, false}) {
      SCOPED_TRACE(std::string(name) + (special ? ", special" : ""));
      const World world = world_of(format, special);
      bool ends = false;
      EXPECT_EQ(refused_at(*grammar_of(format, world, {Kind::kRequired, ""}),
                           world, text, &ends),
                "");
      EXPECT_TRUE(ends);
    }
  }
}

TEST(CallGrammars, OneToolMayBeTheOnlyOne) {
  const ReplyFormat& format = *reply_format("hermes");
  const World world = world_of(format, false);
  const auto grammar = grammar_of(format, world, {Kind::kRequired, "now"});
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

TEST(CallGrammars, ReasoningMayComeFirst) {
  const ReplyFormat& format = *reply_format("hermes");
  const World world = world_of(format, false);
  const std::string call =
      "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";
  const auto allows = [&](const AnswerBegin& begin, const std::string& text) {
    bool ends = false;
    const auto grammar =
        grammar_of(format, world, {Kind::kRequired, ""}, begin);
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
      refused_at(*grammar_of(harmony, channels, {Kind::kRequired, ""},
                             {.may_reason = true}),
                 channels,
                 "<|channel|>analysis<|message|>why<|end|><|start|>assistant"
                 "<|channel|>commentary to=functions.now <|constrain|>json"
                 "<|message|>{}",
                 &ends),
      "");
  EXPECT_TRUE(ends);
}

// With strict tools text is free, and what begins like a call is a valid one.
TEST(CallGrammars, StrictToolsAreCalledAsTheirSchemasSay) {
  std::mt19937 random(7);
  for (const ReplyFormat* format : formats_with_calls()) {
    SCOPED_TRACE(format->name);
    const World world = world_of(*format, true);
    if (format->name == "functionary-v3.2") {
      EXPECT_NE(message_of([&] {
                  grammar_of(*format, world, {});
                }).find("functionary-v3.2"),
                std::string::npos);
      continue;
    }
    const auto grammar = grammar_of(*format, world, {});
    ASSERT_NE(grammar, nullptr);
    bool ends = false;
    EXPECT_EQ(refused_at(*grammar, world, "Hello {\"there\": 1}. a < b", &ends),
              "");
    EXPECT_TRUE(ends);
    // From the beginning of a call on at random.
    std::string begin(format->written.begin);
    if (!format->header_begin.empty()) {
      begin = std::string(format->written.section_begin) + begin;
    }
    if (begin.empty()) begin = "{";
    TokenizeOptions options;
    options.add_special = false;
    options.parse_special = true;
    for (int i = 0; i < 5; ++i) {
      const auto matcher = grammar->match();
      auto tokens = world.tokenizer->tokenize(begin, options);
      for (const TokenId token : tokens) ASSERT_TRUE(matcher->accept(token));
      while (!matcher->can_end() && tokens.size() < 2000) {
        std::vector<TokenId> allowed;
        for (int32_t token = 0; token < world.tokenizer->size(); ++token) {
          if (matcher->mask().test(token)) allowed.push_back(token);
        }
        ASSERT_FALSE(allowed.empty());
        tokens.push_back(allowed[random() % allowed.size()]);
        ASSERT_TRUE(matcher->accept(tokens.back()));
      }
      const Events events = read_tokens(*format, world, tokens);
      const auto call = std::find_if(
          events.begin(), events.end(),
          [](const ReplyEvent& e) { return e.type == Type::kCallEnd; });
      ASSERT_NE(call, events.end()) << text_of_tokens(*world.tokenizer, tokens);
      EXPECT_EQ(fault_of(call->name, Json::parse(call->text)), "");
    }
  }
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

TEST(CallGrammars, NoneKeepsCallsOut) {
  const ReplyFormat& format = *reply_format("hermes");
  for (const bool special : {true, false}) {
    const World world = world_of(format, special);
    const auto grammar = grammar_of(format, world, {Kind::kNone, ""});
    bool ends = false;
    EXPECT_EQ(refused_at(*grammar, world, "No <tool", &ends), "");
    EXPECT_TRUE(ends);
    EXPECT_NE(refused_at(*grammar, world, "No <tool_call>", &ends), "");
  }
}

TEST(CallGrammars, FaultsAreNamed) {
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
  EXPECT_EQ(has(message(format, "[]", {Kind::kRequired, ""}), "no tools"), "");
  EXPECT_EQ(has(message(format, kTools, {Kind::kRequired, "later"}), "'later'"),
            "");
  EXPECT_EQ(has(message(*reply_format("plain"), kTools, {Kind::kRequired, ""}),
                "no way of writing calls"),
            "");
  EXPECT_EQ(has(message(*reply_format("plain"), kTools, {}), "strict"), "");
  EXPECT_EQ(message(*reply_format("plain"), kTools, {Kind::kNone, ""}), "");
  const char* const odd = R"([{"type": "function", "function": {"name": "f",
      "parameters": {"type": "object", "properties": {"a<b": {}}}}}])";
  EXPECT_EQ(has(message(*reply_format("glm-4.5"), odd, {Kind::kRequired, ""}),
                "'a<b'"),
            "");
  EXPECT_EQ(message(format, odd, {Kind::kRequired, ""}), "");
  const char* const format_keyword = R"([{"type": "function", "function": {
      "name": "f", "parameters": {"type": "object", "properties": {
        "a": {"type": "string", "format": "idn-hostname"}}}}}])";
  EXPECT_EQ(has(message(format, format_keyword, {Kind::kRequired, ""}),
                "/properties/a/format"),
            "");
  for (const char* wrong :
       {"always", "\"never\"", "{\"type\": \"function\"}", "[1]", "{"}) {
    EXPECT_EQ(has(message_of([&] { parse_tool_choice(wrong); }), "tool_choice"),
              "")
        << wrong;
  }
  EXPECT_EQ(parse_tool_choice("\"required\""), (ToolChoice{Kind::kRequired}));
  EXPECT_EQ(
      parse_tool_choice(R"({"type": "function", "function": {"name": "now"}})"),
      (ToolChoice{Kind::kRequired, "now"}));
}

}  // namespace
}  // namespace rc::text::chat
