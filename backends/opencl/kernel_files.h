// The files of kernels that the module carries.
#pragma once

#include "gpu/kernel_files.h"

namespace rc::opencl {

extern const gpu::KernelFile kKernelFiles[];

}  // namespace rc::opencl
