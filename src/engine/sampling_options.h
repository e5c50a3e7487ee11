// The options by which a request chooses its tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/token.h"
#include "runcible/generate.h"

namespace rc::engine {

struct LogitBias {
  TokenId token = 0;
  float bias = 0.0f;  // added to its logit; -infinity forbids it
};

// The fields of rc_generate_options for the choice of tokens, under their
// names; the other fields are not used.
struct SamplingOptions : rc_generate_options {
  SamplingOptions();  // the defaults, with the seed RC_SEED_RANDOM
  // Keeps nothing that points to memory of the caller's.
  explicit SamplingOptions(const rc_generate_options& given);

  std::vector<LogitBias> biases;        // for logit_bias
  std::optional<std::string> breakers;  // for dry_breakers
};

// Throws RC_E_INVALID_ARGUMENT with name, value and limit.
void check(const SamplingOptions& options, int64_t vocabulary);

}  // namespace rc::engine
