// The kernels of a context: PTX with its open constants filled in, compiled by
// the driver when it is first needed. The driver keeps what it compiled on
// disk.
//
// Used by one thread at a time.
#pragma once

#include <map>
#include <string>

#include "cuda/api.h"
#include "gpu/kernel.h"

namespace rc::cuda {

class Modules {
 public:
  explicit Modules(CUcontext context) : context_(context) {}
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  // The context is current. Throws RC_E_UNSUPPORTED for a variant that was not
  // compiled, RC_E_DEVICE with the words of the driver's compiler if it fails.
  CUfunction function(const gpu::Variant& variant);

 private:
  struct Loaded {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
  };
  CUcontext context_;
  std::map<std::string, Loaded> loaded_;  // by kernel and all definitions
};

// The PTX of a variant, complete. Throws RC_E_UNSUPPORTED as above.
std::string complete_ptx(const gpu::Variant& variant);

}  // namespace rc::cuda
