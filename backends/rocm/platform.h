// The devices of this machine and their properties.
#pragma once

#include <cstdint>
#include <string>

#include "runcible/plugin.h"

namespace rc::rocm {

// How many HIP has, of which all can be used. Throws RC_E_BACKEND_UNAVAILABLE,
// saying why, if there are none.
int32_t device_count();

// Throws RC_E_NOT_FOUND unless there is a device of that number.
void check_device(int32_t number);

rc_plugin_device_info describe(int32_t number);

// The instructions of a device, as in "gfx90a:sramecc+:xnack-".
std::string isa_of(int32_t number);
uint64_t total_memory(int32_t number);

}  // namespace rc::rocm
