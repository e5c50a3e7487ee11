// Calls that a grammar makes a model write, in every format: what is drawn at
// random through the masks is read as one call that is valid.
#include "text/chat/calls/call_grammar.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/chat/call_grammar_util.h"
#include "text/grammar/forced_tokens.h"

namespace rc::text::chat {
namespace {

using ChoiceKind = ToolChoice::Kind;
using Type = ReplyEvent::Type;

// To JSON Schema 1.0 is an integer.
bool is_int(const Json& value, double low, double high) {
  return value.is_number() && value >= low && value <= high &&
         value.get<double>() == std::floor(value.get<double>());
}

size_t length_in_characters(const std::string& text) {
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
      good = value.is_string() && length_in_characters(value) >= 1 &&
             length_in_characters(value) <= 8;
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
    } else if (key == "note") {
      good = value.is_null() ||
             (value.is_string() && length_in_characters(value) <= 4);
    } else if (key == "place") {
      good =
          value.is_object() && value.contains("lat") &&
          is_int(value["lat"], 0, 90) &&
          value.size() == 1U + value.count("of") &&
          (!value.contains("of") || value["of"].is_null() ||
           (value["of"].is_string() && length_in_characters(value["of"]) <= 4));
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

TEST(CallGrammars, RandomTextsAreValidCalls) {
  std::mt19937 random(16);
  for (const ReplyFormat* format : formats_with_calls()) {
    for (const bool special : {true, false}) {
      SCOPED_TRACE(std::string(format->name) + (special ? ", special" : ""));
      const World world = world_of(*format, special);
      const auto grammar =
          grammar_of(*format, world, {ChoiceKind::kRequired, ""});
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

// The parser reads back each name that a grammar forces.
TEST(CallGrammars, NamesRoundTrip) {
  std::mt19937 random(3);
  for (const std::string name : {"a/b", "a.b", "functions.a", "functions.", "-",
                                 "a-b", "1", "lésen", "to", "call"}) {
    JsonValue list = parse_json(
        R"([{"type": "function", "function": {"name": ")" + name + R"("}}])",
        "tools", 100);
    for (const ReplyFormat* format : formats_with_calls()) {
      SCOPED_TRACE(name + " in " + std::string(format->name));
      const World world = world_of(*format, true);
      const auto is_special = [&](std::string_view text) {
        return world.is_special(text);
      };
      const auto grammar =
          call_grammar(*format, &list, {ChoiceKind::kRequired, ""}, {},
                       *world.tokenizer, is_special);
      const auto tokens = drawn(*grammar, *world.tokenizer, &random);
      const Events events = read_tokens(*format, world, tokens, {}, list);
      const std::string text = text_of_tokens(*world.tokenizer, tokens);
      ASSERT_FALSE(events.empty()) << text;
      EXPECT_EQ(events.back().type, Type::kCallEnd) << text;
      EXPECT_EQ(events.back().name, name) << text;
    }
  }
}

// With strict tools text is free, and what begins like a call is a valid one.
TEST(CallGrammars, StrictToolsFollowTheirSchemas) {
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

}  // namespace
}  // namespace rc::text::chat
