#include "rocm/found_library.h"

#include <cstdlib>
#include <utility>

#include "base/cat.h"

namespace rc::rocm {

FoundLibrary find_library(const char* variable,
                          std::span<const char* const> names) {
  const char* const given = std::getenv(variable);
  const bool is_given = given != nullptr && *given != '\0';
  FoundLibrary failed;
  for (const char* const name : is_given ? std::span(&given, 1) : names) {
    rc::Library library = rc::Library::load(name);
    if (library.is_loaded()) return {std::move(library), name, ""};
    const std::string& reason = library.failure();
    // One that is there but cannot find another library says most.
    const bool is_there =
        !reason.empty() && !reason.starts_with(cat(name, ":"));
    if (failed.name.empty() || is_there) {
      failed.name = name;
      failed.failure = reason.empty() ? "no reason given" : reason;
    }
    if (is_there) break;
  }
  return failed;
}

}  // namespace rc::rocm
