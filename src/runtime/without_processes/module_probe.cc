// Where a program cannot start others, or load modules, none are tried.
#include "runtime/module_probe.h"

#include "base/error.h"

namespace rc::runtime {

ModuleProbe probe_module(const std::string& path, const SearchProgress&) {
  return {cat("the module ", path,
              " is not loaded: this library has the backends that are built "
              "in, and loads no others"),
          false};
}

bool forget_failed_probe(const std::string&) { return false; }

}  // namespace rc::runtime
