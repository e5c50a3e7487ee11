// The devices that are open, so that who asks for the same gets the same.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device.h"
#include "runtime/device_order.h"

namespace rc::runtime {

// The device with these options, opened unless it is open. One of a module is
// tested first (see self_test.h). Throws what the plugin reports, and
// RC_E_DEVICE for a device that computes wrongly. Any thread.
std::shared_ptr<Device> open_device(const ReportedDevice& reported,
                                    const DeviceOptions& asked);

// All that are open now. Any thread. Throws std::bad_alloc.
std::vector<std::shared_ptr<Device>> all_open_devices();

}  // namespace rc::runtime
