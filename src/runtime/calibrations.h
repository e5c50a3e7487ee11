// The calibrations of the devices of this machine: in memory, and between
// processes in the user's cache folder.
//
// They hold for one device, driver, module, processor and number of threads.
// Any thread. Calibrations stay where they are until the process ends.
#pragma once

#include <cstdint>

#include "runtime/cost.h"
#include "runtime/device_order.h"

namespace rc::runtime {

// nullptr: the device was not measured yet. Looks at a file once.
const Calibration* find_calibration(const ReportedDevice& device, int threads);

// From now on this one is found, in later processes too.
const Calibration* keep_calibration(const ReportedDevice& device, int threads,
                                    Calibration calibration);

// Grows with each one that is kept; at least 1.
uint64_t calibrations_version();

}  // namespace rc::runtime
