#include "api/configured.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "api/guard.h"
#include "api/options.h"
#include "api/settings.h"
#include "base/config/settings.h"
#include "base/error.h"
#include "files/convert.h"

namespace rc::api {
namespace {

using config::Settings;

template <class T>
constexpr T kUnset = RC_UNSET_INT32;
template <>
constexpr int64_t kUnset<int64_t> = RC_UNSET_INT64;
template <>
constexpr uint64_t kUnset<uint64_t> = RC_UNSET_UINT64;
template <>
constexpr float kUnset<float> = RC_UNSET_FLOAT;

template <class T>
bool is_unset(T value) {
  return value == kUnset<T>;
}

// Whether a header from before RC_UNSET_INT32 made a struct of this size.
template <class Options>
constexpr bool is_from_before(size_t size) {
  return size <= offsetof(Options, ignore_configuration);
}

// The size by the header of the caller.
template <class Options>
size_t size_of(const Options* given) {
  size_t size = sizeof(Options);
  if (given != nullptr) std::memcpy(&size, given, sizeof(size));
  return size;
}

template <class Options>
Options read(const Options* given) {
  Options options =
      read_options(given, Configurable<Options>::kInitial, "options");
  need_flag(options.ignore_configuration, "options->ignore_configuration");
  if (is_from_before<Options>(size_of(given))) {
    each_setting<Options>([&](const auto& each) {
      auto& member = options.*each.member;
      if (member == Configurable<Options>::kDefaults.*each.member) {
        member = kUnset<std::remove_reference_t<decltype(member)>>;
      }
    });
  }
  return options;
}

// nullptr: nothing is configured for these options.
template <class Options>
std::shared_ptr<const Settings> settings_for(
    const Options& options, std::shared_ptr<const Settings> (*settings)(),
    const char* table) {
  if (options.ignore_configuration != 0) return nullptr;
  auto made = settings();
  return made->touches(table) ? made : nullptr;
}

int32_t number_of_choice(const config::Key& key,
                         const std::array<int32_t, 4>& numbers,
                         std::string_view text) {
  std::string_view rest = key.choices;
  for (const int32_t number : numbers) {
    const size_t end = rest.find(", ");
    if (rest.substr(0, end) == text) return number;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 2);
  }
  fail(RC_E_INTERNAL, key.name, ": there is no number for '", text, "'");
}

// Numbers have been checked to fit when the settings was made.
template <class Options, class T>
std::optional<T> configured_value(const Setting<Options, T>& each,
                                  const Settings& settings) {
  const config::Key& key = *config::find_key(each.key);
  std::optional<T> value;
  if (key.kind == config::Kind::kReal) {
    if (const auto found = settings.real(each.key)) {
      value = static_cast<T>(*found);
    }
  } else if (key.kind == config::Kind::kFlag) {
    if (const auto found = settings.flag(each.key)) {
      value = static_cast<T>(*found ? 1 : 0);
    }
  } else if (key.kind == config::Kind::kChoice) {
    if (const auto found = settings.text(each.key)) {
      value = static_cast<T>(number_of_choice(key, each.choices, *found));
    }
  } else if (const auto found = settings.integer(each.key)) {
    value = static_cast<T>(*found);
  }
  return value;
}

// Gives every member that is unset its configured value, else its default.
template <class Options>
void settle(const Settings* settings, Options& options) {
  each_setting<Options>([&](const auto& each) {
    auto& member = options.*each.member;
    if (!is_unset(member)) return;
    member = Configurable<Options>::kDefaults.*each.member;
    if (settings == nullptr) return;
    if (const auto value = configured_value(each, *settings)) member = *value;
  });
}

bool is_on(int32_t flag) { return !is_unset(flag) && flag != 0; }

void take_quantize(const Settings& settings, rc_model_options& options,
                   std::string& type) {
  constexpr const char* kName = "model.quantize";
  type = settings.text(kName).value_or("");
  if (type.empty()) return;
  try {
    check_conversion({.type = type});
  } catch (const Error& error) {
    fail(error.status(), settings.subject(kName), ": ", error.message());
  }
  options.quantize = type.c_str();
}

// Sets a member that is unset.
void leave_out(int32_t& member) {
  if (is_unset(member)) member = 0;
}

template <class Options>
void initialise_sized(Options* options, size_t size) noexcept {
  initialise(options, size,
             is_from_before<Options>(size) ? Configurable<Options>::kDefaults
                                           : Configurable<Options>::kInitial);
}

}  // namespace

