#include "base/environment.h"

#include <cstdlib>

namespace rc {

std::optional<std::string> environment(const char* name) {
  auto value = environment_as_it_is(name);
  if (value && value->empty()) return std::nullopt;
  return value;
}

std::optional<std::string> environment_folder(const char* name) {
  auto value = environment(name);
  if (value && value->front() != '/') return std::nullopt;
  return value;
}

std::optional<std::string> environment_as_it_is(const char* name) {
#ifdef __GLIBC__
  const char* value = secure_getenv(name);
#else
  const char* value = std::getenv(name);
#endif
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace rc
