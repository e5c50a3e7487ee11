// Measures what ops and transfers take on a device.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "runtime/calibrations.h"
#include "runtime/device.h"

namespace rc::compute {

// Gets the fraction done, 0 to 1; false wants an end.
using MeasureProgress = std::function<bool(double)>;

// Measures a device. Takes a second or two, unless ops are unusually slow, and
// about 60 MB of the device's memory. The result states which families of ops
// the device does not support. Throws RC_E_CANCELLED, and the device's errors.
runtime::Calibration measure(const std::shared_ptr<runtime::Device>& device,
                             const MeasureProgress& progress);

// Opens the device, measures it, and keeps the calibration; an existing
// calibration is used unless `again`. One device is measured at a time in a
// process.
const runtime::Calibration* calibrate(const runtime::ReportedDevice& device,
                                      const runtime::DeviceOptions& options,
                                      bool again,
                                      const MeasureProgress& progress);

}  // namespace rc::compute
