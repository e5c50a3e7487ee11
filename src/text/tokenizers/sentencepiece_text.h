// Code that the two SentencePiece kinds share: preparing text, tokens for
// single bytes, and the way back.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/span.h"
#include "text/tokenizer.h"
#include "text/tokenizers/charsmap.h"

namespace rc::text {

// U+2581, which stands for a space within pieces.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

// A part of a text that is a token.
struct FixedPart {
  Span place;
  TokenId id;
};

// A text as pieces are looked for in it, and what is a token already.
struct PreparedText {
  std::string text;
  std::vector<FixedPart> fixed;  // in order
};

// Applies the rules of the file, puts a space before the text if asked to, and
// marks spaces. Ill-formed bytes stay as they are.
class SentencePieceNormalizer {
 public:
  SentencePieceNormalizer(const Vocabulary& vocabulary, bool add_space_prefix);
  // To the parts of `fixed`, in order, no rules are applied.
  PreparedText normalize(std::string_view text,
                         std::span<const FixedPart> fixed, bool at_start,
                         StopCheck* stop) const;
  // Whether a text may become shorter by it.
  bool shortens() const;

 private:
  Charsmap charsmap_;
  bool add_space_prefix_;
  bool remove_extra_whitespaces_;
};

// Tokens for what has no piece: its bytes, or the unknown token.
class ByteFallback {
 public:
  explicit ByteFallback(const Vocabulary& vocabulary);
  // Appends tokens for `text`. Of neighbouring unknown parts, all but the first
  // add nothing; `*after_unknown` carries this from call to call.
  void append(std::string_view text, bool* after_unknown,
              std::vector<TokenId>* out) const;
  // Whether there is a token for every byte.
  bool complete() const { return complete_; }

 private:
  std::array<TokenId, 256> bytes_;
  bool complete_;
  TokenId unknown_;
};

// The byte that <0xNN> stands for, or -1.
int parse_byte_token(std::string_view text);

// The bytes of a piece: a byte token's byte; else with spaces for the marks.
std::string decode_piece(std::string_view piece, TokenType type);

// The text with marks for its spaces.
std::string mark_spaces(std::string_view text);

}  // namespace rc::text
