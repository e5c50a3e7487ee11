// Kernels that the caller wrote, compiled for a device of streams.
#pragma once

#include <string>

#include "gpu/custom_kernel.h"
#include "streams/handles.h"
#include "streams/stream_device.h"

namespace rc::streams {

class CustomKernel final : public gpu::CustomKernel {
 public:
  // `image` is what the driver loads: a kernel custom_op with the parameters of
  // rc_plugin_kernel_info in OpenCL C. The device lives longer.
  CustomKernel(StreamDevice& device, const rc_plugin_kernel_info& info,
               const std::string& image);
  ~CustomKernel() override;

  bool run(const gpu::KernelRun& run) override;

 private:
  StreamDevice& device_;
  const uint32_t group_[3];
  Event end_;  // of the last run
  ModuleHandle module_ = nullptr;
  FunctionHandle function_ = nullptr;
  bool is_over_ = true;
};

}  // namespace rc::streams
