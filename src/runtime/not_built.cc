#include "runtime/not_built.h"

#include <algorithm>

#include "base/error.h"

namespace rc::runtime {

std::vector<NotBuilt> parse_not_built(std::string_view list) {
  std::vector<NotBuilt> result;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find('|'));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    const size_t end = one.find_first_of("=:!");
    if (end == one.npos) continue;
    const std::string_view name = one.substr(0, end);
    const std::string_view rest = one.substr(end + 1);
    result.push_back(
        {std::string(name),
         one[end] == ':' ? std::string(rest)
         : one[end] == '!'
             ? cat("this version of Runcible has no backend ", name, "; use ",
                   rest,
                   ", or put a module of another maker into a folder of "
                   "RUNCIBLE_PLUGIN_PATH")
             : cat("not built: Runcible was compiled without ", rest,
                   "; install that and build again, or put the module into a "
                   "folder of RUNCIBLE_PLUGIN_PATH")});
  }
  return result;
}

const std::vector<NotBuilt>& not_built() {
  // CMake says which; see backends/CMakeLists.txt.
  static const std::vector<NotBuilt> list = parse_not_built(RC_NOT_BUILT);
  return list;
}

}  // namespace rc::runtime
