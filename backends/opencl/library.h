// The kernels of an opened device: files of gpu/kernels/c compiled with the
// definitions that a use of them needs, when it first needs them.
//
// Used by one thread at a time.
#pragma once

#include <map>
#include <string>

#include "gpu/kernel.h"
#include "opencl/api.h"
#include "opencl/tuning.h"

namespace rc::opencl {

class Library {
 public:
  Library(cl_context context, cl_device_id device, const Tuning& tuning)
      : context_(context),
        device_(device),
        tuning_(tuning),
        floats_(device_property<cl_device_fp_config>(
            device, CL_DEVICE_SINGLE_FP_CONFIG)) {}

  // Throws RC_E_DEVICE with the compiler's words if it fails.
  Kernel kernel(const gpu::Variant& variant);

 private:
  cl_program compiled(const std::string& file, const std::string& options);

  cl_context context_;
  cl_device_id device_;
  Tuning tuning_;
  cl_device_fp_config floats_;
  std::map<std::string, CompiledSource> programs_;  // by file and options
};

}  // namespace rc::opencl
