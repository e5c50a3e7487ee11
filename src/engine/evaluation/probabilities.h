// Probabilities of tokens from a row of logits, in double: as accurate as the
// logits are.
#pragma once

#include <cstddef>
#include <span>

namespace rc::engine {

// The logarithms of the probabilities of a row: x - max - log(sum(exp(x -
// max))). Keeps a view of the logits.
class LogProbabilities {
 public:
  // Throws RC_E_DEVICE if a logit is not a number or +infinity, or all are
  // -infinity.
  explicit LogProbabilities(std::span<const float> logits);

  size_t size() const { return logits_.size(); }
  double of(size_t token) const {
    // Not less their sum: that would be rounded where logits are large.
    return static_cast<double>(logits_[token]) - most_ - log_sum_;
  }
  // The most probable token, the first among equals.
  size_t best() const { return best_; }

 private:
  std::span<const float> logits_;
  size_t best_ = 0;
  double most_ = 0.0;
  double log_sum_ = 0.0;  // log(sum(exp(x - most)))
};

// The Kullback-Leibler divergence of `q` from `p`: the sum of p (log p - log
// q), in nats. Never below 0; infinite if q has no room for what p has.
double divergence(const LogProbabilities& p, const LogProbabilities& q);

}  // namespace rc::engine
