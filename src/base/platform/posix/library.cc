#include "base/library.h"

#include <dlfcn.h>
#include <link.h>

namespace rc {

Library Library::load(const std::string& name) {
  Library library;
  library.handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) {
    const char* reason = ::dlerror();
    if (reason != nullptr) library.failure_ = reason;
  }
  return library;
}

bool Library::is_in_process(std::string_view begin_of_name) {
  const auto has_name = [](dl_phdr_info* info, size_t, void* wanted) -> int {
    std::string_view name = info->dlpi_name;
    name.remove_prefix(name.rfind('/') + 1);
    return name.starts_with(*static_cast<std::string_view*>(wanted)) ? 1 : 0;
  };
  return ::dl_iterate_phdr(has_name, &begin_of_name) != 0;
}

Library::~Library() {
  if (handle_ != nullptr && !is_kept_) ::dlclose(handle_);
}

void* Library::find(const char* symbol) const {
  return ::dlsym(handle_, symbol);
}

}  // namespace rc
