#include "base/own_folder.h"

#include <dlfcn.h>
#include <sys/auxv.h>

namespace rc {
namespace {

// A program is known to the linker by the name it was called with, which may be
// bare, relative to a folder left since, or anything the caller made up.
bool is_program(const Dl_info& object) {
  Dl_info program = {};
  const auto headers = static_cast<uintptr_t>(getauxval(AT_PHDR));
  return headers != 0 &&
         dladdr(reinterpret_cast<const void*>(headers), &program) != 0 &&
         program.dli_fbase == object.dli_fbase;
}

}  // namespace

std::filesystem::path own_folder() {
  Dl_info object = {};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &object) == 0 ||
      object.dli_fname == nullptr) {
    return {};
  }
  const std::filesystem::path file =
      is_program(object) ? "/proc/self/exe" : object.dli_fname;
  // No reason to look in the current folder.
  if (!file.has_parent_path()) return {};
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(file, error);
  return error ? std::filesystem::path() : real.parent_path();
}

}  // namespace rc
