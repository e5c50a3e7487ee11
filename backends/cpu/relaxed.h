// The level `relaxed` of WebAssembly: products by instructions of relaxed SIMD.
//
// A module that has such an instruction is refused as a whole where there are
// none, so they are in a small one of their own (relaxed/module.cc), which
// works on the memory of the library's. Who loads the library gives it that
// module where the browser takes it; each thread makes an instance of its own.
#pragma once

#include "cpu/kernels.h"

namespace rc::cpu {

// Whether the module was given, and this thread can make an instance of it.
bool has_relaxed();

// Those of simd128, but for products.
const Kernels& relaxed_kernels();

}  // namespace rc::cpu