rc_backend_options configured(const rc_backend_options* given) {
  rc_backend_options options = read(given);
  settle(settings_for(options, Settings::now, "backend.").get(), options);
  return options;
}

rc_model_options configured(const rc_model_options* given, std::string& type,
                            bool& is_cache_dtype_open) {
  rc_model_options options = read(given);
  if (is_from_before<rc_model_options>(size_of(given)) &&
      options.quantize != nullptr && *options.quantize == '\0') {
    options.quantize = nullptr;
  }
  const auto settings = settings_for(options, Settings::now, "model.");
  // A choice of the call rules out what is configured against it: weights that
  // are quantized are not mapped.
  const bool maps = is_on(options.keep_mapped) || is_on(options.experts_mapped);
  if (options.quantize != nullptr && *options.quantize != '\0') {
    leave_out(options.keep_mapped);
    leave_out(options.experts_mapped);
  }
  // Options that belong to another choice are left out without it.
  const int32_t guard = options.guard_mapped;
  const int32_t resident = options.resident_experts;
  is_cache_dtype_open =
      is_unset(options.cache_dtype) &&
      (settings == nullptr || !settings->text("model.cache_dtype"));
  settle(settings.get(), options);
  if (options.keep_mapped == 0 && options.experts_mapped == 0 &&
      is_unset(guard)) {
    options.guard_mapped = 0;
  }
  if (options.experts_mapped == 0 && is_unset(resident)) {
    options.resident_experts = 0;
  }
  if (settings != nullptr && !maps && options.quantize == nullptr) {
    take_quantize(*settings, options, type);
  }
  return options;
}

rc_session_options configured(const rc_session_options* given, int64_t most) {
  rc_session_options options = read(given);
  const bool own_context = !is_unset(options.context_length);
  const bool own_keep = !is_unset(options.keep_tokens);
  settle(settings_for(options, Settings::last, "session.").get(), options);
  // A configured value is for models of all sizes.
  if (!own_context) {
    options.context_length = std::min(options.context_length, most);
  }
  if (!own_keep) {
    const int64_t context =
        options.context_length > 0 ? options.context_length : most;
    // A shift leaves room for two more.
    options.keep_tokens = std::clamp<int64_t>(
        options.keep_tokens, 0, std::max<int64_t>(context - 2, 0));
  }
  return options;
}

rc_generate_options configured(const rc_generate_options* given,
                               std::string& breakers) {
  rc_generate_options options = read(given);
  const auto settings = settings_for(options, Settings::last, "generate.");
  settle(settings.get(), options);
  if (options.dry_breakers == nullptr && settings != nullptr) {
    if (const auto text = settings->text("generate.dry_breakers")) {
      breakers = *text;
      options.dry_breakers = breakers.c_str();
    }
  }
  return options;
}

void initialise_options(rc_backend_options* options, size_t size) noexcept {
  initialise_sized(options, size);
}
void initialise_options(rc_model_options* options, size_t size) noexcept {
  initialise_sized(options, size);
}
void initialise_options(rc_session_options* options, size_t size) noexcept {
  initialise_sized(options, size);
}
void initialise_options(rc_generate_options* options, size_t size) noexcept {
  initialise_sized(options, size);
}

template <class Options>
GivenOptions<Options>::GivenOptions(const Options* given)
    : options(read(given)), known(options) {
  known.ignore_configuration = 1;
}
template struct GivenOptions<rc_backend_options>;
template struct GivenOptions<rc_model_options>;

}  // namespace rc::api
