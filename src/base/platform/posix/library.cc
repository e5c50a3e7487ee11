#include "base/library.h"

#include <dlfcn.h>

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

Library::~Library() {
  if (handle_ != nullptr && !is_kept_) ::dlclose(handle_);
}

void* Library::find(const char* symbol) const {
  return ::dlsym(handle_, symbol);
}

}  // namespace rc
