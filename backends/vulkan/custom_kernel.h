// Kernels in SPIR-V that the caller wrote.
#pragma once

#include <memory>

#include "gpu/custom_kernel.h"
#include "vulkan/api.h"
#include "vulkan/vulkan_device.h"

namespace rc::vulkan {

class CustomKernel final : public gpu::CustomKernel {
 public:
  CustomKernel(VulkanDevice& device, const rc_plugin_kernel_info& info);

  bool run(const gpu::KernelRun& run) override;

 private:
  void make_layout();
  void make_set();
  void bind(const gpu::KernelRun& run) const;

  VulkanDevice& device_;
  Handle<VkShaderModule> module_;
  Handle<VkDescriptorSetLayout> sets_;
  Handle<VkPipelineLayout> layout_;
  Handle<VkPipeline> pipeline_;
  Handle<VkDescriptorPool> descriptors_;
  VkDescriptorSet set_ = VK_NULL_HANDLE;  // of one run after the other
};

}  // namespace rc::vulkan
