// A few kernels of a device against the reference backend.
#pragma once

#include <memory>
#include <string>

#include "runtime/device.h"

namespace rc::runtime {

// "" if the device of the module computes what it should, or was found to
// before by the same module with the same driver; otherwise what is wrong. Ops
// that the device lacks are not tested.
std::string self_test(const std::shared_ptr<Device>& device,
                      const std::string& module);

}  // namespace rc::runtime
