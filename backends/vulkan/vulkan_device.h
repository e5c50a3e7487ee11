// An opened device: its queue, memory and pipelines. The queue has a mutex.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "gpu/device.h"
#include "gpu/word_packing.h"
#include "runcible/plugin.h"
#include "vulkan/api.h"

namespace rc::vulkan {

class Buffer;
class Pipelines;

class VulkanDevice final : public gpu::Device {
 public:
  VulkanDevice(int index, const rc_plugin_open_options& options);
  ~VulkanDevice() override;
  VulkanDevice(const VulkanDevice&) = delete;
  VulkanDevice& operator=(const VulkanDevice&) = delete;

  VkPhysicalDevice physical() const { return physical_; }
  VkDevice get() const { return device_; }
  const VolkDeviceTable& vk() const { return vk_; }
  const VkPhysicalDeviceLimits& limits() const { return properties_.limits; }
  const VkPhysicalDeviceProperties& properties() const { return properties_; }
  const VkPhysicalDeviceMemoryProperties& memory() const { return memory_; }
  uint32_t family() const { return family_; }
  bool software() const {
    return properties_.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  }
  // Asked for, and possible.
  bool profile() const { return profile_; }
  Pipelines& pipelines() { return *pipelines_; }

  const gpu::Tuning& tuning() const override { return tuning_; }
  const gpu::Packing& packing() const override { return packing_; }
  uint64_t alignment() const override;
  uint64_t largest_buffer() const override { return UINT64_MAX; }
  uint32_t most_groups(int dimension) const override {
    return std::min(limits().maxComputeWorkGroupCount[dimension],
                    tuning_.groups);
  }
  std::unique_ptr<gpu::Buffer> allocate(uint64_t bytes,
                                        gpu::MemoryUse use) override;
  bool copies_pinned() const override { return true; }
  void copy(gpu::Buffer& target, uint64_t target_offset, gpu::Buffer& source,
            uint64_t source_offset, uint64_t bytes) override;
  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const override;
  std::unique_ptr<gpu::Recording> record(
      const gpu::PlacedProgram& program) override;
  int32_t kernel_language() const override { return RC_KERNEL_SPIRV; }
  std::unique_ptr<gpu::CustomKernel> create_kernel(
      const rc_plugin_kernel_info& info) override;

  // A buffer of at least so many bytes that the host writes and shaders read,
  // and its return. Drivers take long to make one, and a program needs one for
  // a moment, so that small ones are kept.
  std::unique_ptr<Buffer> take_control(uint64_t bytes);
  void give_back_control(std::unique_ptr<Buffer> control) noexcept;

  void submit(const VkCommandBuffer* commands, uint32_t count, VkFence fence);
  // Until nothing is under way. Errors do not matter to who waits.
  void wait_idle() noexcept;

  template <class T>
  Handle<T> own(T value, typename Handle<T>::Destroy destroy) const {
    return Handle<T>(device_, value, destroy);
  }

 private:
  VkPhysicalDevice physical_;
  VkPhysicalDeviceProperties properties_;
  VkPhysicalDeviceMemoryProperties memory_;
  gpu::Tuning tuning_;
  gpu::WordPacking packing_;
  uint32_t family_;
  bool profile_;
  VkDevice device_ = VK_NULL_HANDLE;
  VolkDeviceTable vk_ = {};
  std::mutex queue_mutex_;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::unique_ptr<Pipelines> pipelines_;
  std::mutex controls_mutex_;
  std::vector<std::unique_ptr<Buffer>> controls_;
};

}  // namespace rc::vulkan
