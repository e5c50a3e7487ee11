// Logarithms of the probabilities of tokens, as requests report them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/softmax.h"
#include "engine/token.h"

namespace rc::engine {

// A token and the natural logarithm of its probability.
struct TokenLogprob {
  TokenId token = -1;
  float logprob = 0.0f;
};

// Logarithms of probabilities of a softmax over `logits`.
class Logprobs {
 public:
  // Throws as Sampler::choose.
  explicit Logprobs(std::span<const float> logits);
  TokenLogprob of(TokenId token) const;
  // Appends the `count` most probable by falling probability, lower id first
  // among equals. A smaller vocabulary is filled up with token -1 and logprob
  // -infinity.
  void append_top(size_t count, std::vector<TokenLogprob>* target) const;

 private:
  Softmax softmax_;
  double log_sum_;  // of exp(logit)
};

}  // namespace rc::engine
