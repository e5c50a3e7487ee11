// The primary context of a device, which all handles of a process share, so
// that memory of one can be read by another, and with other users of CUDA.
#pragma once

#include "cuda/api.h"

namespace rc::cuda {

class Context {
 public:
  // Creates it, which takes a second, unless it exists.
  explicit Context(CUdevice device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  CUcontext get() const { return context_; }

 private:
  CUdevice device_;
  CUcontext context_ = nullptr;
};

}  // namespace rc::cuda
