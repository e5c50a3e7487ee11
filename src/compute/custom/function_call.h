// The C function of a custom op at work, on the threads of a device.
#pragma once

#include <span>

#include "compute/custom/op.h"

namespace rc::compute {

// Computes all items of a call on threads of the device; `memory` has where
// each tensor lies, inputs first. Throws what the function returns, and
// RC_E_TIMEOUT.
void call_function(const CustomCall& call, runtime::Device& device,
                   std::span<void* const> memory, const CustomStop& stop,
                   int64_t timeout_ms, int64_t& spent_ns);

}  // namespace rc::compute
