// The kernels: each is written once in every kernel language, with the same
// slots and parameters.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace rc::gpu {

enum class Kernel {
  kAttend,
  kAttention,
  kCacheStore,
  kConv2d,
  kCopy,
  kCopyRows,
  kDecode,
  kElementwise,
  kEncode,
  kExpertSum,
  kGetRows,
  kLayerNorm,
  kLinear,
  kLines,
  kMap,
  kMatmul,
  kRope,
  kRowNorm,
  kTensorRope,
  kRoute,
  kSelectiveScan,
  kShortConv,
  kCount
};

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
