// Grammars of calls, for tests: two tools, tokenizers for a format, and what is
// read of tokens.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/calls/call_grammar.h"
#include "text/chat/derived_util.h"
#include "text/chat/prompt_util.h"
#include "text/chat/replies/reply_parser.h"

namespace rc::text::chat {

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
        "note": {"anyOf": [{"type": "string", "maxLength": 4},
                           {"type": "null"}]},
        "place": {"$ref": "#/$defs/place"}},
      "$defs": {"place": {"type": "object", "required": ["lat"],
        "additionalProperties": false,
        "properties": {"lat": {"type": "integer", "minimum": 0, "maximum": 90},
                       "of": {"type": ["string", "null"],
                              "maxLength": 4}}}}}}},
  {"type": "function", "function": {"name": "now", "strict": true}}])";

// Formats whose calls a grammar can write.
inline std::vector<const ReplyFormat*> formats_with_calls() {
  std::vector<const ReplyFormat*> formats;
  for (const ReplyFormat& format : reply_formats()) {
    if (format.shape != CallShape::kNone) formats.push_back(&format);
  }
  for (const ReplyFormat* format : derived_formats()) {
    formats.push_back(format);
  }
  return formats;
}

// Returns the names of special tokens in the texts of a format.
inline std::vector<std::string> special_names_of(const ReplyFormat& format) {
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
  // Elements have any names, which no tokens have.
  if (format.shape == CallShape::kElements) std::erase(names, "</invoke>");
  for (const std::string_view name :
       {"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<|\"|>",
        "<|constrain|>", "<|channel|>", "]<]minimax[>["}) {
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

inline World world_of(const ReplyFormat& format, bool special) {
  World world;
  world.names = {"<s>", "</s>"};
  if (special) world.names = special_names_of(format);
  world.tokenizer = tokenizer_with(world.names);
  return world;
}

inline JsonValue tools() { return parse_json(kTools, "tools", 100); }

inline std::shared_ptr<const grammar::Grammar> grammar_of(
    const ReplyFormat& format, const World& world, const ToolChoice& choice,
    const AnswerBegin& begin = {}) {
  const JsonValue list = tools();
  return call_grammar(
      format, &list, choice, begin, *world.tokenizer,
      [&](std::string_view name) { return world.is_special(name); });
}

inline Events read_tokens(const ReplyFormat& format, const World& world,
                          const std::vector<TokenId>& tokens,
                          std::string_view prompt = {},
                          const JsonValue& list = tools()) {
  ReplyParser parser(format, {.is_special =
                                  [&](std::string_view name) {
                                    return world.is_special(name);
                                  },
                              .prompt = prompt,
                              .tools = ToolTypes(list)});
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

// Whether the grammar allows the text, as the tokenizer writes it, and whether
// it may end there.
inline std::string refused_at(const grammar::Grammar& grammar,
                              const World& world, const std::string& text,
                              bool* ends) {
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

}  // namespace rc::text::chat
