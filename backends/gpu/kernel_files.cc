#include "gpu/kernel_files.h"

#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/words.h"

namespace rc::gpu {

std::string kernel_source(const KernelFile* files, const std::string& name) {
  const KernelFile* file = files;
  while (file->name != nullptr && name != file->name) ++file;
  if (file->name == nullptr) fail(RC_E_INTERNAL, "no kernel file ", name);
  std::string_view lines = file->text;
  std::string source;
  while (const auto line = take_line(lines)) {
    constexpr std::string_view kInclude = "#include \"";
    if (line->starts_with(kInclude)) {
      const size_t begin = kInclude.size();
      source += kernel_source(
          files, std::string(line->substr(begin, line->rfind('"') - begin)));
    } else {
      source += *line;
      source += '\n';
    }
  }
  return source;
}

}  // namespace rc::gpu
