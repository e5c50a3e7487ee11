// Kernels compiled for the host by the C++ compiler that built this, each with
// its definitions when it is first needed, and kept as shared objects in a
// folder for all processes of the build.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "work_item.h"

namespace rc::host {

// One thread at a time. Kernels live as long as the library.
class KernelLibrary {
 public:
  // The kernel of a text, such as `#include "linear.cl"`, with definitions as
  // " -DROWS=8". Throws RC_E_DEVICE with the compiler's words if it fails.
  HostKernel* kernel(const std::string& text, const std::string& name,
                     const std::string& definitions);

 private:
  struct Close {
    void operator()(void* object) const;
  };
  std::map<std::string, std::unique_ptr<void, Close>> objects_;  // by path
};

}  // namespace rc::host
