// The defaults of the options that a user may configure: the values that hold
// where neither the program nor the user sets one. They equal the `initial`
// values of the keys, which tests/api/configured_test.cc checks.
#pragma once

#include "runcible/generate.h"

namespace rc::config {

constexpr rc_backend_options make_backend_defaults() {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.required_memory = 0;
  options.memory_limit = 0;
  options.threads = 0;
  options.max_requests = 0;
  options.timeout_ms = 0;
  options.strict = 0;
  options.profile = 0;
  options.placement = RC_PLACEMENT_BY_SPEC;
  options.measure = 1;
  options.numa = RC_NUMA_AUTO;
  return options;
}

constexpr rc_model_options make_model_defaults() {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = 0;
  options.cache_tokens = 0;
  options.cache_dtype = RC_DTYPE_F16;
  options.max_rows = 0;
  options.prefix_cache = 1;
  options.keep_mapped = 0;
  options.guard_mapped = 0;
  options.output = RC_OUTPUT_AUTO;
  options.experts_mapped = 0;
  options.resident_experts = 0;
  options.fit = 0;
  options.quantize = nullptr;
  return options;
}

constexpr rc_session_options make_session_defaults() {
  rc_session_options options = RC_SESSION_OPTIONS_INIT;
  options.context_length = 0;
  options.when_full = RC_FULL_ERROR;
  options.keep_tokens = 0;
  return options;
}

constexpr rc_generate_options make_generate_defaults() {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.max_tokens = -1;
  options.deadline_ms = 0;
  options.priority = 0;
  options.seed = RC_SEED_RANDOM;
  options.temperature = 0.8f;
  options.top_k = 40;
  options.top_p = 0.95f;
  options.min_p = 0.05f;
  options.typical_p = 1.0f;
  options.top_n_sigma = 0.0f;
  options.penalty_tokens = 64;
  options.repetition_penalty = 1.0f;
  options.presence_penalty = 0.0f;
  options.frequency_penalty = 0.0f;
  options.dry_multiplier = 0.0f;
  options.dry_base = 1.75f;
  options.dry_allowed_length = 2;
  options.dry_tokens = -1;
  options.dry_breakers = nullptr;
  options.xtc_probability = 0.0f;
  options.xtc_threshold = 0.1f;
  options.dynamic_temperature_range = 0.0f;
  options.dynamic_temperature_exponent = 1.0f;
  options.mirostat = 0;
  options.mirostat_tau = 5.0f;
  options.mirostat_eta = 0.1f;
  options.mirostat_m = 100;
  return options;
}

inline constexpr rc_backend_options kBackendDefaults = make_backend_defaults();
inline constexpr rc_model_options kModelDefaults = make_model_defaults();
inline constexpr rc_session_options kSessionDefaults = make_session_defaults();
inline constexpr rc_generate_options kGenerateDefaults =
    make_generate_defaults();

}  // namespace rc::config
