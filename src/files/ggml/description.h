// The keys tokenizer.ggml.* of a tokenizer, taken from the tree of its
// tokenizer.json.
//
// Format: the GGUF specification; the tokens of a text are those that llama.cpp
// and text/tokenizers/ compute by these keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"

namespace rc::ggml {

// Stands for a space in pieces.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

// Numbered as in tokenizer.ggml.token_type.
enum class TokenType : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

struct Description {
  std::string model;  // "gpt2", "llama", "t5", "bert"
  std::string pre = "default";
  std::vector<std::string> tokens;
  std::vector<TokenType> types;     // one per token
  std::vector<float> scores;        // one per token, or empty
  std::vector<std::string> merges;  // "left right", best first
  std::string charsmap;             // rules of SentencePiece, or empty
  std::optional<int64_t> unknown;
  std::optional<bool> add_space_prefix;
  std::optional<bool> remove_extra_whitespaces;
  std::optional<bool> lowercase;
  std::optional<bool> strip_accents;
  // Where texts have other tokens by the keys than by the tokenizer.json.
  std::vector<std::string> differences;

  // Sets a token; tokens before it that are never set are unused. Throws
  // RC_E_UNSUPPORTED for a number or a text that no token has.
  void set(int64_t id, std::string text, TokenType type);
  // Adds unused tokens up to this number.
  void fill(int64_t count);
};

// By kind. Throw RC_E_UNSUPPORTED, whose message says what the keys have no way
// to say. `model` is that of `tokenizer`.
Description describe_byte_level(const JsonValue& tokenizer,
                                const JsonValue& model);
Description describe_pieces(const JsonValue& tokenizer, const JsonValue& model);
Description describe_unigram(const JsonValue& tokenizer,
                             const JsonValue& model);
Description describe_wordpiece(const JsonValue& tokenizer,
                               const JsonValue& model);

// Of an object: a string, "" if there is none; a flag, false if there is none;
// whether a member is absent or null.
std::string_view text_in(const JsonValue& object, std::string_view name);
bool flag_in(const JsonValue& object, std::string_view name);
bool is_absent(const JsonValue& object, std::string_view name);
// A whole number, or nothing.
std::optional<int64_t> number_of(const JsonValue* value);
// The elements of a sequence, or the only one; none of nullptr.
std::vector<const JsonValue*> elements_of(const JsonValue* value,
                                          std::string_view name);
// Sets the tokens of an object of texts and numbers as normal ones.
void set_vocabulary(const JsonValue& model, Description* description);
// Sets /added_tokens: control tokens and user-defined ones.
void set_added_tokens(const JsonValue& tokenizer, Description* description);
// The pairs of /model/merges. Throws as above.
std::vector<std::pair<std::string, std::string>> merges_of(
    const JsonValue& model);

}  // namespace rc::ggml
