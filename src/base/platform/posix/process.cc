#include "base/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/cat.h"

extern char** environ;

namespace rc {

int64_t process_id() noexcept { return ::getpid(); }

std::vector<std::string> environment_entries() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

std::optional<uint64_t> address_space_limit() noexcept {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

std::string resource_limits() {
  std::string text;
  for (const int resource : {RLIMIT_AS, RLIMIT_DATA, RLIMIT_NPROC}) {
    rlimit limit = {};
    getrlimit(resource, &limit);
    text += cat("limit ", resource, " ", limit.rlim_cur, "; ");
  }
  return text;
}

}  // namespace rc
