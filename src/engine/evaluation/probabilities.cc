#include "engine/evaluation/probabilities.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace rc::engine {

LogProbabilities::LogProbabilities(std::span<const float> logits)
    : logits_(logits) {
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] < std::numeric_limits<float>::infinity())) {
      fail(RC_E_DEVICE, "logit ", i, " is ", logits[i],
           "; the device computed nonsense");
    }
    if (logits[i] > logits[best_]) best_ = i;
  }
  most_ = logits[best_];
  if (std::isinf(most_)) {
    fail(RC_E_DEVICE, "every logit is -infinity; the device computed nonsense");
  }
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - most_);
  }
  log_sum_ = std::log(sum);
}

double divergence(const LogProbabilities& p, const LogProbabilities& q) {
  double sum = 0.0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double log_p = p.of(i);
    const double probability = std::exp(log_p);
    if (probability > 0.0) sum += probability * (log_p - q.of(i));
  }
  return std::max(sum, 0.0);
}

}  // namespace rc::engine
