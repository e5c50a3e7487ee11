#include "text/grammar/vocabulary_index.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "text/grammar/text_decoder.h"

namespace rc::text::grammar {
namespace {

// The number of characters if the text is plain.
std::optional<size_t> plain_characters(std::string_view text) {
  size_t characters = 0;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (c.state != Utf8::kValid || c.code_point < 0x20 || c.code_point == '"' ||
        c.code_point == '\\') {
      return std::nullopt;
    }
    text.remove_prefix(c.size);
    ++characters;
  }
  return characters;
}

bool is_content(std::string_view text) {
  PartialChar partial;
  char32_t c = 0;
  for (const char byte : text) {
    if (byte == '"' && partial.none()) return false;
    if (decode_string_byte(static_cast<uint8_t>(byte), &partial, &c) ==
        Decoded::kInvalid) {
      return false;
    }
    const CharRanges possible = possible_chars(partial);
    if (std::all_of(possible.ranges.begin(), possible.ranges.end(),
                    [](const CharRanges::Range& range) {
                      return range.low > range.high ||
                             CharSet::of(range.low, range.high).empty();
                    })) {
      return false;
    }
  }
  return true;
}

}  // namespace

VocabularyIndex::VocabularyIndex(TokenVocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)),
      content_(size()),
      plain_(kMaxPlain + 1, TokenMask(size())) {
  for (const int32_t token : vocabulary_.ends) {
    if (token < 0 || static_cast<size_t>(token) >= size()) {
      fail(RC_E_INVALID_ARGUMENT, "vocabulary: the end token ", token,
           " is not one of the ", size(), " tokens");
    }
  }
  for (std::string& token : vocabulary_.tokens) {
    if (token.size() > kMaxToken) token.clear();
  }
  std::vector<TokenTrie::Entry> all, odd, first, tails, later, quote_odd,
      quote_keys;
  for (size_t i = 0; i < size(); ++i) {
    const std::string_view text = vocabulary_.tokens[i];
    const auto token = static_cast<int32_t>(i);
    if (text.empty() || is_end(token)) continue;
    all.emplace_back(text, token);
    if (is_content(text)) content_.set(token);
    const size_t quote = text.find('"');
    const std::optional<size_t> plain = plain_characters(text.substr(0, quote));
    if (quote == std::string_view::npos) {
      if (plain) {
        for (size_t k = *plain; k < plain_.size(); ++k) plain_[k].set(token);
      }
      if (!plain || *plain > kMaxPlain) odd.emplace_back(text, token);
    } else if (quote == 0) {
      first.emplace_back(text, token);
    } else if (plain) {
      tails.emplace_back(text.substr(quote), token);
      later.emplace_back(text, token);
      if (std::count(text.begin(), text.end(), '"') >= 3) {
        quote_keys.emplace_back(text, token);
      }
    } else {
      quote_odd.emplace_back(text, token);
    }
  }
  all_ = TokenTrie(std::move(all));
  odd_ = TokenTrie(std::move(odd));
  quote_first_ = TokenTrie(std::move(first));
  quote_tails_ = TokenTrie(std::move(tails));
  quote_later_ = TokenTrie(std::move(later));
  quote_odd_ = TokenTrie(std::move(quote_odd));
  quote_keys_ = TokenTrie(std::move(quote_keys));
}

bool VocabularyIndex::same_tokens(const VocabularyIndex& other) const {
  return this == &other || (vocabulary_.tokens == other.vocabulary_.tokens &&
                            vocabulary_.ends == other.vocabulary_.ends);
}

bool VocabularyIndex::is_end(int32_t token) const {
  return std::find(vocabulary_.ends.begin(), vocabulary_.ends.end(), token) !=
         vocabulary_.ends.end();
}

}  // namespace rc::text::grammar
