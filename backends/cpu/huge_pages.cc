#include "cpu/huge_pages.h"

#include "base/cat.h"
#include "base/machine.h"
#include "base/words.h"
#include "common/system_files.h"

namespace rc::cpu {
namespace {

// The choice in brackets of "always [madvise] never"; empty if there is none.
std::string chosen_in(const std::string& path) {
  const std::string file = plugin::contents(path);
  std::string_view rest = file;
  while (const auto word = take_word(rest)) {
    if (word->size() > 2 && word->front() == '[' && word->back() == ']') {
      return std::string(word->substr(1, word->size() - 2));
    }
  }
  return "";
}

}  // namespace

HugePages huge_pages(const std::string& root, bool disabled) {
  const std::string folder = root + "/sys/kernel/mm/transparent_hugepage";
  std::string chosen = chosen_in(folder + "/enabled");
  if (chosen.empty()) return {};
  HugePages found;
  const std::string size = plugin::contents(folder + "/hpage_pmd_size");
  std::string_view text = size;
  found.bytes = take_number<uint64_t>(text).value_or(0);
  // The setting of this size of pages, if there is one, takes precedence.
  const std::string own =
      chosen_in(cat(folder, "/hugepages-", found.bytes / 1024, "kB/enabled"));
  if (!own.empty() && own != "inherit") chosen = own;
  found.mode = disabled || chosen == "never" ? RC_HUGE_PAGES_NEVER
               : chosen == "madvise"         ? RC_HUGE_PAGES_MADVISE
               : chosen == "always"          ? RC_HUGE_PAGES_ALWAYS
                                             : RC_HUGE_PAGES_UNKNOWN;
  return found;
}

HugePages huge_pages() { return huge_pages("", huge_pages_disabled()); }

}  // namespace rc::cpu
