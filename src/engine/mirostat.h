// Mirostat: keeps the surprise of what is chosen near a target, by Basu et al.
// 2021, arXiv:2007.14966.
//
// Surprise is in bits: the negative logarithm, to the base 2, of a token's
// probability, before any token was left out.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/sampling_options.h"

namespace rc::engine {

// One for each request, so for one thread at a time.
class Mirostat {
 public:
  explicit Mirostat(const SamplingOptions& options)
      : version_(options.mirostat),
        target_(options.mirostat_tau),
        rate_(options.mirostat_eta),
        looked_at_(static_cast<size_t>(options.mirostat_m)),
        most_(2.0 * options.mirostat_tau) {}

  int version() const { return version_; }
  // The most surprise that is allowed now.
  double most() const { return most_; }

  // Version 1: how many tokens to choose among, at least 1, by the exponent of
  // Zipf's law that the `best` logits follow, which fall and are divided by the
  // temperature.
  size_t count(std::span<const double> best, size_t vocabulary) const;

  // Learns from the surprise of the token that was chosen.
  void learn(double surprise) { most_ -= rate_ * (surprise - target_); }

  // Returns the number of logits that count() looks at.
  size_t looked_at() const { return looked_at_ + 1; }

 private:
  int version_;
  double target_;
  double rate_;
  size_t looked_at_;  // quotients of neighbours
  double most_;
};

}  // namespace rc::engine
