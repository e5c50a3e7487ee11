#include "common/system_files.h"

#include "base/words.h"

namespace rc::plugin {

std::optional<std::string> field(const std::string& path,
                                 const std::string& key) {
  const std::string file = contents(path);
  std::string_view rest = file;
  while (const auto line = take_line(rest)) {
    const size_t colon = line->find(':');
    if (colon == line->npos || !line->starts_with(key) ||
        line->find_first_not_of(" \t", key.size()) != colon) {
      continue;
    }
    const size_t start = line->find_first_not_of(" \t", colon + 1);
    return std::string(start == line->npos ? "" : line->substr(start));
  }
  return std::nullopt;
}

}  // namespace rc::plugin
