#include "text/chat/shared_prefix.h"

#include <algorithm>
#include <string>

namespace rc::text::chat {
namespace {

// Tokens as the bytes they stand for.
class Spelling {
 public:
  Spelling(const Tokenizer& tokenizer, std::span<const TokenId> tokens)
      : tokenizer_(tokenizer), tokens_(tokens) {}

  size_t at() const { return at_; }
  bool ended() const { return at_ == tokens_.size(); }
  TokenId token() const { return tokens_[at_]; }
  // Whether the token is more than its bytes, or may be, or is no token.
  bool is_special() const {
    if (token() < 0) return true;
    const TokenType type = tokenizer_.token_type(token());
    return type == TokenType::kControl || type == TokenType::kUnknown ||
           type == TokenType::kUserDefined;
  }
  void skip() { ++at_; }
  std::string take() { return tokenizer_.token_bytes(tokens_[at_++]); }

 private:
  const Tokenizer& tokenizer_;
  std::span<const TokenId> tokens_;
  size_t at_ = 0;
};

}  // namespace

SharedPrefix shared_prefix(const Tokenizer& tokenizer,
                           std::span<const TokenId> session,
                           std::span<const TokenId> prompt) {
  const auto [first, second] = std::mismatch(session.begin(), session.end(),
                                             prompt.begin(), prompt.end());
  const auto same = static_cast<size_t>(first - session.begin());
  Spelling there(tokenizer, session.subspan(same));
  Spelling wanted(tokenizer, prompt.subspan(same));
  SharedPrefix shared = {same, same};
  // Bytes that only one of the two has spelt so far.
  std::string ahead;
  bool there_is_ahead = false;
  for (;;) {
    if (ahead.empty()) {
      shared = {same + there.at(), same + wanted.at()};
      if (there.ended() || wanted.ended()) return shared;
      if (there.is_special() || wanted.is_special()) {
        if (there.token() != wanted.token()) return shared;
        there.skip();
        wanted.skip();
        continue;
      }
      ahead = there.take();
      there_is_ahead = true;
      if (ahead.empty()) return shared;
      continue;
    }
    Spelling& behind = there_is_ahead ? wanted : there;
    if (behind.ended() || behind.is_special()) return shared;
    std::string bytes = behind.take();
    const size_t common = std::min(bytes.size(), ahead.size());
    if (common == 0 || bytes.compare(0, common, ahead, 0, common) != 0) {
      return shared;
    }
    if (bytes.size() > ahead.size()) {
      there_is_ahead = !there_is_ahead;
      ahead = bytes.substr(common);
    } else {
      ahead.erase(0, common);
    }
  }
}

}  // namespace rc::text::chat
