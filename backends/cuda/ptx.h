// PTX of the kernels, with its open constants filled in. The driver compiles it
// when a kernel is first needed, and keeps what it compiled on disk.
#pragma once

#include <string>

#include "gpu/kernel.h"

namespace rc::cuda {

// The kernel and all its definitions, which identify the variant.
std::string description(const gpu::Variant& variant);

// The PTX of a variant, complete. Throws RC_E_UNSUPPORTED for a variant that
// was not compiled.
std::string complete_ptx(const gpu::Variant& variant);

}  // namespace rc::cuda
