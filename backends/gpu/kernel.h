// The kernels: each is written once in every kernel language, with the same
// slots and parameters.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace rc::gpu {

// All of them, each with the name of its file.
#define RC_GPU_KERNELS(KERNEL)           \
  KERNEL(kAffine, affine)                \
  KERNEL(kAttend, attend)                \
  KERNEL(kAttention, attention)          \
  KERNEL(kCacheStore, cache_store)       \
  KERNEL(kChannelScan, channel_scan)     \
  KERNEL(kChoose, choose)                \
  KERNEL(kConv2d, conv2d)                \
  KERNEL(kCopy, copy)                    \
  KERNEL(kCopyRows, copy_rows)           \
  KERNEL(kDecode, decode)                \
  KERNEL(kDeltaRule, delta_rule)         \
  KERNEL(kElementwise, elementwise)      \
  KERNEL(kEncode, encode)                \
  KERNEL(kExpertSum, expert_sum)         \
  KERNEL(kFadingState, fading_state)     \
  KERNEL(kGetRows, get_rows)             \
  KERNEL(kJoin, join)                    \
  KERNEL(kLayerNorm, layer_norm)         \
  KERNEL(kLinear, linear)                \
  KERNEL(kLines, lines)                  \
  KERNEL(kMap, map)                      \
  KERNEL(kMatmul, matmul)                \
  KERNEL(kRope, rope)                    \
  KERNEL(kRoute, route)                  \
  KERNEL(kRowNorm, row_norm)             \
  KERNEL(kSelectiveScan, selective_scan) \
  KERNEL(kShortConv, short_conv)         \
  KERNEL(kSparseMix, sparse_mix)         \
  KERNEL(kTensorRope, tensor_rope)       \
  KERNEL(kWhere, where)                  \
  KERNEL(kXielu, xielu)

enum class Kernel {
#define RC_GPU_KERNEL(kernel, name) kernel,
  RC_GPU_KERNELS(RC_GPU_KERNEL)
#undef RC_GPU_KERNEL
      kCount
};
const char* kernel_name(Kernel kernel);

// Words of parameters that every kernel may have: what Vulkan promises.
inline constexpr uint32_t kParameterWords = 32;

// What a kernel binds, by slot: bits of `inputs` and `outputs`.
struct Slots {
  uint32_t inputs;
  uint32_t outputs;  // always has the counts, slot 0
  // Slot 9 is where the kernel reports a row of a table that does not exist: a
  // word that is 0 until a lane puts the op's place in the program plus 1
  // there, and then which of the numbers it is, and the number.
  bool fault = false;
};
inline constexpr uint32_t kFaultSlot = 9;
Slots slots_of(Kernel kernel);

// A kernel with its constants, by number from 0 on.
using Variant = std::pair<Kernel, std::vector<uint32_t>>;

}  // namespace rc::gpu
