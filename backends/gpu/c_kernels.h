// What drivers of the C dialect have to know of its kernels: the names by which
// these know their constants, and what they have parameters for.
#pragma once

#include <string>
#include <vector>

#include "gpu/dispatch.h"
#include "gpu/kernel.h"

namespace rc::gpu {

// Options of a compiler of C, as in " -DGROUP_ITEMS=8 -DTILE=16 -DTYPE_Q4_K".
// Constants that the dialect has no use for are left out.
std::string c_definitions(const Variant& variant);
// Whether its work-items take one element at a time.
bool c_is_scalar(Kernel kernel);
// What is bound to the kernel's parameters, in their order, between the counts
// and the parameters of the dispatch. Words and quads of the same bytes are one
// to it.
std::vector<Binding> c_bindings(const Dispatch& dispatch);

}  // namespace rc::gpu
