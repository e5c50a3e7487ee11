#include "vulkan/once.h"

#include <utility>

#include "base/time_limit.h"

namespace rc::vulkan {

bool once(VulkanDevice& device,
          const std::function<void(VkCommandBuffer)>& record,
          int64_t timeout_ms) {
  const auto& vk = device.vk();
  VkCommandPoolCreateInfo pool_info = {};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  pool_info.queueFamilyIndex = device.family();
  VkCommandPool pool_value = VK_NULL_HANDLE;
  check(vk.vkCreateCommandPool(device.get(), &pool_info, nullptr, &pool_value),
        "vkCreateCommandPool");
  auto pool = device.own(pool_value, vk.vkDestroyCommandPool);
  VkCommandBufferAllocateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool.get();
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(vk.vkAllocateCommandBuffers(device.get(), &info, &commands),
        "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo begin = {};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vk.vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  // Commands before and after it see each other's bytes.
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask =
      VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  const auto fence_all = [&](VkPipelineStageFlags more) {
    vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | more, 0, 1,
                            &barrier, 0, nullptr, 0, nullptr);
  };
  fence_all(0);
  record(commands);
  fence_all(VK_PIPELINE_STAGE_HOST_BIT);
  check(vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkFenceCreateInfo fence_info = {};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence_value = VK_NULL_HANDLE;
  check(vk.vkCreateFence(device.get(), &fence_info, nullptr, &fence_value),
        "vkCreateFence");
  auto fence = device.own(fence_value, vk.vkDestroyFence);
  device.submit(&commands, 1, fence_value);
  const auto limit = timeout_ms < 0 || timeout_ms > kLongestMs
                         ? UINT64_MAX
                         : static_cast<uint64_t>(timeout_ms) * 1'000'000;
  const VkResult result =
      vk.vkWaitForFences(device.get(), 1, &fence_value, VK_TRUE, limit);
  if (result == VK_TIMEOUT) {
    // The device still uses them, and is given up with them.
    new Handle(std::move(pool));
    new Handle(std::move(fence));
    return false;
  }
  check(result, "vkWaitForFences");
  return true;
}

}  // namespace rc::vulkan
