// Buffers of devices.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "runtime/device.h"
#include "runtime/quietly.h"

namespace rc::runtime {
namespace {

// Of the host's memory that bytes pass through from device to device.
constexpr uint64_t kPart = uint64_t{16} << 20;

}  // namespace

template <class Function>
std::shared_ptr<Buffer> Device::make_buffer(const char* verb, uint64_t bytes,
                                            const Function& function) {
  check_not_abandoned();
  auto buffer = std::make_shared<Buffer>(shared_from_this(), bytes);
  rc_plugin_buffer* handle = nullptr;
  Message message;
  const rc_status status = function(&handle, message.buffer());
  if (status != RC_OK) {  // the text takes longer than a small buffer
    check(*this, cat(verb, " a buffer of ", bytes, " bytes").c_str(), status,
          message);
  }
  buffer->handle_ = handle;
  if (buffer->handle_ == nullptr) {
    fail(RC_E_DEVICE, id(), ": the plugin gave no handle for a buffer of ",
         bytes, " bytes");
  }
  return buffer;
}

std::shared_ptr<Buffer> Device::create_buffer(uint64_t bytes) {
  return make_buffer(
      "create", bytes, [&](rc_plugin_buffer** buffer, char* message) {
        return plugin_.create_buffer(handle_, bytes, buffer, message);
      });
}

std::shared_ptr<Buffer> Device::borrow_buffer(
    void* data, uint64_t bytes, std::shared_ptr<const void> owner) {
  if (plugin_.borrow_buffer == nullptr) {
    fail(RC_E_UNSUPPORTED, id(),
         " has separate memory and cannot borrow the caller's; "
         "rc_tensor_from_data copies it there");
  }
  auto kept = std::make_unique<std::shared_ptr<const void>>(std::move(owner));
  auto buffer =
      make_buffer("borrow", bytes, [&](rc_plugin_buffer** made, char* message) {
        return plugin_.borrow_buffer(handle_, data, bytes, made, message);
      });
  buffer->owner_ = std::move(kept);
  return buffer;
}

Buffer::~Buffer() {
  if (handle_ == nullptr) return;
  if (device_->abandoned()) {
    leak_deliberately(handle_);
    leak_deliberately(owner_.release());
    return;
  }
  quietly("giving something back", [&] {
    device_->plugin().destroy_buffer(device_->handle(), handle_);
  });
}

void Buffer::check_range(uint64_t offset, uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    fail(RC_E_INVALID_ARGUMENT, device_->id(), ": ", bytes, " bytes at ",
         offset, " of a buffer of ", bytes_, " bytes");
  }
}

void Buffer::upload(uint64_t offset, const void* data, uint64_t bytes) {
  check_range(offset, bytes);
  const auto turn = device_->turn();
  Message message;
  check(*device_, "upload to a buffer",
        device_->plugin().upload(device_->handle(), handle_, offset, data,
                                 bytes, message.buffer()),
        message);
}

void Buffer::download(uint64_t offset, void* data, uint64_t bytes) const {
  check_range(offset, bytes);
  const auto turn = device_->turn();
  Message message;
  check(*device_, "download from a buffer",
        device_->plugin().download(device_->handle(), handle_, offset, data,
                                   bytes, message.buffer()),
        message);
}

std::byte* Buffer::memory() const {
  const rc_plugin& plugin = device_->plugin();
  if (plugin.buffer_memory == nullptr) {
    fail(RC_E_UNSUPPORTED, device_->id(),
         " has separate memory; rc_tensor_read copies from there");
  }
  const auto turn = device_->turn();
  void* data = nullptr;
  Message message;
  check(
      *device_, "say where a buffer lies",
      plugin.buffer_memory(device_->handle(), handle_, &data, message.buffer()),
      message);
  if (data == nullptr) {
    fail(RC_E_DEVICE, device_->id(), ": the plugin gave no address");
  }
  return static_cast<std::byte*>(data);
}

void Buffer::copy_from(const Buffer& source, uint64_t target_offset,
                       uint64_t source_offset, uint64_t bytes) {
  check_range(target_offset, bytes);
  source.check_range(source_offset, bytes);
  const rc_plugin& plugin = device_->plugin();
  if (plugin.copy != nullptr && source.device_ == device_) {
    const auto turn = device_->turn();
    Message message;
    check(*device_, "copy between buffers",
          plugin.copy(device_->handle(), handle_, target_offset, source.handle_,
                      source_offset, bytes, message.buffer()),
          message);
  } else if (source.device_->plugin().buffer_memory != nullptr) {
    upload(target_offset, source.memory() + source_offset, bytes);
  } else if (plugin.buffer_memory != nullptr) {
    source.download(source_offset, memory() + target_offset, bytes);
  } else {
    const auto part =
        std::make_unique_for_overwrite<std::byte[]>(std::min(bytes, kPart));
    for (uint64_t done = 0; done < bytes; done += kPart) {
      const uint64_t count = std::min(bytes - done, kPart);
      source.download(source_offset + done, part.get(), count);
      upload(target_offset + done, part.get(), count);
    }
  }
}

}  // namespace rc::runtime
