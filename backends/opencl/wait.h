// Waiting for commands.
#pragma once

#include <cstdint>

#include "opencl/api.h"

namespace rc::opencl {

// Waits for the end of a command, for at most so long if that is not negative.
// False: it is not over. Throws if it failed.
bool wait_for(cl_event event, int64_t timeout_ms);

}  // namespace rc::opencl
