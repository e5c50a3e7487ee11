// The shaders of the module and the pipelines made of them, each at its first
// use. What the driver compiled is kept on disk between processes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/kernel.h"
#include "vulkan/api.h"
#include "vulkan/vulkan_device.h"

namespace rc::vulkan {

struct Pipeline {
  VkPipeline pipeline;
  VkPipelineLayout layout;
  VkDescriptorSetLayout sets;
};

class Pipelines {
 public:
  explicit Pipelines(const VulkanDevice& device);
  // Writes the cache if pipelines were made.
  ~Pipelines();

  // Makes those that are missing, several at once.
  void prepare(const std::vector<gpu::Variant>& variants);
  // One that was made; stays valid.
  Pipeline get(const gpu::Variant& variant) const;

 private:
  struct Made {
    Handle<VkShaderModule> module;
    // Of LINEAR by cooperative matrices, on devices that have them.
    Handle<VkShaderModule> matrices;
    Handle<VkDescriptorSetLayout> sets;
    Handle<VkPipelineLayout> layout;
    std::map<std::vector<uint32_t>, Handle<VkPipeline>> pipelines;
  };
  Handle<VkShaderModule> module_of(std::span<const uint32_t> code) const;
  void make(gpu::Kernel kernel, Made* made) const;
  Handle<VkPipeline> compiled(const Made& made,
                              const std::vector<uint32_t>& constants) const;

  const VulkanDevice& device_;
  std::string file_;  // "": there is none
  Handle<VkPipelineCache> cache_;
  bool grown_ = false;
  Made shaders_[static_cast<size_t>(gpu::Kernel::kCount)];
};

}  // namespace rc::vulkan
