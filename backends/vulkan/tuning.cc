#include "vulkan/tuning.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "vulkan/matrices.h"

namespace rc::vulkan {
namespace {

// Buffers of more are bound in pieces: words are counted in 32 bits, bytes of
// them too.
constexpr uint64_t kLargestRange = uint64_t{1} << 31;

constexpr const char* kVariable = "RUNCIBLE_VULKAN_TUNING";

void apply(std::string_view text, gpu::Tuning* tuning) {
  gpu::apply_choices(kVariable, text,
                     {
                         {"texels", &tuning->texels, 0, 1},
                         {"tile", &tuning->tile, 4, 64},
                         {"parts", &tuning->parts, 1, 32},
                         {"chunk", &tuning->chunk, 1, 16},
                         {"tiles", &tuning->tiles, 1, 4},
                         {"batch", &tuning->batch, 1, 16},
                         {"batch_tiles", &tuning->batch_tiles, 1, 4},
                         {"few", &tuning->few, 0, 64},
                         {"many", &tuning->many, 0, UINT32_MAX},
                         {"most", &tuning->most, 0, UINT32_MAX},
                         {"wide", &tuning->wide, 0, UINT32_MAX},
                         {"matrices", &tuning->matrices, 0, UINT32_MAX},
                         {"reduce", &tuning->reduce, 1, 1024},
                         {"attention", &tuning->attention, 1, 1024},
                         {"attention_rows", &tuning->attention_rows, 0, 16},
                         {"attention_few", &tuning->attention_few, 0, 4096},
                         {"plain", &tuning->plain, 1, 1024},
                         {"each", &tuning->each, 1, 64},
                         {"tensor_each", &tuning->tensor_each, 1, 64},
                         // Fewer than these are too few for lines and products.
                         {"loops", &tuning->loops, 4096, UINT32_MAX},
                         {"groups", &tuning->groups, 1, UINT32_MAX},
                     });
}

bool has_sub_groups_of_eight(VkPhysicalDevice device) {
  VkPhysicalDeviceSubgroupProperties subgroup = {};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &subgroup;
  vkGetPhysicalDeviceProperties2(device, &properties);
  constexpr VkSubgroupFeatureFlags kNeeded = VK_SUBGROUP_FEATURE_BASIC_BIT |
                                             VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
                                             VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
  return subgroup.subgroupSize == 8 &&
         (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
         (subgroup.supportedOperations & kNeeded) == kNeeded;
}

}  // namespace

gpu::Tuning choose_tuning(VkPhysicalDevice device) {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(device, &properties);
  const VkPhysicalDeviceLimits& limits = properties.limits;
  const bool eight = has_sub_groups_of_eight(device);
  const bool software = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  const auto fill = [&](gpu::Tuning* tuning) {
    // LP_MAX_TGSI_LOOP_ITERATIONS of llvmpipe, the driver of lavapipe.
    if (software) tuning->loops = 65535;
    if (tuning->texels == 0) {
      tuning->attention_rows = 8;
      tuning->reduce =
          std::bit_floor(std::min({256u, limits.maxComputeWorkGroupInvocations,
                                   limits.maxComputeWorkGroupSize[0]}));
      // Reads one after the other take longer than more lanes.
      tuning->each = tuning->tensor_each = 2;
      tuning->shared_bytes = limits.maxComputeSharedMemorySize;
      tuning->fit_products(limits.maxComputeWorkGroupInvocations,
                           limits.maxComputeSharedMemorySize);
      if (has_matrices(device)) tuning->matrices = 64;
      return;
    }
    tuning->tile = tuning->reduce = tuning->attention = 8;
    tuning->route = tuning->scan = 8;
    tuning->parts = 1;
    tuning->tiles = 4;
    tuning->batch = 8;
    tuning->batch_tiles = 2;
  };
  gpu::Tuning tuning;
  tuning.texels = software && eight ? 1 : 0;
  if (const char* text = std::getenv(kVariable)) {
    // The kind of shaders first: the other defaults follow from it.
    apply(text, &tuning);
    const uint32_t texels = tuning.texels;
    tuning = {};
    tuning.texels = texels;
    fill(&tuning);
    apply(text, &tuning);
  } else {
    fill(&tuning);
  }
  if (tuning.texels != 0 &&
      (!eight || tuning.tile != 8 || tuning.parts != 1 || tuning.reduce != 8 ||
       tuning.attention != 8 || tuning.attention_rows != 0 ||
       tuning.many != 0 || tuning.matrices != 0)) {
    fail(RC_E_INVALID_ARGUMENT,
         "RUNCIBLE_VULKAN_TUNING: texel buffers need sub-groups of 8, tile = "
         "reduce = attention = 8, parts = 1 and attention_rows = many = "
         "matrices = 0");
  }
  gpu::check_matrices("RUNCIBLE_VULKAN_TUNING", tuning);
  for (uint32_t lanes : {tuning.tile * tuning.parts, tuning.reduce,
                         tuning.attention, tuning.plain}) {
    if (lanes > limits.maxComputeWorkGroupInvocations ||
        lanes > limits.maxComputeWorkGroupSize[0]) {
      fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_VULKAN_TUNING: a work-group of ",
           lanes, " lanes is wanted; this device allows ",
           std::min(limits.maxComputeWorkGroupInvocations,
                    limits.maxComputeWorkGroupSize[0]));
    }
  }
  if (tuning.texels == 0 &&
      tuning.product_bytes() > limits.maxComputeSharedMemorySize) {
    fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_VULKAN_TUNING: a product takes ",
         tuning.product_bytes(), " bytes of shared memory; this device has ",
         limits.maxComputeSharedMemorySize);
  }
  for (uint32_t lanes : {tuning.tile, tuning.reduce, tuning.attention}) {
    if (!std::has_single_bit(lanes)) {
      fail(RC_E_INVALID_ARGUMENT, "RUNCIBLE_VULKAN_TUNING: ", lanes,
           " lanes are no power of two");
    }
  }

  tuning.range =
      std::min<uint64_t>(limits.maxStorageBufferRange, kLargestRange);
  if (tuning.texels != 0) {
    tuning.range = std::min<uint64_t>(
        tuning.range, uint64_t{4} * limits.maxTexelBufferElements);
  }
  if (const char* text = std::getenv("RUNCIBLE_VULKAN_RANGE")) {
    tuning.range =
        std::min(tuning.range, gpu::number_of("RUNCIBLE_VULKAN_RANGE", text));
  }
  return tuning;
}

}  // namespace rc::vulkan
