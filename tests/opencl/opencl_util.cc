#include "opencl/opencl_util.h"

#include <cstdlib>

#include "runtime/registry.h"

namespace rc::test {

Variable::Variable(const char* name, const std::string& value) : name_(name) {
  if (const char* old = std::getenv(name)) old_ = old;
  setenv(name, value.c_str(), 1);
}

Variable::~Variable() {
  if (old_) {
    setenv(name_, old_->c_str(), 1);
  } else {
    unsetenv(name_);
  }
}

std::string why_no_device() {
  for (const auto& backend : runtime::discover().backends) {
    if (backend.name == "opencl") return backend.reason;
  }
  return "there is no module";
}

}  // namespace rc::test
