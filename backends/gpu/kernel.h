// The kernels: each is written once in every kernel language, with the same
// slots and parameters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rc::gpu {

// Constants of the C dialect that are more than plain numbers: the lanes of an
// item, a type, of which a macro TYPE_... is defined, and the way of LINEAR,
// which may decide the lanes.
inline constexpr const char* kLanesConstant = "LANES";
inline constexpr const char* kTypeConstant = "TYPE";
inline constexpr const char* kWayConstant = "WAY";

// All of them, each with the name of its file, the slots of its inputs and
// outputs (of which slot 0 has the counts), and the names of its constants in
// the C dialect in the order of Variant; nullptr: the dialect does not use it.
#define RC_GPU_KERNELS(KERNEL)                                                 \
  KERNEL(kAffine, affine, (1, 2, 3), (0, 8), ("GROUP_ITEMS"))                  \
  KERNEL(kAttend, attend, (1, 2, 3), (0, 8), ("GROUP_ITEMS", "HEAD"))          \
  KERNEL(kAttention, attention,                                                \
         (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17), (0, 8),     \
         ("GROUP_ITEMS", "CACHE", "HEAD", "RANGES", "VALUE", "VALUE_STEP",     \
          "MORE"))                                                             \
  KERNEL(kCacheStore, cache_store, (1, 2, 3, 4), (0, 8),                       \
         ("GROUP_ITEMS", "CACHE"))                                             \
  KERNEL(kChannelScan, channel_scan, (1, 2, 3, 4, 5, 6, 10, 11), (0, 8, 9),    \
         ("GROUP_ITEMS", "STATE", "PARTS"))                                    \
  KERNEL(kChoose, choose, (1, 2), (0, 8, 9), ("GROUP_ITEMS", "EXPERT_GROUPS")) \
  KERNEL(kConv2d, conv2d, (1, 2, 3), (0, 8),                                   \
         ("GROUP_ITEMS", "COLUMNS", "ROW_LANES", "DEPTH"))                     \
  KERNEL(kCopy, copy, (1), (0, 8), ("GROUP_ITEMS", "GRAIN"))                   \
  KERNEL(kCopyRows, copy_rows, (1, 2), (0, 8), ("GROUP_ITEMS"))                \
  KERNEL(                                                                      \
      kDecode, decode, (1, 2), (0, 8, 9),                                      \
      ("GROUP_ITEMS", kTypeConstant, nullptr, nullptr, "GATHER", "PER_ITEM"))  \
  KERNEL(kDeltaRule, delta_rule, (1, 2, 3, 4, 5, 6, 7, 10, 11), (0, 8, 9),     \
         ("GROUP_ITEMS", "STATE", "PARTS"))                                    \
  KERNEL(kElementwise, elementwise, (1, 2), (0, 8), ("GROUP_ITEMS", "KIND"))   \
  KERNEL(kEncode, encode, (1), (0, 8),                                         \
         ("GROUP_ITEMS", kTypeConstant, nullptr, "UNIT"))                      \
  KERNEL(kExpertSum, expert_sum, (1, 2), (0, 8), ("GROUP_ITEMS"))              \
  KERNEL(kFadingState, fading_state, (1, 2, 3, 4, 5, 6, 7, 10, 11),            \
         (0, 8, 9, 12), ("GROUP_ITEMS", "STATE", "PARTS", "CORRECTS"))         \
  KERNEL(kGetRows, get_rows, (1, 3, 4), (0, 8),                                \
         ("GROUP_ITEMS", "TILE", kTypeConstant))                               \
  KERNEL(kJoin, join, (1, 2), (0, 8), ("GROUP_ITEMS"))                         \
  KERNEL(kLayerNorm, layer_norm, (1, 2, 3), (0, 8), ("GROUP_ITEMS"))           \
  KERNEL(kLinear, linear, (1, 2, 3, 4, 5, 6, 7), (0, 8),                       \
         ("GROUP_ITEMS", "TILE", kTypeConstant, "ROWS", nullptr, "EXPERTS",    \
          nullptr, nullptr, "SLICES", kWayConstant))                           \
  KERNEL(kLines, lines, (1, 2), (0, 8),                                        \
         ("GROUP_ITEMS", "KIND", "TOGETHER", "STAGE", kLanesConstant))         \
  KERNEL(kMap, map, (1, 2), (0, 8), ("GROUP_ITEMS", "FUNCTION", "BROADCAST"))  \
  KERNEL(kMatmul, matmul, (1, 2, 3, 4), (0, 8),                                \
         ("GROUP_ITEMS", kTypeConstant, nullptr, nullptr, "TRANSPOSED",        \
          "FUNCTION", "ROWS", "COLUMNS", "ROW_LANES", nullptr, kLanesConstant, \
          "DEPTH"))                                                            \
  KERNEL(kRope, rope, (1, 2, 3), (0, 8), ("GROUP_ITEMS"))                      \
  KERNEL(kRoute, route, (1), (0, 8, 9), ("GROUP_ITEMS"))                       \
  KERNEL(kRowNorm, row_norm, (1, 2, 3), (0, 8), ("GROUP_ITEMS", "CENTER"))     \
  KERNEL(kSelectiveScan, selective_scan, (1, 2, 3, 4, 5, 6, 7, 10, 11),        \
         (0, 8, 9), ("GROUP_ITEMS", "STATE", "PARTS"))                         \
  KERNEL(kShortConv, short_conv, (1, 2, 3, 4, 5), (0, 8, 9),                   \
         ("GROUP_ITEMS", "WIDTH", "FUNCTION"))                                 \
  KERNEL(kSparseMix, sparse_mix, (1), (0, 8, 9), ("GROUP_ITEMS"))              \
  KERNEL(kTensorRope, tensor_rope, (1, 2, 3), (0, 8), ("GROUP_ITEMS"))         \
  KERNEL(kWhere, where, (1, 2, 3), (0, 8), ("GROUP_ITEMS", "BROADCAST"))       \
  KERNEL(kXielu, xielu, (1), (0, 8), ("GROUP_ITEMS"))

enum class Kernel {
#define RC_GPU_KERNEL(kernel, name, inputs, outputs, constants) kernel,
  RC_GPU_KERNELS(RC_GPU_KERNEL)
#undef RC_GPU_KERNEL
      kCount
};
const char* kernel_name(Kernel kernel);

// Words of parameters that every kernel may have: what Vulkan promises.
inline constexpr uint32_t kParameterWords = 32;

// The slots that a kernel binds: bits of `inputs` and `outputs`.
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

// The names of a kernel's constants; see RC_GPU_KERNELS.
inline constexpr size_t kMaxConstants = 12;
using ConstantNames = std::array<const char*, kMaxConstants>;
const ConstantNames& constant_names_of(Kernel kernel);

// A kernel with its constants, by number from 0 on.
using Variant = std::pair<Kernel, std::vector<uint32_t>>;

}  // namespace rc::gpu
