// Cooperative matrices: products of small matrices by the units that GPUs have
// for them (VK_NV_cooperative_matrix).
#pragma once

#include "vulkan/api.h"

namespace rc::vulkan {

// Whether matrices.glsl runs on the device: sub-groups of 32 that multiply
// matrices of 16 by 16 of binary16 and add them up in f32.
bool has_matrices(VkPhysicalDevice device);

// The features with which a device that has matrices is created.
class MatrixFeatures {
 public:
  MatrixFeatures();
  MatrixFeatures(const MatrixFeatures&) = delete;
  MatrixFeatures& operator=(const MatrixFeatures&) = delete;

  // Adds them to `info`, which they outlive.
  void add_to(VkDeviceCreateInfo* info);

 private:
  VkPhysicalDeviceCooperativeMatrixFeaturesNV matrices_ = {};
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_ = {};
  VkPhysicalDeviceShaderFloat16Int8Features halves_ = {};
};

}  // namespace rc::vulkan
