#include "runtime/pinned.h"

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace rc::runtime {
namespace {

// Of a page of most machines.
constexpr std::align_val_t kPage{4096};

std::byte* plain_memory(const Device& device, uint64_t bytes) {
  void* memory =
      bytes > std::numeric_limits<size_t>::max() / 2
          ? nullptr
          : ::operator new(static_cast<size_t>(bytes), kPage, std::nothrow);
  if (memory == nullptr) {
    fail(RC_E_OUT_OF_MEMORY, device.id(), ": there is no memory for ", bytes,
         " bytes");
  }
  std::memset(memory, 0, static_cast<size_t>(bytes));
  return static_cast<std::byte*>(memory);
}

}  // namespace

Pinned::Pinned(std::shared_ptr<Device> device, uint64_t bytes)
    : device_(std::move(device)), bytes_(bytes) {
  const rc_plugin& plugin = device_->plugin();
  if (plugin.create_pinned == nullptr || plugin.destroy_pinned == nullptr) {
    if (plugin.buffer_memory == nullptr) {
      fail(RC_E_UNSUPPORTED, device_->id(),
           " has no memory of the host's that it moves numbers from by itself; "
           "rc_tensor_from_data and rc_tensor_read take any memory");
    }
    data_ = plain_memory(*device_, bytes);
    return;
  }
  // The plugin's values are used only after a success.
  rc_plugin_pinned* handle = nullptr;
  void* data = nullptr;
  Message message;
  check(*device_, "make memory for moving numbers",
        plugin.create_pinned(device_->handle(), bytes, &handle, &data,
                             message.buffer()),
        message);
  if (handle == nullptr || data == nullptr) {
    fail(RC_E_DEVICE, device_->id(), ": the plugin gave no memory for ", bytes,
         " bytes");
  }
  handle_ = handle;
  data_ = static_cast<std::byte*>(data);
}

Pinned::~Pinned() {
  if (handle_ == nullptr) {
    ::operator delete(data_, kPage);
    return;
  }
  if (device_->abandoned()) {
    leak_deliberately(handle_);
    return;
  }
  try {
    device_->plugin().destroy_pinned(device_->handle(), handle_);
  } catch (...) {
    log(RC_LOG_ERROR,
        "a plugin threw an exception while giving something back");
  }
}

}  // namespace rc::runtime
