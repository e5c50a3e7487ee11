// The devices among which the ops of tensors are shared out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device_order.h"
#include "runtime/registry.h"

namespace rc::runtime {

// The devices that a chain means and that may be opened, as far as is known
// without opening one: in the order of the chain, each piece of hardware once.
// Those of a named backend are all of its devices; "auto" is all that it might
// open, which leaves software devices out where there is a CPU, and "reference"
// always. What is known to have less memory than `required_memory` is left out.
// Backends that `known` passes over, as select() does, are not asked again:
// a driver that has just failed may crash the second time.
std::vector<ReportedDevice> candidate_devices(
    const std::string& spec, uint64_t required_memory,
    const std::vector<Candidate>& known = {});

}  // namespace rc::runtime
