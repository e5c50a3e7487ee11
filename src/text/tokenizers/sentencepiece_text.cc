#include "text/tokenizers/sentencepiece_text.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/hex_digit.h"

namespace rc::text {

SentencePieceNormalizer::SentencePieceNormalizer(const Vocabulary& vocabulary,
                                                 bool add_space_prefix)
    : charsmap_(vocabulary.charsmap, vocabulary.source),
      add_space_prefix_(add_space_prefix),
      remove_extra_whitespaces_(
          vocabulary.remove_extra_whitespaces.value_or(false)) {}

PreparedText SentencePieceNormalizer::normalize(
    std::string_view text, std::span<const FixedPart> fixed, bool at_start,
    StopCheck* stop) const {
  PreparedText result;
  std::string& out = result.text;
  out.reserve(text.size() + text.size() / 2 + kSpaceMark.size());
  // A space is dropped after another one, and at the start.
  bool after_space = at_start;
  if (at_start && add_space_prefix_) out = kSpaceMark;
  for (size_t at = 0; at < text.size();) {
    stop->step();
    // Text that a rule has replaced is no token any more.
    while (!fixed.empty() && fixed[0].place.begin < at) {
      fixed = fixed.subspan(1);
    }
    const bool is_fixed = !fixed.empty() && fixed[0].place.begin == at;
    std::string_view chars;
    if (is_fixed) {
      chars = text.substr(at, fixed[0].place.end - at);
      at += chars.size();
    } else if (const auto rule = charsmap_.longest(text.substr(at))) {
      chars = rule->text;
      at += rule->size;
    } else {
      chars = text.substr(at, decode_utf8(text.substr(at)).size);
      at += chars.size();
    }
    const size_t begin = out.size();
    for (const char c : chars) {
      const bool space = c == ' ';
      if (space && after_space && remove_extra_whitespaces_) continue;
      if (space) {
        out += kSpaceMark;
      } else {
        out += c;
      }
      after_space = space;
    }
    if (is_fixed) result.fixed.push_back({{begin, out.size()}, fixed[0].id});
  }
  if (remove_extra_whitespaces_) {
    while (out.ends_with(kSpaceMark)) {
      out.resize(out.size() - kSpaceMark.size());
    }
    while (!result.fixed.empty() &&
           result.fixed.back().place.end > out.size()) {
      result.fixed.pop_back();
    }
  }
  return result;
}

bool SentencePieceNormalizer::shortens() const {
  return remove_extra_whitespaces_ || !charsmap_.empty();
}

ByteFallback::ByteFallback(const Vocabulary& vocabulary)
    : unknown_(vocabulary.unknown) {
  bytes_.fill(kNoToken);
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (vocabulary.type(id) != TokenType::kByte) continue;
    const int byte = parse_byte_token(vocabulary.tokens[i]);
    if (byte >= 0) bytes_[static_cast<size_t>(byte)] = id;
  }
  complete_ = std::find(bytes_.begin(), bytes_.end(), kNoToken) == bytes_.end();
}

void ByteFallback::append(std::string_view text, bool* after_unknown,
                          std::vector<TokenId>* out) const {
  if (complete_) {
    for (const char c : text) out->push_back(bytes_[static_cast<uint8_t>(c)]);
  } else if (unknown_ != kNoToken && !*after_unknown) {
    out->push_back(unknown_);
  }
  *after_unknown = true;
}

int parse_byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const int high = hex_digit(text[3]);
  const int low = hex_digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

std::string mark_spaces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ') {
      out += kSpaceMark;
    } else {
      out += c;
    }
  }
  return out;
}

std::string decode_piece(std::string_view piece, TokenType type) {
  if (type == TokenType::kByte) {
    const int byte = parse_byte_token(piece);
    if (byte >= 0) return std::string(1, static_cast<char>(byte));
  }
  std::string out;
  out.reserve(piece.size());
  while (!piece.empty()) {
    if (piece.starts_with(kSpaceMark)) {
      out += ' ';
      piece.remove_prefix(kSpaceMark.size());
    } else {
      out += piece[0];
      piece.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace rc::text
