#include "api/configured.h"

#include <algorithm>
#include <type_traits>

#include "base/config/account.h"
#include "base/error.h"
#include "files/convert.h"
#include "runtime/device.h"

namespace rc::api {
namespace {

using config::Account;

// Numbers have been checked to fit when the account was made.
template <class T>
void take(const Account& account, const char* name, T& member, T initial) {
  if (member != initial) return;
  if constexpr (std::is_floating_point_v<T>) {
    if (const auto value = account.real(name)) member = static_cast<T>(*value);
  } else {
    if (const auto value = account.integer(name)) {
      member = static_cast<T>(*value);
    }
  }
}

void take_flag(const Account& account, const char* name, int32_t& member,
               int32_t initial) {
  if (member != initial) return;
  if (const auto value = account.flag(name)) member = *value ? 1 : 0;
}

// By the order of the choices, as in the enumeration.
void take_output(const Account& account, rc_output& member) {
  if (member != RC_OUTPUT_AUTO) return;
  const auto value = account.text("model.output");
  if (!value) return;
  member = *value == "logits"        ? RC_OUTPUT_LOGITS
           : *value == "hidden_rows" ? RC_OUTPUT_HIDDEN_ROWS
           : *value == "scores"      ? RC_OUTPUT_SCORES
                                     : RC_OUTPUT_AUTO;
}

void take_placement(const Account& account, int32_t& member) {
  if (member != RC_PLACEMENT_BY_SPEC) return;
  const auto value = account.text("backend.placement");
  if (!value) return;
  member = *value == "first"     ? RC_PLACEMENT_FIRST
           : *value == "each_op" ? RC_PLACEMENT_EACH_OP
                                 : RC_PLACEMENT_BY_SPEC;
}

void take_cache_dtype(const Account& account, rc_dtype& member) {
  if (member != RC_DTYPE_F16) return;
  const auto value = account.text("model.cache_dtype");
  if (!value) return;
  member = *value == "f32"    ? RC_DTYPE_F32
           : *value == "q8_0" ? RC_DTYPE_Q8_0
                              : RC_DTYPE_F16;
}

void take_quantize(const Account& account, rc_model_options& options,
                   std::string& type) {
  constexpr const char* kName = "model.quantize";
  if (options.quantize != nullptr && *options.quantize != '\0') return;
  type = account.text(kName).value_or("");
  if (type.empty()) return;
  try {
    check_conversion({.type = type});
  } catch (const Error& error) {
    fail(error.status(), account.subject(kName), ": ", error.message());
  }
  options.quantize = type.c_str();
}

}  // namespace

rc_backend_options configured(rc_backend_options options) {
  const auto account = Account::now();
  if (!account->touches("backend.")) return options;
  const rc_backend_options initial = RC_BACKEND_OPTIONS_INIT;
#define RC_TAKE(NAME) \
  take(*account, "backend." #NAME, options.NAME, initial.NAME)
  RC_TAKE(required_memory);
  RC_TAKE(memory_limit);
  RC_TAKE(threads);
  RC_TAKE(max_requests);
  RC_TAKE(timeout_ms);
#undef RC_TAKE
  take_flag(*account, "backend.strict", options.strict, initial.strict);
  take_flag(*account, "backend.profile", options.profile, initial.profile);
  take_placement(*account, options.placement);
  take_flag(*account, "backend.measure", options.measure, initial.measure);
  if (options.numa == initial.numa) {
    options.numa = runtime::numa_of(account->text("backend.numa").value_or(""));
  }
  return options;
}

rc_model_options configured(rc_model_options options, std::string& type) {
  const auto account = Account::now();
  if (!account->touches("model.")) return options;
  const rc_model_options initial = RC_MODEL_OPTIONS_INIT;
  take(*account, "model.context_length", options.context_length,
       initial.context_length);
  take(*account, "model.cache_tokens", options.cache_tokens,
       initial.cache_tokens);
  take(*account, "model.max_rows", options.max_rows, initial.max_rows);
  take_cache_dtype(*account, options.cache_dtype);
  take_output(*account, options.output);
  take_flag(*account, "model.prefix_cache", options.prefix_cache,
            initial.prefix_cache);
  // What a call asks for itself rules out what is configured against it:
  // weights that are quantized are not mapped.
  const bool quantized =
      options.quantize != nullptr && *options.quantize != '\0';
  const bool mapped = options.keep_mapped != 0 || options.experts_mapped != 0;
  if (!quantized) {
    take_flag(*account, "model.keep_mapped", options.keep_mapped, 0);
    take_flag(*account, "model.experts_mapped", options.experts_mapped, 0);
  }
  if (!mapped) take_quantize(*account, options, type);
  // And what goes with a choice is left out without it.
  if (options.keep_mapped != 0 || options.experts_mapped != 0) {
    take_flag(*account, "model.guard_mapped", options.guard_mapped, 0);
  }
  if (options.experts_mapped != 0) {
    take(*account, "model.resident_experts", options.resident_experts, 0);
  }
  return options;
}

rc_session_options configured(rc_session_options options, int64_t most) {
  const auto account = Account::last();
  if (!account->touches("session.")) return options;
  const rc_session_options initial = RC_SESSION_OPTIONS_INIT;
  // One that was configured is for models of all sizes.
  if (options.context_length == initial.context_length) {
    options.context_length =
        std::min(account->integer("session.context_length").value_or(0), most);
  }
  if (options.when_full == initial.when_full &&
      account->text("session.when_full") == "shift") {
    options.when_full = RC_FULL_SHIFT;
  }
  if (options.keep_tokens == initial.keep_tokens) {
    const int64_t context =
        options.context_length > 0 ? options.context_length : most;
    // A shift leaves room for two more.
    options.keep_tokens =
        std::clamp<int64_t>(account->integer("session.keep_tokens").value_or(0),
                            0, std::max<int64_t>(context - 2, 0));
  }
  return options;
}

rc_generate_options configured(rc_generate_options options,
                               std::string& breakers) {
  const auto account = Account::last();
  if (!account->touches("generate.")) return options;
  const rc_generate_options initial = RC_GENERATE_OPTIONS_INIT;
#define RC_TAKE(NAME) \
  take(*account, "generate." #NAME, options.NAME, initial.NAME)
  RC_TAKE(max_tokens);
  RC_TAKE(deadline_ms);
  RC_TAKE(priority);
  RC_TAKE(seed);
  RC_TAKE(temperature);
  RC_TAKE(top_k);
  RC_TAKE(top_p);
  RC_TAKE(min_p);
  RC_TAKE(typical_p);
  RC_TAKE(top_n_sigma);
  RC_TAKE(penalty_tokens);
  RC_TAKE(repetition_penalty);
  RC_TAKE(presence_penalty);
  RC_TAKE(frequency_penalty);
  RC_TAKE(dry_multiplier);
  RC_TAKE(dry_base);
  RC_TAKE(dry_allowed_length);
  RC_TAKE(dry_tokens);
  RC_TAKE(xtc_probability);
  RC_TAKE(xtc_threshold);
  RC_TAKE(dynamic_temperature_range);
  RC_TAKE(dynamic_temperature_exponent);
  RC_TAKE(mirostat);
  RC_TAKE(mirostat_tau);
  RC_TAKE(mirostat_eta);
  RC_TAKE(mirostat_m);
#undef RC_TAKE
  if (options.dry_breakers == nullptr) {
    if (const auto text = account->text("generate.dry_breakers")) {
      breakers = *text;
      options.dry_breakers = breakers.c_str();
    }
  }
  return options;
}

}  // namespace rc::api
