// Weights and buffers of devices that compute in the host's memory, and what
// such a device does with them, as plugin_table.h asks for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "runcible/plugin.h"
#include "tensor/dtype.h"

namespace rc::plugin {

// At least 64-byte aligned, contents undefined. Throws std::bad_alloc.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(uint64_t bytes) : data_(allocate(bytes)) {}
  std::byte* data() const { return data_.get(); }

 private:
  static constexpr size_t kAlignment = 64;
  static std::byte* allocate(uint64_t bytes) {
    // The aligned operator new of libstdc++ rounds sizes up without a check.
    if (bytes > PTRDIFF_MAX) throw std::bad_alloc();
    return static_cast<std::byte*>(::operator new(
        std::max<uint64_t>(bytes, 1), std::align_val_t(kAlignment)));
  }
  struct Free {
    void operator()(std::byte* p) const {
      ::operator delete(p, std::align_val_t(kAlignment));
    }
  };
  std::unique_ptr<std::byte, Free> data_;
};

// A weight, as given.
struct HostWeight {
  DType dtype = RC_DTYPE_F32;
  std::vector<int64_t> shape;
  AlignedMemory copy;  // nothing if the host keeps the bytes
  const std::byte* bytes = nullptr;
};

struct HostBuffer {
  AlignedMemory own;  // nothing if the host keeps the bytes
  std::span<std::byte> bytes;
};

// Base of a device whose runs are over when their function returns.
class HostDevice {
 public:
  std::unique_ptr<HostBuffer> create_buffer(uint64_t bytes) const {
    auto made = std::make_unique<HostBuffer>();
    made->own = AlignedMemory(bytes);
    made->bytes = {made->own.data(), static_cast<size_t>(bytes)};
    std::memset(made->own.data(), 0, bytes);
    return made;
  }
  std::unique_ptr<HostBuffer> borrow_buffer(void* data, uint64_t bytes) const {
    auto made = std::make_unique<HostBuffer>();
    made->bytes = {static_cast<std::byte*>(data), static_cast<size_t>(bytes)};
    return made;
  }
  void* buffer_memory(const HostBuffer& buffer) const {
    return buffer.bytes.data();
  }
  void upload(HostBuffer& buffer, uint64_t offset, const void* data,
              uint64_t bytes) const {
    std::memcpy(buffer.bytes.data() + offset, data, bytes);
  }
  void download(const HostBuffer& buffer, uint64_t offset, void* data,
                uint64_t bytes) const {
    std::memcpy(data, buffer.bytes.data() + offset, bytes);
  }
  void copy(HostBuffer& target, uint64_t target_offset,
            const HostBuffer& source, uint64_t source_offset,
            uint64_t bytes) const {
    std::memmove(target.bytes.data() + target_offset,
                 source.bytes.data() + source_offset, bytes);
  }

  bool wait(int64_t) {
    if (!std::exchange(has_run_, false)) {
      fail(RC_E_INVALID_ARGUMENT, "no run is under way");
    }
    if (failure_ != nullptr) {
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    return true;
  }

 protected:
  // A weight that stays at `data`, and one of its first `bytes` bytes.
  static std::unique_ptr<HostWeight> mapped(const rc_plugin_weight_info& info,
                                            const void* data) {
    auto made = std::make_unique<HostWeight>();
    made->dtype = info.dtype;
    made->shape.assign(info.shape, info.shape + info.rank);
    made->bytes = static_cast<const std::byte*>(data);
    return made;
  }
  static std::unique_ptr<HostWeight> copied(const rc_plugin_weight_info& info,
                                            const void* data, uint64_t bytes) {
    auto made = mapped(info, data);
    made->copy = AlignedMemory(bytes);
    std::memcpy(made->copy.data(), data, bytes);
    made->bytes = made->copy.data();
    return made;
  }

  // Runs the function, whose failure wait() throws.
  template <class Function>
  void complete(const Function& function) {
    has_run_ = true;
    failure_ = nullptr;
    try {
      function();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

 private:
  bool has_run_ = false;
  std::exception_ptr failure_;
};

}  // namespace rc::plugin
