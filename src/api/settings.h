// The members of options that may be configured, and what configured() has to
// know of their structs. Texts are not among them: they need memory.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "base/config/defaults.h"

namespace rc::api {

// A member and the key of its setting.
template <class Options, class T>
struct Setting {
  const char* key;
  T Options::*member;
  // The numbers of a choice, in the order of config::Key::choices.
  std::array<int32_t, 4> choices;
};

template <class Options, class T>
constexpr Setting<Options, T> make_setting(
    const char* key, T Options::*member, std::array<int32_t, 4> choices = {}) {
  return {key, member, choices};
}

#define RC_SETTING(TABLE, MEMBER) \
  make_setting(#TABLE "." #MEMBER, &rc_##TABLE##_options::MEMBER)
#define RC_CHOICE(TABLE, MEMBER, ...) \
  make_setting(#TABLE "." #MEMBER, &rc_##TABLE##_options::MEMBER, {__VA_ARGS__})

inline constexpr auto kBackendSettings = std::make_tuple(
    RC_SETTING(backend, required_memory), RC_SETTING(backend, memory_limit),
    RC_SETTING(backend, threads), RC_SETTING(backend, max_requests),
    RC_SETTING(backend, timeout_ms), RC_SETTING(backend, strict),
    RC_SETTING(backend, profile),
    RC_CHOICE(backend, placement, RC_PLACEMENT_BY_SPEC, RC_PLACEMENT_FIRST,
              RC_PLACEMENT_EACH_OP),
    RC_SETTING(backend, measure),
    RC_CHOICE(backend, numa, RC_NUMA_AUTO, RC_NUMA_OFF, RC_NUMA_INTERLEAVE,
              RC_NUMA_LOCAL));

inline constexpr auto kModelSettings = std::make_tuple(
    RC_SETTING(model, context_length), RC_SETTING(model, cache_tokens),
    RC_CHOICE(model, cache_dtype, RC_DTYPE_F16, RC_DTYPE_F32, RC_DTYPE_Q8_0),
    RC_SETTING(model, max_rows), RC_SETTING(model, prefix_cache),
    RC_SETTING(model, keep_mapped), RC_SETTING(model, guard_mapped),
    RC_CHOICE(model, output, RC_OUTPUT_AUTO, RC_OUTPUT_LOGITS,
              RC_OUTPUT_HIDDEN_ROWS, RC_OUTPUT_SCORES),
    RC_SETTING(model, experts_mapped), RC_SETTING(model, resident_experts),
    RC_SETTING(model, fit));

inline constexpr auto kSessionSettings =
    std::make_tuple(RC_SETTING(session, context_length),
                    RC_CHOICE(session, when_full, RC_FULL_ERROR, RC_FULL_SHIFT),
                    RC_SETTING(session, keep_tokens));

inline constexpr auto kGenerateSettings = std::make_tuple(
    RC_SETTING(generate, max_tokens), RC_SETTING(generate, deadline_ms),
    RC_SETTING(generate, priority), RC_SETTING(generate, seed),
    RC_SETTING(generate, temperature), RC_SETTING(generate, top_k),
    RC_SETTING(generate, top_p), RC_SETTING(generate, min_p),
    RC_SETTING(generate, typical_p), RC_SETTING(generate, top_n_sigma),
    RC_SETTING(generate, penalty_tokens),
    RC_SETTING(generate, repetition_penalty),
    RC_SETTING(generate, presence_penalty),
    RC_SETTING(generate, frequency_penalty),
    RC_SETTING(generate, dry_multiplier), RC_SETTING(generate, dry_base),
    RC_SETTING(generate, dry_allowed_length), RC_SETTING(generate, dry_tokens),
    RC_SETTING(generate, xtc_probability), RC_SETTING(generate, xtc_threshold),
    RC_SETTING(generate, dynamic_temperature_range),
    RC_SETTING(generate, dynamic_temperature_exponent),
    RC_SETTING(generate, mirostat), RC_SETTING(generate, mirostat_tau),
    RC_SETTING(generate, mirostat_eta), RC_SETTING(generate, mirostat_m));
#undef RC_CHOICE
#undef RC_SETTING

// The unset members, the defaults and the settings of a struct.
template <class Options>
struct Configurable;
template <>
struct Configurable<rc_backend_options> {
  static constexpr rc_backend_options kInitial = RC_BACKEND_OPTIONS_INIT;
  static constexpr const rc_backend_options& kDefaults =
      config::kBackendDefaults;
  static constexpr const auto& kSettings = kBackendSettings;
};
template <>
struct Configurable<rc_model_options> {
  static constexpr rc_model_options kInitial = RC_MODEL_OPTIONS_INIT;
  static constexpr const rc_model_options& kDefaults = config::kModelDefaults;
  static constexpr const auto& kSettings = kModelSettings;
};
template <>
struct Configurable<rc_session_options> {
  static constexpr rc_session_options kInitial = RC_SESSION_OPTIONS_INIT;
  static constexpr const rc_session_options& kDefaults =
      config::kSessionDefaults;
  static constexpr const auto& kSettings = kSessionSettings;
};
template <>
struct Configurable<rc_generate_options> {
  static constexpr rc_generate_options kInitial = RC_GENERATE_OPTIONS_INIT;
  static constexpr const rc_generate_options& kDefaults =
      config::kGenerateDefaults;
  static constexpr const auto& kSettings = kGenerateSettings;
};

// Calls `visit` with each Setting of the struct.
template <class Options, class Visit>
void each_setting(Visit&& visit) {
  std::apply([&](const auto&... each) { (visit(each), ...); },
             Configurable<Options>::kSettings);
}

}  // namespace rc::api
