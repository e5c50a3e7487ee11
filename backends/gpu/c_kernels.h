// Properties of the kernels in the C dialect for its drivers: the names of
// their constants, and their parameters.
#pragma once

#include <string>
#include <vector>

#include "gpu/dispatch.h"
#include "gpu/kernel.h"

namespace rc::gpu {

// Options of a compiler of C, as in " -DLANES=16 -DGROUP_ITEMS=8 -DTYPE_Q4_K".
// Constants that the dialect has no use for are left out. `vector` is that of
// the tuning, for kernels without a constant for the elements that they
// take at once.
std::string c_definitions(const Variant& variant, uint32_t vector);
// Whether its quotients have to be rounded correctly.
bool c_divides_exactly(Kernel kernel);
// The arguments of a kernel: its buffers, in their order, and the bytes of its
// struct of their places and the parameters; see common.cl. `counts` are those
// of the run, and `fault` is bound where the kernel reports one. Words and
// quads of the same bytes are one buffer.
struct CCall {
  std::vector<Region> buffers;
  std::vector<uint64_t> places_and_parameters;
};
CCall c_call(const Dispatch& dispatch, const Region& counts,
             const Region& fault);

}  // namespace rc::gpu
