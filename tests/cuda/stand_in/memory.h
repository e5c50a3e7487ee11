// Memory of the stand-in for NVIDIA's driver library: the host's.
#pragma once

#include <cstddef>

#include "cuda/api.h"
#include "machine.h"

namespace rc::cuda {

// What was allocated: on the device and pinned, which kernels may access alike.
ptx::GlobalMemory& memory();

}  // namespace rc::cuda
