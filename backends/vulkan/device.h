// An opened device: its queue, memory and pipelines.
//
// Threads: buffers may be made, filled and destroyed on any thread at any time;
// the queue has a mutex. The rest is for one thread at a time (see plugin.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "runcible/plugin.h"
#include "vulkan/api.h"
#include "vulkan/tuning.h"

namespace rc::vulkan {

class Pipelines;

class Device {
 public:
  Device(int index, const rc_plugin_open_options& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  VkPhysicalDevice physical() const { return physical_; }
  VkDevice get() const { return device_; }
  const VolkDeviceTable& vk() const { return vk_; }
  const VkPhysicalDeviceLimits& limits() const { return properties_.limits; }
  const VkPhysicalDeviceProperties& properties() const { return properties_; }
  const VkPhysicalDeviceMemoryProperties& memory() const { return memory_; }
  const Tuning& tuning() const { return tuning_; }
  uint32_t family() const { return family_; }
  bool software() const {
    return properties_.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  }
  // Asked for, and possible.
  bool profile() const { return profile_; }
  Pipelines& pipelines() { return *pipelines_; }
  // Work-groups that a dispatch may have along dimension 0, 1 or 2.
  uint32_t most_groups(int dimension) const {
    return std::min(limits().maxComputeWorkGroupCount[dimension],
                    tuning_.groups);
  }
  // What offsets of buffers must be multiples of to be bound; a power of two.
  uint64_t alignment() const;

  void submit(const VkCommandBuffer* commands, uint32_t count, VkFence fence);
  // Until nothing is under way. Errors do not matter to who waits.
  void wait_idle() noexcept;

  template <class T>
  Handle<T> own(T value, typename Handle<T>::Destroy destroy) const {
    return Handle<T>(device_, value, destroy);
  }

  // Multiply-adds per second, as the last runs had them.
  double speed = 0;

 private:
  VkPhysicalDevice physical_;
  VkPhysicalDeviceProperties properties_;
  VkPhysicalDeviceMemoryProperties memory_;
  Tuning tuning_;
  uint32_t family_;
  bool profile_;
  VkDevice device_ = VK_NULL_HANDLE;
  VolkDeviceTable vk_ = {};
  std::mutex queue_mutex_;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::unique_ptr<Pipelines> pipelines_;
};

}  // namespace rc::vulkan
