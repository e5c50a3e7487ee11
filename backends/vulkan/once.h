// Commands that are recorded, submitted and waited for once.
#pragma once

#include <cstdint>
#include <functional>

#include "vulkan/api.h"
#include "vulkan/vulkan_device.h"

namespace rc::vulkan {

// Records with `record` and waits until the device has done it, for at most so
// long if that is not negative. What came before, and what comes after, sees
// each other's bytes. False: it is not over, and what it uses must stay.
bool once(VulkanDevice& device,
          const std::function<void(VkCommandBuffer)>& record,
          int64_t timeout_ms = -1);

}  // namespace rc::vulkan
