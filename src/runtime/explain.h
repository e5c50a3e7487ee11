// The account of a choice of device, for rc_backend_explain.
#pragma once

#include <string>

#include "runtime/registry.h"

namespace rc::runtime {

// A JSON object:
//   "spec": what was asked for,
//   "device": {"id", "name", "kind", "total_memory", "free_memory" (bytes, null
//             if unknown), "unified_memory", "cores", "features", "driver",
//             "physical_id" (null if unknown)},
//   "candidates": [{"id", "chosen", "reason" (null for the chosen)}, ...] in
//             the order in which they were looked at.
std::string explain(const Selected& selected);

// "cpu", "gpu", "integrated gpu", "accelerator", "software", "other".
const char* device_kind_name(rc_device_kind kind);

}  // namespace rc::runtime
