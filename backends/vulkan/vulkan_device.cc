#include "vulkan/vulkan_device.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "tensor/formats/coded_formats.h"
#include "tensor/value.h"
#include "vulkan/custom_kernel.h"
#include "vulkan/instance.h"
#include "vulkan/matrices.h"
#include "vulkan/memory.h"
#include "vulkan/pipelines.h"
#include "vulkan/recording.h"
#include "vulkan/tuning.h"

namespace rc::vulkan {
namespace {

// Of the buffers that are kept for control.
constexpr uint64_t kLeastControl = 4096;
constexpr uint64_t kLargestControl = 65536;
constexpr size_t kMostControls = 16;

bool has_timestamps(VkPhysicalDevice device, uint32_t family) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  return family < count && families[family].timestampValidBits > 0;
}

}  // namespace

VulkanDevice::VulkanDevice(int index, const rc_plugin_open_options& options)
    : physical_(Instance::get().device(index)),
      tuning_(choose_tuning(physical_)),
      family_(static_cast<uint32_t>(compute_family(physical_))),
      profile_(options.profile != 0 && has_timestamps(physical_, family_)) {
  Instance::log_to(options.log);
  vkGetPhysicalDeviceProperties(physical_, &properties_);
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory_);
  // Until it is measured.
  speed = software() ? 1e9 : 1e12;

  const float priority = 1;
  VkDeviceQueueCreateInfo queue = {};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  MatrixFeatures matrices;
  if (tuning_.matrices != 0) matrices.add_to(&info);
  check(vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
  volkLoadDeviceTable(&vk_, device_);
  vk_.vkGetDeviceQueue(device_, family_, 0, &queue_);
  try {
    controls_.reserve(kMostControls);
    pipelines_ = std::make_unique<Pipelines>(*this);
  } catch (...) {
    vk_.vkDestroyDevice(device_, nullptr);
    throw;
  }
}

VulkanDevice::~VulkanDevice() {
  wait_idle();
  controls_.clear();
  pipelines_.reset();
  vk_.vkDestroyDevice(device_, nullptr);
}

uint64_t VulkanDevice::alignment() const {
  const VkPhysicalDeviceLimits& l = properties_.limits;
  return std::max<uint64_t>(
      {16, l.minStorageBufferOffsetAlignment,
       tuning_.texels != 0 ? l.minTexelBufferOffsetAlignment : 1});
}

std::unique_ptr<Buffer> VulkanDevice::take_control(uint64_t bytes) {
  {
    const std::lock_guard lock(controls_mutex_);
    const auto found = std::find_if(
        controls_.begin(), controls_.end(),
        [&](const auto& control) { return control->bytes() >= bytes; });
    if (found != controls_.end()) {
      std::unique_ptr<Buffer> control = std::move(*found);
      controls_.erase(found);
      return control;
    }
  }
  return std::make_unique<Buffer>(*this, std::max(bytes, kLeastControl),
                                  gpu::MemoryUse::kToDevice);
}

void VulkanDevice::give_back_control(std::unique_ptr<Buffer> control) noexcept {
  if (control == nullptr || control->bytes() > kLargestControl) return;
  const std::lock_guard lock(controls_mutex_);
  // There is room: the constructor has reserved it.
  if (controls_.size() < kMostControls) controls_.push_back(std::move(control));
}

std::unique_ptr<gpu::Buffer> VulkanDevice::allocate(uint64_t bytes,
                                                    gpu::MemoryUse use) {
  return std::make_unique<Buffer>(*this, bytes, use);
}

void VulkanDevice::copy(gpu::Buffer& target, uint64_t target_offset,
                        gpu::Buffer& source, uint64_t source_offset,
                        uint64_t bytes) {
  vulkan::copy(*this, static_cast<Buffer&>(target), target_offset,
               static_cast<Buffer&>(source), source_offset, bytes);
}

void VulkanDevice::check_supported(
    const Op& op, std::span<const rc_plugin_value> values) const {
  // COPY is of bytes, and weights are expanded.
  if (op.code != RC_OP_COPY && is_tensor_op(op, values)) {
    for (const int32_t input : op.inputs) {
      if (input < 0 || !has_codebook(values[input].dtype)) continue;
      fail(RC_E_UNSUPPORTED, op_name(op.code), " of ",
           value_text(values[input]), ": shaders have no codebooks");
    }
  }
  gpu::check_supported(*this, op, values);
}

std::unique_ptr<gpu::Recording> VulkanDevice::record(
    const gpu::PlacedProgram& program) {
  return std::make_unique<Recording>(*this, program);
}

std::unique_ptr<gpu::CustomKernel> VulkanDevice::create_kernel(
    const rc_plugin_kernel_info& info) {
  return std::make_unique<CustomKernel>(*this, info);
}

void VulkanDevice::submit(const VkCommandBuffer* commands, uint32_t count,
                          VkFence fence) {
  VkSubmitInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = count;
  info.pCommandBuffers = commands;
  const std::lock_guard lock(queue_mutex_);
  check(vk_.vkQueueSubmit(queue_, 1, &info, fence), "vkQueueSubmit");
}

void VulkanDevice::wait_idle() noexcept {
  const std::lock_guard lock(queue_mutex_);
  vk_.vkQueueWaitIdle(queue_);
}

}  // namespace rc::vulkan
