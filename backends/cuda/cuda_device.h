// An opened device whose kernels are PTX.
#pragma once

#include <span>

#include "cuda/api.h"
#include "streams/modules.h"
#include "streams/stream_device.h"

namespace rc::cuda {

class CudaDevice final : public streams::StreamDevice {
 public:
  CudaDevice(CUdevice device, const rc_plugin_open_options& options);

  // Throws RC_E_UNSUPPORTED for a variant that was not compiled, RC_E_DEVICE
  // with the words of the driver's compiler if it fails.
  streams::FunctionHandle function(const gpu::Variant& variant) override;
  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const override;

 private:
  streams::Modules modules_;
};

}  // namespace rc::cuda
