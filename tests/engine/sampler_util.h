// Options and logits for tests of samplers.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "engine/logit.h"
#include "engine/sampler.h"

namespace rc::engine {

// Every stage off: draws from the softmax of the logits.
inline SamplingOptions plain(uint64_t seed = 1) {
  SamplingOptions options;
  options.seed = seed;
  options.temperature = 1.0f;
  options.top_k = 0;
  options.top_p = 1.0f;
  options.min_p = 0.0f;
  options.penalty_tokens = 0;
  return options;
}

inline SamplingOptions greedy() {
  SamplingOptions options = plain();
  options.temperature = 0.0f;
  return options;
}

inline TokenId once(const SamplingOptions& options,
                    const std::vector<float>& logits,
                    const std::vector<TokenId>& history = {}) {
  return Sampler(options, logits.size()).choose(logits, history);
}

inline std::vector<float> random_logits(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 2.0f);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

// The share of each token in many draws.
inline std::map<TokenId, double> shares(const SamplingOptions& options,
                                        const std::vector<float>& logits,
                                        int draws = 10000) {
  Sampler sampler(options, logits.size());
  std::map<TokenId, double> result;
  for (int i = 0; i < draws; ++i) {
    result[sampler.choose(logits, {})] += 1.0 / draws;
  }
  return result;
}

}  // namespace rc::engine
