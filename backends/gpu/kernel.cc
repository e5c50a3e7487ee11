#include "gpu/kernel.h"

namespace rc::gpu {
namespace {

struct Row {
  const char* name;
  Slots slots;
  ConstantNames constants;
};

template <class... Numbers>
constexpr uint32_t bits(Numbers... slots) {
  return ((1u << slots) | ...);
}

template <class... Names>
constexpr ConstantNames names(Names... constants) {
  return {constants...};
}

constexpr Row kRows[] = {
#define RC_GPU_KERNEL(kernel, name, inputs, outputs, constants)    \
  {#name,                                                          \
   {bits inputs, bits outputs, Kernel::kernel == Kernel::kDecode}, \
   names constants},
    RC_GPU_KERNELS(RC_GPU_KERNEL)
#undef RC_GPU_KERNEL
};

const Row& row_of(Kernel kernel) { return kRows[static_cast<int>(kernel)]; }

}  // namespace

const char* kernel_name(Kernel kernel) { return row_of(kernel).name; }

Slots slots_of(Kernel kernel) { return row_of(kernel).slots; }

const ConstantNames& constant_names_of(Kernel kernel) {
  return row_of(kernel).constants;
}

}  // namespace rc::gpu
