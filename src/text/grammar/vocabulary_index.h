// A vocabulary as masks are computed from it; shared by all grammars.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/grammar/token_mask.h"
#include "text/grammar/token_trie.h"
#include "text/grammar/token_vocabulary.h"

namespace rc::text::grammar {

// Never changes after it was made: any thread may use it.
//
// Most tokens are plain within a JSON string: whole characters, none of them a
// quote, a backslash or a control character. Where a string may be anything,
// they need not be looked at one by one.
class VocabularyIndex {
 public:
  // Plain tokens of more characters than this are looked at one by one.
  static constexpr size_t kMaxPlain = 24;
  // Longer tokens, in bytes, are in no text.
  static constexpr size_t kMaxToken = 1 << 15;

  explicit VocabularyIndex(TokenVocabulary vocabulary);
  VocabularyIndex(const VocabularyIndex&) = delete;
  VocabularyIndex& operator=(const VocabularyIndex&) = delete;

  const std::string& name() const { return vocabulary_.name; }
  bool names_special() const { return vocabulary_.names_special; }
  // Whether a mask of the one is a mask of the other: same tokens, same ends.
  bool same_tokens(const VocabularyIndex& other) const;

  size_t size() const { return vocabulary_.tokens.size(); }
  const std::string& text(int32_t token) const {
    return vocabulary_.tokens[static_cast<size_t>(token)];
  }
  const std::vector<int32_t>& ends() const { return vocabulary_.ends; }
  bool is_end(int32_t token) const;

  // All tokens.
  const TokenTrie& all() const { return all_; }
  // Those that may stand within a string that may be anything.
  const TokenMask& content() const { return content_; }
  // Plain ones of at most so many characters, up to kMaxPlain.
  const TokenMask& plain(size_t characters) const { return plain_[characters]; }
  // Tokens without a quote that are not plain, or too long for plain().
  const TokenTrie& odd() const { return odd_; }

  // Tokens with a quote, by what comes before the first one: nothing,
  const TokenTrie& quote_first() const { return quote_first_; }
  // something plain, of which only what comes from the quote on is kept,
  const TokenTrie& quote_tails() const { return quote_tails_; }
  // the same with all of it,
  const TokenTrie& quote_later() const { return quote_later_; }
  // or something else.
  const TokenTrie& quote_odd() const { return quote_odd_; }
  // Of quote_later() those with three quotes, which may end a key and hold
  // another one.
  const TokenTrie& quote_keys() const { return quote_keys_; }

 private:
  TokenVocabulary vocabulary_;
  TokenTrie all_;
  TokenMask content_;
  std::vector<TokenMask> plain_;
  TokenTrie odd_;
  TokenTrie quote_first_;
  TokenTrie quote_tails_;
  TokenTrie quote_later_;
  TokenTrie quote_odd_;
  TokenTrie quote_keys_;
};

}  // namespace rc::text::grammar
