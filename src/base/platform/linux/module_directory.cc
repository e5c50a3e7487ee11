#include "base/module_directory.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "base/folder.h"

namespace rc {
namespace {

// Whether an object is the program, whose headers the kernel names. The linker
// knows a program by the name it was called with only, which may be bare,
// relative to a folder left since, or made up.
bool is_program(const Dl_info& object) {
  const auto* header = static_cast<const ElfW(Ehdr)*>(object.dli_fbase);
  return reinterpret_cast<uintptr_t>(header) + header->e_phoff ==
         getauxval(AT_PHDR);
}

}  // namespace

std::string module_directory() {
  Dl_info object = {};
  if (dladdr(reinterpret_cast<const void*>(&module_directory), &object) == 0 ||
      object.dli_fname == nullptr) {
    return {};
  }
  const std::string file =
      is_program(object) ? "/proc/self/exe" : object.dli_fname;
  // No reason to look in the current folder.
  if (file.find('/') == std::string::npos) return {};
  try {
    const std::string real = real_path(file);
    return real.substr(0, std::max<size_t>(1, real.rfind('/')));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace rc
