// Kernels in OpenCL C that the caller wrote.
#pragma once

#include "gpu/custom_kernel.h"
#include "opencl/api.h"
#include "opencl/opencl_device.h"

namespace rc::opencl {

class CustomKernel final : public gpu::CustomKernel {
 public:
  // Throws RC_E_FORMAT if it does not compile, after info.log has received
  // why.
  CustomKernel(OpenClDevice& device, cl_device_id id,
               const rc_plugin_kernel_info& info);

  bool run(const gpu::KernelRun& run) override;

 private:
  OpenClDevice& device_;
  const size_t group_[3];
  CompiledSource program_;
  Kernel kernel_;
};

}  // namespace rc::opencl
