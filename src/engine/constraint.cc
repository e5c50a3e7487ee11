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
      allowed_(vocabulary / 32 + 1) {}

void Constraint::advance() {
  if (stage_ == Stage::kAccept) {
    add(accepted_);
    stage_ = Stage::kForce;
  }
  if (stage_ == Stage::kForce) {
    const std::vector<TokenId> tokens =
        text::grammar::forced_tokens(*tokenizer_, last_, matcher_.get());
    forced_.assign(tokens.begin(), tokens.end());
    added_ = 0;
    stage_ = Stage::kAddForced;
  }
  if (stage_ == Stage::kAddForced) {
    for (; added_ < forced_.size(); ++added_) add(forced_[added_]);
    stage_ = Stage::kEnd;
  }
  if (stage_ == Stage::kEnd) {
    complete_ = matcher_->complete();
    stage_ = Stage::kKnown;
  }
}

void Constraint::compute_mask() {
  advance();
  if (masked_ || forces() || complete_) return;
  matcher_->mask().copy_to(allowed_);
  any_allowed_ = std::any_of(allowed_.begin(), allowed_.end(),
                             [](uint32_t word) { return word != 0; });
  masked_ = true;
}

TokenId Constraint::take_forced() {
  const TokenId token = forced_.front();
  forced_.pop_front();
  return token;
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
  accepted_ = token;
  stage_ = Stage::kAccept;
  masked_ = false;
}

void Constraint::add(TokenId token) {
  if (!matcher_->accept(token)) {
    fail(RC_E_INTERNAL, "token ", token, " is not what the grammar allows");
  }
  if (last_.size() == text::grammar::kLastTokens) last_.erase(last_.begin());
  last_.push_back(token);
}

}  // namespace rc::engine
