// An opened device whose kernels are compiled by AMD's compiler.
#pragma once

#include <memory>
#include <string>

#include "streams/modules.h"
#include "streams/stream_device.h"

namespace rc::rocm {

class RocmDevice final : public streams::StreamDevice {
 public:
  RocmDevice(int32_t number, const rc_plugin_open_options& options);

  // Throws RC_E_DEVICE with the compiler's words if it fails.
  streams::FunctionHandle function(const gpu::Variant& variant) override;

  int32_t kernel_language() const override { return RC_KERNEL_OPENCL_C; }
  std::unique_ptr<gpu::CustomKernel> create_kernel(
      const rc_plugin_kernel_info& info) override;

 private:
  std::string isa_;
  streams::Modules modules_;
};

}  // namespace rc::rocm
