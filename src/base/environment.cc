#include "base/environment.h"

#include <charconv>
#include <cstdlib>

#include "base/error.h"

namespace rc {

std::optional<std::string> environment(const char* name) {
#ifdef __GLIBC__
  const char* value = secure_getenv(name);
#else
  const char* value = std::getenv(name);
#endif
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<int64_t> environment_integer(const char* name, int64_t minimum,
                                           int64_t maximum) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || rest != end || number < minimum ||
      number > maximum) {
    fail(RC_E_INVALID_ARGUMENT, "the environment variable ", name, " is \"",
         *text, "\"; it must be a number from ", minimum, " to ", maximum);
  }
  return number;
}

}  // namespace rc
