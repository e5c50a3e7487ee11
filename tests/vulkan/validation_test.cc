// The eyes of the validation layer are open: what it says about a mistake
// reaches the log of the backend. vulkan.validation would be silent for ever
// otherwise.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "base/error.h"
#include "device/module_util.h"
#include "vulkan/instance.h"

namespace rc::test {
namespace {

std::atomic<int> g_messages = 0;

TEST(VulkanValidation, ErrorIsReported) {
  RC_NEEDS_DEVICE("vulkan");
  const TemporaryVariable wanted("RUNCIBLE_VULKAN_VALIDATION", "1");
  // An instance of the test's own: the backend's lives in its module.
  vulkan::Instance* instance = nullptr;
  try {
    instance = &vulkan::Instance::get();
  } catch (const Error& error) {
    GTEST_SKIP() << error.message();
  }
  vulkan::Instance::log_to([](rc_log_level level, const char* message) {
    EXPECT_EQ(level, RC_LOG_ERROR);
    EXPECT_NE(std::string(message).find("pQueuePriorities"), std::string::npos)
        << message;
    ++g_messages;
  });
  const VkPhysicalDevice physical = instance->device(0);
  const auto opened_with = [&](float priority) {
    VkDeviceQueueCreateInfo queue = {};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex =
        static_cast<uint32_t>(vulkan::compute_family(physical));
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    VkDevice device = VK_NULL_HANDLE;
    const VkResult result = vkCreateDevice(physical, &info, nullptr, &device);
    if (result == VK_SUCCESS) {
      VolkDeviceTable vk = {};
      volkLoadDeviceTable(&vk, device);
      vk.vkDestroyDevice(device, nullptr);
    }
    return g_messages.load();
  };
  EXPECT_EQ(opened_with(1), 0);
  // Priorities go from 0 to 1.
  EXPECT_GT(opened_with(2), 0);
  vulkan::Instance::log_to(nullptr);
}

}  // namespace
}  // namespace rc::test
