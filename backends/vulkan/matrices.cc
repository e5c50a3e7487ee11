#include "vulkan/matrices.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "gpu/tuning.h"
#include "vulkan/instance.h"

namespace rc::vulkan {
namespace {

constexpr const char* kExtensions[] = {
    VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME,
    VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME,
    VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME};

bool has_extensions(VkPhysicalDevice device) {
  const Extensions extensions(device);
  return std::all_of(std::begin(kExtensions), std::end(kExtensions),
                     [&](const char* name) { return extensions.has(name); });
}

bool has_features(VkPhysicalDevice device) {
  VkPhysicalDeviceCooperativeMatrixFeaturesNV matrices = {};
  matrices.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV;
  VkPhysicalDeviceVulkanMemoryModelFeatures memory = {};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
  memory.pNext = &matrices;
  VkPhysicalDeviceShaderFloat16Int8Features halves = {};
  halves.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES;
  halves.pNext = &memory;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &halves;
  vkGetPhysicalDeviceFeatures2(device, &features);
  return matrices.cooperativeMatrix == VK_TRUE &&
         memory.vulkanMemoryModel == VK_TRUE && halves.shaderFloat16 == VK_TRUE;
}

bool has_sub_groups(VkPhysicalDevice device) {
  VkPhysicalDeviceSubgroupProperties subgroup = {};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  VkPhysicalDeviceCooperativeMatrixPropertiesNV matrices = {};
  matrices.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_NV;
  matrices.pNext = &subgroup;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &matrices;
  vkGetPhysicalDeviceProperties2(device, &properties);
  // Of matrices.glsl.
  constexpr uint32_t kSharedBytes =
      (gpu::kMatrixOutputs + 2 * gpu::kMatrixRows) * 9 * 16 + 4 * 256 * 4;
  const VkPhysicalDeviceLimits& limits = properties.properties.limits;
  return subgroup.subgroupSize == 32 &&
         (matrices.cooperativeMatrixSupportedStages &
          VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
         limits.maxComputeWorkGroupInvocations >= gpu::kMatrixLanes &&
         limits.maxComputeSharedMemorySize >= kSharedBytes;
}

bool multiplies_halves(VkPhysicalDevice device) {
  if (vkGetPhysicalDeviceCooperativeMatrixPropertiesNV == nullptr) return false;
  uint32_t count = 0;
  if (vkGetPhysicalDeviceCooperativeMatrixPropertiesNV(device, &count,
                                                       nullptr) != VK_SUCCESS) {
    return false;
  }
  VkCooperativeMatrixPropertiesNV one = {};
  one.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV;
  std::vector<VkCooperativeMatrixPropertiesNV> all(count, one);
  if (vkGetPhysicalDeviceCooperativeMatrixPropertiesNV(
          device, &count, all.data()) != VK_SUCCESS) {
    return false;
  }
  return std::any_of(all.begin(), all.end(), [](const auto& found) {
    return found.MSize == 16 && found.NSize == 16 && found.KSize == 16 &&
           found.AType == VK_COMPONENT_TYPE_FLOAT16_NV &&
           found.BType == VK_COMPONENT_TYPE_FLOAT16_NV &&
           found.CType == VK_COMPONENT_TYPE_FLOAT32_NV &&
           found.DType == VK_COMPONENT_TYPE_FLOAT32_NV &&
           found.scope == VK_SCOPE_SUBGROUP_NV;
  });
}

}  // namespace

bool has_matrices(VkPhysicalDevice device) {
  return has_extensions(device) && has_features(device) &&
         has_sub_groups(device) && multiplies_halves(device);
}

MatrixFeatures::MatrixFeatures() {
  matrices_.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV;
  matrices_.cooperativeMatrix = VK_TRUE;
  memory_.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
  memory_.pNext = &matrices_;
  memory_.vulkanMemoryModel = VK_TRUE;
  halves_.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES;
  halves_.pNext = &memory_;
  halves_.shaderFloat16 = VK_TRUE;
}

void MatrixFeatures::add_to(VkDeviceCreateInfo* info) {
  info->pNext = &halves_;
  info->enabledExtensionCount = std::size(kExtensions);
  info->ppEnabledExtensionNames = kExtensions;
}

}  // namespace rc::vulkan
