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

// Takes a second or two where ops take what they should, and some 60 MB of the
// device's memory. Families of ops that the device lacks are noted as such.
// Throws RC_E_CANCELLED, and what the device reports.
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
