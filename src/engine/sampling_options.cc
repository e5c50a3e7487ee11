#include "engine/sampling_options.h"

#include <cmath>

#include "base/config/defaults.h"
#include "base/error.h"
#include "engine/logit.h"

namespace rc::engine {
namespace {

void check_range(const char* name, float value, float low, bool low_allowed,
                 float high) {
  const bool fits = (low_allowed ? value >= low : value > low) && value <= high;
  if (!fits) {
    fail(RC_E_INVALID_ARGUMENT, name, " is ", value, "; it must be ",
         low_allowed ? "at least " : "greater than ", low,
         high == kLargest ? std::string(" and finite")
                          : cat(" and at most ", high));
  }
}

void check_finite(const char* name, float value) {
  if (!std::isfinite(value)) {
    fail(RC_E_INVALID_ARGUMENT, name, " is ", value, "; it must be finite");
  }
}

void check_at_least(const char* name, int32_t value, int32_t least) {
  if (value >= least) return;
  fail(RC_E_INVALID_ARGUMENT, name, " is ", value, "; it must be at least ",
       least);
}

}  // namespace

SamplingOptions::SamplingOptions()
    : rc_generate_options(config::kGenerateDefaults) {}

SamplingOptions::SamplingOptions(const rc_generate_options& given)
    : rc_generate_options(given) {
  for (size_t i = 0; i < logit_bias_count; ++i) {
    biases.push_back({logit_bias_tokens[i], logit_bias[i]});
  }
  prompt = nullptr;
  prompt_tokens = nullptr;
  logit_bias_tokens = nullptr;
  logit_bias = nullptr;
  stop = nullptr;
  stop_tokens = nullptr;
  grammar = nullptr;
  tool_choice = nullptr;
  response_format = nullptr;
  if (dry_breakers != nullptr) breakers = dry_breakers;
  dry_breakers = nullptr;
}

void check(const SamplingOptions& options, int64_t vocabulary) {
  check_range("temperature", options.temperature, 0.0f, true, kLargest);
  if (options.top_k < 0) {
    fail(RC_E_INVALID_ARGUMENT, "top_k is ", options.top_k,
         "; it must be at least 0, which means off");
  }
  check_range("top_p", options.top_p, 0.0f, false, 1.0f);
  check_range("min_p", options.min_p, 0.0f, true, 1.0f);
  check_range("typical_p", options.typical_p, 0.0f, false, 1.0f);
  check_range("top_n_sigma", options.top_n_sigma, 0.0f, true, kLargest);
  if (options.penalty_tokens < -1) {
    fail(RC_E_INVALID_ARGUMENT, "penalty_tokens is ", options.penalty_tokens,
         "; it must be a number of tokens, 0 for none or -1 for all");
  }
  check_range("repetition_penalty", options.repetition_penalty, 0.0f, false,
              kLargest);
  check_finite("presence_penalty", options.presence_penalty);
  check_finite("frequency_penalty", options.frequency_penalty);
  check_range("dry_multiplier", options.dry_multiplier, 0.0f, true, kLargest);
  check_range("dry_base", options.dry_base, 1.0f, true, kLargest);
  check_at_least("dry_allowed_length", options.dry_allowed_length, 1);
  check_at_least("dry_tokens", options.dry_tokens, -1);
  check_range("xtc_probability", options.xtc_probability, 0.0f, true, 1.0f);
  check_range("xtc_threshold", options.xtc_threshold, 0.0f, true, 1.0f);
  check_range("dynamic_temperature_range", options.dynamic_temperature_range,
              0.0f, true, kLargest);
  check_range("dynamic_temperature_exponent",
              options.dynamic_temperature_exponent, 0.0f, false, kLargest);
  if (options.mirostat < 0 || options.mirostat > 2) {
    fail(RC_E_INVALID_ARGUMENT, "mirostat is ", options.mirostat,
         "; it must be version 1 or 2, or 0, which means off");
  }
  check_range("mirostat_tau", options.mirostat_tau, 0.0f, false, kLargest);
  check_range("mirostat_eta", options.mirostat_eta, 0.0f, true, 1.0f);
  check_at_least("mirostat_m", options.mirostat_m, 2);
  for (size_t i = 0; i < options.biases.size(); ++i) {
    const auto& [token, bias] = options.biases[i];
    if (token < 0 || token >= vocabulary) {
      fail(RC_E_INVALID_ARGUMENT, "logit_bias_tokens[", i, "] is ", token,
           "; the vocabulary has ", vocabulary, " tokens");
    }
    // Minus infinity forbids a token.
    if (!(bias < kInfinity)) {
      fail(RC_E_INVALID_ARGUMENT, "logit_bias[", i, "] is ", bias,
           "; it must be finite or -infinity");
    }
  }
}

}  // namespace rc::engine
