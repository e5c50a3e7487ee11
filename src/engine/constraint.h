// The tokens that a grammar allows one generation: those that are forced, and a
// mask for the choice of the others.
//
// For one thread at a time. Long work is done in slices by advance() and
// compute_mask(), everything else at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/token.h"
#include "text/grammar/grammar.h"
#include "text/tokenizer.h"

namespace rc::engine {

class Constraint {
 public:
  using Work = text::grammar::Work;

  // `vocabulary` is the number of logits. The grammar was compiled for the
  // tokenizer's tokens.
  Constraint(const text::grammar::Grammar& grammar,
             std::shared_ptr<const text::Tokenizer> tokenizer,
             size_t vocabulary);

  // The work for the text so far; advance() and compute_mask() do a slice of it
  // where one was begun.
  Work& work() { return matcher_->work(); }
  // Finds out which tokens are forced next and whether the text is complete
  // with them. Throws RC_E_UNSUPPORTED if the text takes more than the
  // grammar's limits or Work allow, std::bad_alloc, and what functions of a
  // matcher throw in a slice; then it is to be called again.
  void advance();
  // Whether it is found out.
  bool known() const { return stage_ == Stage::kKnown; }
  // The same; then computes the mask for the choice of the next token, unless
  // that is forced or the text is complete.
  void compute_mask();

  // Requires: known(). Whether the next token is known.
  bool forces() const { return !forced_.empty(); }
  // That token, which is part of the text from now on.
  TokenId take_forced();
  // Requires: known(). Whether the text may end and nothing else may come.
  bool complete() const { return forced_.empty() && complete_; }

  // Requires: compute_mask() has returned. The mask, as Sampler::choose takes
  // it.
  std::span<const uint32_t> allowed() const { return allowed_; }
  // Whether the mask allows no token, where the text may end. Throws
  // RC_E_UNSUPPORTED if it may not: no token of the vocabulary goes on.
  bool exhausted() const;
  // Adds a token that the mask allows; advance() is to be called then.
  void accept(TokenId token);

 private:
  enum class Stage : uint8_t { kAccept, kForce, kAddForced, kEnd, kKnown };

  void add(TokenId token);

  std::shared_ptr<const text::Tokenizer> tokenizer_;
  // After all tokens of the text and those that are forced next, once it is
  // known.
  std::unique_ptr<text::grammar::Matcher> matcher_;
  Stage stage_ = Stage::kForce;
  TokenId accepted_ = 0;
  size_t added_ = 0;  // of the forced tokens
  bool complete_ = false;
  bool masked_ = false;
  std::vector<uint32_t> allowed_;
  bool any_allowed_ = false;
  std::vector<TokenId> last_;  // the last tokens of the text
  std::deque<TokenId> forced_;
};

}  // namespace rc::engine
