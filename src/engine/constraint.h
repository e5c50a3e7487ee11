// What a grammar allows one generation: the tokens that are forced, and a mask
// for the choice of the others.
//
// For one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "engine/token.h"
#include "text/grammar/grammar.h"
#include "text/tokenizer.h"

namespace rc::engine {

// Functions throw RC_E_UNSUPPORTED if the text takes more than the grammar's
// limits allow, and std::bad_alloc.
class Constraint {
 public:
  // `vocabulary` is the number of logits. The grammar was compiled for the
  // tokenizer's tokens.
  Constraint(const text::grammar::Grammar& grammar,
             std::shared_ptr<const text::Tokenizer> tokenizer,
             size_t vocabulary);

  // Whether the next token is known.
  bool forces() const { return !forced_.empty(); }
  // That token, which is part of the text from now on.
  TokenId take_forced();

  // Computes the mask for the choice of the next token.
  void compute_mask();
  // That mask, as Sampler::choose takes it.
  std::span<const uint32_t> allowed() const { return allowed_; }
  // Whether the mask allows no token, where the text may end. Throws
  // RC_E_UNSUPPORTED if it may not: no token of the vocabulary goes on.
  bool exhausted() const;
  // Adds a token that the mask allows.
  void accept(TokenId token);

  // Whether the text may end and nothing else may come.
  bool complete() { return forced_.empty() && matcher_->complete(); }

 private:
  void add(TokenId token);
  void find_forced();

  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::unique_ptr<text::grammar::Matcher> matcher_;
  std::vector<uint32_t> allowed_;
  bool any_allowed_ = false;
  std::vector<TokenId> last_;  // the last tokens of the text
  std::deque<TokenId> forced_;
};

}  // namespace rc::engine
