// The Vulkan functions, loaded from the machine's loader by volk, their results
// as errors, and handles that destroy themselves.
#pragma once

#include <volk.h>

#include <utility>

namespace rc::vulkan {

// "VK_ERROR_DEVICE_LOST"; static storage.
const char* result_name(VkResult result);

// Throws, with the call and its result, unless the call succeeded. A lost
// device is RC_E_DEVICE_LOST; memory that ran out RC_E_DEVICE_MEMORY or
// RC_E_OUT_OF_MEMORY; anything else RC_E_DEVICE.
void check(VkResult result, const char* call);

// Owns an object of a device. `Destroy` is the function of VolkDeviceTable that
// destroys it.
template <class T>
class Handle {
 public:
  using Destroy = void(VKAPI_PTR*)(VkDevice, T, const VkAllocationCallbacks*);
  Handle() = default;
  Handle(VkDevice device, T value, Destroy destroy)
      : device_(device), value_(value), destroy_(destroy) {}
  Handle(Handle&& other) noexcept
      : device_(other.device_),
        value_(std::exchange(other.value_, T{})),
        destroy_(other.destroy_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(value_, other.value_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~Handle() {
    if (value_ != T{}) destroy_(device_, value_, nullptr);
  }
  T get() const { return value_; }
  explicit operator bool() const { return value_ != T{}; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  T value_{};
  Destroy destroy_ = nullptr;
};

}  // namespace rc::vulkan
