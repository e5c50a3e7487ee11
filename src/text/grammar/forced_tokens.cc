#include "text/grammar/forced_tokens.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace rc::text::grammar {
namespace {

// Lets a matcher read on, and takes it back in the end.
class LookAhead {
 public:
  explicit LookAhead(Matcher* matcher) : matcher_(*matcher) {}
  ~LookAhead() { go_back_to(0); }
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  bool read(std::string_view bytes) {
    const bool allowed = matcher_.accept_bytes(bytes);
    if (allowed) ++count_;
    return allowed;
  }
  // To where `count` texts had been read.
  void go_back_to(size_t count) {
    matcher_.rollback(count_ - count);
    count_ = count;
  }

 private:
  Matcher& matcher_;
  size_t count_ = 0;
};

// Whether a token that begins with the text, and is longer, may have its rest
// where the matcher is.
bool may_go_on(const TokenTrie& trie, std::string_view text, Matcher* matcher) {
  const std::vector<TokenTrie::Node>& nodes = trie.nodes();
  const size_t at = trie.find(text);
  if (at == nodes.size()) return false;
  LookAhead ahead(matcher);
  for (size_t i = at + 1; i < nodes[at].end;) {
    const TokenTrie::Node& node = nodes[i];
    ahead.go_back_to(node.depth - text.size() - 1);
    const char byte = static_cast<char>(node.byte);
    if (!ahead.read({&byte, 1})) {
      i = node.end;
      continue;
    }
    if (node.tokens >= 0) return true;
    ++i;
  }
  return false;
}

// The tokens of the text from `begin` on; none if no token begins there, and
// only those that stand for their bytes exactly.
std::vector<int32_t> tokens_from(const Tokenizer& tokenizer,
                                 const VocabularyIndex& vocabulary,
                                 std::string_view text, size_t begin) {
  TokenizeOptions options;
  options.add_special = false;
  options.continues = true;
  const std::vector<TokenId> all = tokenizer.tokenize(text, options);
  size_t at = 0;
  size_t first = 0;
  while (first < all.size() && at < begin) {
    at += vocabulary.text(all[first++]).size();
  }
  if (at != begin) return {};
  size_t last = first;
  for (; last < all.size(); ++last) {
    const std::string& bytes = vocabulary.text(all[last]);
    if (bytes.empty() || !text.substr(at).starts_with(bytes)) break;
    at += bytes.size();
  }
  return {all.begin() + static_cast<ptrdiff_t>(first),
          all.begin() + static_cast<ptrdiff_t>(last)};
}

// The special token that a text begins with; none if there is no such token.
std::vector<int32_t> special_token(const VocabularyIndex& vocabulary,
                                   std::string_view text) {
  const size_t end = text.find(kSpecialMark, 1);
  if (end == text.npos) return {};
  const TokenTrie& trie = vocabulary.all();
  const size_t at = trie.find(text.substr(0, end + 1));
  std::vector<int32_t> tokens;
  if (at < trie.nodes().size()) {
    trie.for_each(trie.nodes()[at],
                  [&](int32_t token) { tokens.assign(1, token); });
  }
  return tokens;
}

}  // namespace

// Tokens before a place where one ends do not depend on what comes after it:
// pieces are only ever joined to their neighbours. So what is the same for
// every place where the last token of the forced text, or the one that goes
// beyond it, may begin, is the same for every text that may follow.
std::vector<int32_t> forced_tokens(const Tokenizer& tokenizer,
                                   std::span<const int32_t> last,
                                   Matcher* matcher) {
  std::string forced = matcher->forced();
  if (forced.empty()) return {};
  const VocabularyIndex& vocabulary = matcher->vocabulary();
  if (forced[0] == kSpecialMark) return special_token(vocabulary, forced);
  forced.resize(std::min(forced.size(), forced.find(kSpecialMark)));
  std::string text;
  // Text before a special token has no effect on the text after it.
  for (const int32_t token : last) {
    const std::string& bytes = vocabulary.text(token);
    if (bytes.starts_with(kSpecialMark)) {
      text.clear();
    } else {
      text += bytes;
    }
  }
  const size_t begin = text.size();
  text += forced;
  std::vector<int32_t> tokens = tokens_from(tokenizer, vocabulary, text, begin);
  LookAhead ahead(matcher);
  if (!ahead.read(forced)) return {};
  const TokenTrie& trie = vocabulary.all();
  const size_t longest = std::min(trie.max_depth(), forced.size());
  for (size_t at = text.size() - longest; at < text.size(); ++at) {
    if (tokens.empty()) break;
    const std::string_view whole = text;
    if (!may_go_on(trie, whole.substr(at), matcher)) continue;
    const std::vector<int32_t> others =
        tokens_from(tokenizer, vocabulary, whole.substr(0, at), begin);
    const auto differ = std::mismatch(tokens.begin(), tokens.end(),
                                      others.begin(), others.end());
    tokens.erase(differ.first, tokens.end());
  }
  return tokens;
}

}  // namespace rc::text::grammar
