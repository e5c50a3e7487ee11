#include "gpu/kernel.h"

#include <initializer_list>

namespace rc::gpu {
namespace {

constexpr uint32_t bits(std::initializer_list<int> slots) {
  uint32_t all = 0;
  for (int slot : slots) all |= 1u << slot;
  return all;
}

}  // namespace

const char* kernel_name(Kernel kernel) {
#define RC_GPU_KERNEL(kernel, name) #name,
  static constexpr const char* kNames[] = {RC_GPU_KERNELS(RC_GPU_KERNEL)};
#undef RC_GPU_KERNEL
  return kNames[static_cast<int>(kernel)];
}

Slots slots_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::kCopy:
    case Kernel::kEncode:
    case Kernel::kXielu:
      return {bits({1}), bits({0, 8})};
    case Kernel::kCopyRows:
    case Kernel::kElementwise:
    case Kernel::kExpertSum:
    case Kernel::kJoin:
    case Kernel::kLines:
    case Kernel::kMap:
      return {bits({1, 2}), bits({0, 8})};
    case Kernel::kDecode:
      return {bits({1, 2}), bits({0, 8, kFaultSlot}), true};
    case Kernel::kAffine:
    case Kernel::kAttend:
    case Kernel::kConv2d:
    case Kernel::kLayerNorm:
    case Kernel::kRope:
    case Kernel::kRowNorm:
    case Kernel::kTensorRope:
    case Kernel::kWhere:
      return {bits({1, 2, 3}), bits({0, 8})};
    case Kernel::kGetRows:
      return {bits({1, 3, 4}), bits({0, 8})};
    case Kernel::kCacheStore:
    case Kernel::kMatmul:
      return {bits({1, 2, 3, 4}), bits({0, 8})};
    case Kernel::kLinear:
      return {bits({1, 2, 3, 4, 5, 6, 7}), bits({0, 8})};
    case Kernel::kAttention:
      return {bits({1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17}),
              bits({0, 8})};
    case Kernel::kChoose:
      return {bits({1, 2}), bits({0, 8, 9})};
    case Kernel::kRoute:
    case Kernel::kSparseMix:
      return {bits({1}), bits({0, 8, 9})};
    case Kernel::kChannelScan:
      return {bits({1, 2, 3, 4, 5, 6, 10, 11}), bits({0, 8, 9})};
    case Kernel::kDeltaRule:
    case Kernel::kSelectiveScan:
      return {bits({1, 2, 3, 4, 5, 6, 7, 10, 11}), bits({0, 8, 9})};
    case Kernel::kFadingState:
      return {bits({1, 2, 3, 4, 5, 6, 7, 10, 11}), bits({0, 8, 9, 12})};
    case Kernel::kShortConv:
      return {bits({1, 2, 3, 4, 5}), bits({0, 8, 9})};
    case Kernel::kCount:
      break;
  }
  return {};
}

}  // namespace rc::gpu
