#include "vulkan/memory.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "vulkan/once.h"

namespace rc::vulkan {
namespace {

// Bytes that are moved at once through memory that both sides see.
constexpr uint64_t kStaging = uint64_t{8} << 20;

constexpr VkMemoryPropertyFlags kVisible =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

// The first of the allowed types with all of `needed`; those with more of
// `wanted` come first. -1: there is none.
int find_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed,
              VkMemoryPropertyFlags needed, VkMemoryPropertyFlags wanted) {
  for (const VkMemoryPropertyFlags flags : {needed | wanted, needed}) {
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      if ((allowed >> i & 1) != 0 &&
          (memory.memoryTypes[i].propertyFlags & flags) == flags) {
        return static_cast<int>(i);
      }
    }
  }
  return -1;
}

void copy_region(VulkanDevice& device, VkBuffer target, uint64_t target_offset,
                 VkBuffer source, uint64_t source_offset, uint64_t bytes) {
  once(device, [&](VkCommandBuffer commands) {
    const VkBufferCopy region = {source_offset, target_offset, bytes};
    device.vk().vkCmdCopyBuffer(commands, source, target, 1, &region);
  });
}

}  // namespace

Buffer::Buffer(VulkanDevice& device, uint64_t bytes, gpu::MemoryUse use)
    : gpu::Buffer(bytes), device_(device) {
  const auto& vk = device.vk();
  VkBufferCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  // Whole quads, so that all of it can be bound as such.
  info.size = std::max<uint64_t>((bytes + 15) / 16 * 16, 16);
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
               VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
               VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (bytes > UINT64_MAX - 16) {
    fail(RC_E_DEVICE_MEMORY, "a buffer of ", bytes, " bytes is too large");
  }
  VkBuffer buffer = VK_NULL_HANDLE;
  check(vk.vkCreateBuffer(device.get(), &info, nullptr, &buffer),
        "vkCreateBuffer");
  buffer_ = device.own(buffer, vk.vkDestroyBuffer);
  VkMemoryRequirements needs;
  vk.vkGetBufferMemoryRequirements(device.get(), buffer, &needs);

  const auto& memory = device.memory();
  const auto type = device.properties().deviceType;
  const bool unified = type == VK_PHYSICAL_DEVICE_TYPE_CPU ||
                       type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  int index = -1;
  switch (use) {
    case gpu::MemoryUse::kDevice:
      index = find_type(memory, needs.memoryTypeBits,
                        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                        unified ? kVisible : 0);
      break;
    case gpu::MemoryUse::kToDevice:
      index = find_type(memory, needs.memoryTypeBits, kVisible,
                        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
      break;
    case gpu::MemoryUse::kToHost:
    case gpu::MemoryUse::kPinned:
      index = find_type(memory, needs.memoryTypeBits, kVisible,
                        VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
      break;
  }
  if (index < 0) {
    fail(RC_E_DEVICE, "the device has no type of memory for a buffer of ",
         bytes, " bytes");
  }
  if (needs.size >
      memory.memoryHeaps[memory.memoryTypes[index].heapIndex].size) {
    fail(RC_E_DEVICE_MEMORY, "a buffer of ", bytes,
         " bytes is larger than the device's memory of ",
         memory.memoryHeaps[memory.memoryTypes[index].heapIndex].size);
  }
  VkMemoryAllocateInfo allocate = {};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = static_cast<uint32_t>(index);
  VkDeviceMemory made = VK_NULL_HANDLE;
  check(vk.vkAllocateMemory(device.get(), &allocate, nullptr, &made),
        "vkAllocateMemory");
  memory_ = device.own(made, vk.vkFreeMemory);
  check(vk.vkBindBufferMemory(device.get(), buffer, made, 0),
        "vkBindBufferMemory");
  const VkMemoryPropertyFlags flags = memory.memoryTypes[index].propertyFlags;
  if ((flags & kVisible) == kVisible &&
      (use != gpu::MemoryUse::kDevice || unified)) {
    void* address = nullptr;
    check(vk.vkMapMemory(device.get(), made, 0, VK_WHOLE_SIZE, 0, &address),
          "vkMapMemory");
    mapped_ = static_cast<uint8_t*>(address);
  }
}

void Buffer::write(uint64_t offset, const void* data, uint64_t bytes) {
  if (bytes == 0) return;
  if (mapped_ != nullptr) {
    std::memcpy(mapped_ + offset, data, bytes);
    return;
  }
  Buffer staging(device_, std::min(bytes, kStaging), gpu::MemoryUse::kToDevice);
  for (uint64_t done = 0; done < bytes; done += staging.bytes()) {
    const uint64_t part = std::min(bytes - done, staging.bytes());
    std::memcpy(staging.mapped_, static_cast<const uint8_t*>(data) + done,
                part);
    copy_region(device_, get(), offset + done, staging.get(), 0, part);
  }
}

void Buffer::read(uint64_t offset, void* data, uint64_t bytes) const {
  if (bytes == 0) return;
  if (mapped_ != nullptr) {
    std::memcpy(data, mapped_ + offset, bytes);
    return;
  }
  const Buffer staging(device_, std::min(bytes, kStaging),
                       gpu::MemoryUse::kToHost);
  for (uint64_t done = 0; done < bytes; done += staging.bytes()) {
    const uint64_t part = std::min(bytes - done, staging.bytes());
    copy_region(device_, staging.get(), 0, get(), offset + done, part);
    std::memcpy(static_cast<uint8_t*>(data) + done, staging.mapped_, part);
  }
}

void Buffer::clear() {
  if (mapped_ != nullptr) {
    std::memset(mapped_, 0, bytes());
    return;
  }
  once(device_, [&](VkCommandBuffer commands) {
    device_.vk().vkCmdFillBuffer(commands, get(), 0, VK_WHOLE_SIZE, 0);
  });
}

void copy(VulkanDevice& device, const Buffer& target, uint64_t target_offset,
          const Buffer& source, uint64_t source_offset, uint64_t bytes) {
  if (bytes == 0) return;
  if (target.mapped() != nullptr && source.mapped() != nullptr) {
    std::memmove(target.mapped() + target_offset,
                 source.mapped() + source_offset, bytes);
    return;
  }
  copy_region(device, target.get(), target_offset, source.get(), source_offset,
              bytes);
}

}  // namespace rc::vulkan
