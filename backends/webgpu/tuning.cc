#include "webgpu/tuning.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/error.h"

namespace rc::webgpu {
namespace {

// Buffers of more are bound in pieces: words are counted in 32 bits, bytes of
// them too.
constexpr uint64_t kLargestRange = uint64_t{1} << 31;

constexpr const char* kTuningVariable = "RUNCIBLE_WEBGPU_TUNING";
constexpr const char* kRangeVariable = "RUNCIBLE_WEBGPU_RANGE";

void check(const gpu::Tuning& tuning, const abi::Limits& limits) {
  const uint32_t most =
      std::min(limits.workgroup_invocations, limits.workgroup_size[0]);
  for (uint32_t lanes : {tuning.tile * tuning.parts, tuning.reduce,
                         tuning.attention, tuning.plain}) {
    if (lanes > most) {
      fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_WEBGPU_TUNING: a work-group of ",
           lanes, " lanes is wanted; this device allows ", most);
    }
  }
  if (tuning.product_bytes() > limits.workgroup_bytes) {
    fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_WEBGPU_TUNING: a product takes ",
         tuning.product_bytes(), " bytes of shared memory; this device has ",
         limits.workgroup_bytes);
  }
  for (uint32_t lanes : {tuning.tile, tuning.reduce, tuning.attention}) {
    if (!std::has_single_bit(lanes)) {
      fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_WEBGPU_TUNING: ", lanes,
           " lanes are no power of two");
    }
  }
}

}  // namespace

gpu::Tuning choose_tuning(const abi::Limits& limits, bool software) {
  gpu::Tuning tuning;
  tuning.local_bytes = tuning.shared_bytes = limits.workgroup_bytes;
  if (software) {
    // LP_MAX_TGSI_LOOP_ITERATIONS of llvmpipe, the driver of lavapipe.
    tuning.loops = 65535;
    // A processor is busy with few lanes; more rows of the weight to each read
    // x less often.
    tuning.parts = 1;
    tuning.tiles = tuning.batch_tiles = 4;
  } else {
    tuning.attention_rows = 8;
    tuning.reduce = std::bit_floor(std::min(
        {256u, limits.workgroup_invocations, limits.workgroup_size[0]}));
    // Reads one after the other take longer than more lanes.
    tuning.each = tuning.tensor_each = 2;
    tuning.fit_products(
        std::min(limits.workgroup_invocations, limits.workgroup_size[0]),
        limits.workgroup_bytes);
    // On an NVIDIA H100 squares, which are quicker there through Vulkan, took
    // three times as long as lanes as WGSL.
    tuning.many = tuning.most = 0;
  }
  if (const char* text = std::getenv(kTuningVariable)) {
    gpu::apply_choices(
        kTuningVariable, text,
        {
            {"tile", &tuning.tile, 4, 64},
            {"parts", &tuning.parts, 1, 32},
            {"chunk", &tuning.chunk, 1, 16},
            {"tiles", &tuning.tiles, 1, 4},
            {"batch", &tuning.batch, 1, 16},
            {"batch_tiles", &tuning.batch_tiles, 1, 4},
            {"few", &tuning.few, 0, 64},
            {"many", &tuning.many, 0, UINT32_MAX},
            {"most", &tuning.most, 0, UINT32_MAX},
            {"wide", &tuning.wide, 0, UINT32_MAX},
            {"reduce", &tuning.reduce, 1, 1024},
            {"attention", &tuning.attention, 1, 1024},
            {"attention_rows", &tuning.attention_rows, 0, 16},
            {"attention_few", &tuning.attention_few, 0, 4096},
            {"plain", &tuning.plain, 1, 1024},
            {"each", &tuning.each, 1, 64},
            {"tensor_each", &tuning.tensor_each, 1, 64},
            // Fewer than these are too few for lines and products.
            {"loops", &tuning.loops, 4096, UINT32_MAX},
            {"groups", &tuning.groups, 1, UINT32_MAX},
        });
  }
  check(tuning, limits);
  tuning.range =
      std::min(limits.storage_binding_bytes, kLargestRange) / 16 * 16;
  if (const char* text = std::getenv(kRangeVariable)) {
    tuning.range = std::min(tuning.range, gpu::number_of(kRangeVariable, text));
  }
  return tuning;
}

}  // namespace rc::webgpu
