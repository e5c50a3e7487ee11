// Where tensors of a handle can lie.
#pragma once

#include <memory>
#include <string>

#include "api/backend.h"
#include "base/error.h"
#include "base/quote.h"
#include "compute/tensor.h"

namespace rc::api {

// Of a device that is chosen among those of a placement, or the only one that
// is open. `device`: "vulkan:0", or "vulkan" for the first of them; empty:
// where new tensors lie. Throws RC_E_INVALID_ARGUMENT naming the devices.
inline std::shared_ptr<compute::Context> context_of(
    const std::shared_ptr<compute::Placement>& placement,
    const std::shared_ptr<compute::Context>& opened,
    const std::string& device) {
  if (placement != nullptr) {
    return device.empty() ? placement->home() : placement->context(device);
  }
  const std::string id = opened->device()->id();
  if (!device.empty() && device != id &&
      device != id.substr(0, id.rfind(':'))) {
    fail(RC_E_INVALID_ARGUMENT, "device_id: ", quote(device),
         ", but the backend handle has ", id, " alone");
  }
  return opened;
}

// The same of a handle; NULL is empty.
inline std::shared_ptr<compute::Context> context_of(const rc_backend& backend,
                                                    const char* device) {
  const auto now = backend.opened();
  return context_of(now->placement, now->compute,
                    device == nullptr ? "" : device);
}

}  // namespace rc::api
