#include "engine/constraint.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/grammar/forced_tokens.h"

namespace rc::engine {

Constraint::Constraint(const text::grammar::Grammar& grammar,
                       std::shared_ptr<const text::Tokenizer> tokenizer,
                       size_t vocabulary)
    : tokenizer_(std::move(tokenizer)),
      matcher_(grammar.match()),
      allowed_(vocabulary / 32 + 1) {
  find_forced();
}

TokenId Constraint::take_forced() {
  const TokenId token = forced_.front();
  add(token);
  forced_.pop_front();
  return token;
}

void Constraint::compute_mask() {
  matcher_->mask().copy_to(allowed_);
  any_allowed_ = std::any_of(allowed_.begin(), allowed_.end(),
                             [](uint32_t word) { return word != 0; });
}

bool Constraint::exhausted() const {
  if (any_allowed_) return false;
  if (matcher_->can_end()) return true;
  fail(
      RC_E_UNSUPPORTED,
      "no token of the vocabulary goes on with the text as the grammar has it, "
      "and it may not end here");
}

void Constraint::accept(TokenId token) {
  add(token);
  find_forced();
}

void Constraint::add(TokenId token) {
  if (!matcher_->accept(token)) {
    fail(RC_E_INTERNAL, "token ", token, " is not what the grammar allows");
  }
  if (last_.size() == text::grammar::kLastTokens) last_.erase(last_.begin());
  last_.push_back(token);
}

void Constraint::find_forced() {
  const std::vector<TokenId> tokens =
      text::grammar::forced_tokens(*tokenizer_, last_, matcher_.get());
  forced_.assign(tokens.begin(), tokens.end());
}

}  // namespace rc::engine
