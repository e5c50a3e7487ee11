// The level `relaxed` of WebAssembly: products by instructions of relaxed SIMD.
//
// A browser without these instructions refuses a whole module that contains
// one. They are therefore in a small separate module (relaxed/module.cc), which
// works on the memory of the library's module. The program that loads the
// library passes it that module if the browser accepts it; each thread makes an
// instance.
#pragma once

#include "cpu/kernels.h"

namespace rc::cpu {

// Whether the module was given, and this thread can make an instance of it.
bool has_relaxed();

// Those of simd128, but for products.
const Kernels& relaxed_kernels();

}  // namespace rc::cpu
