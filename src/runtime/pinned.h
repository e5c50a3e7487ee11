// Memory of the host's that a device moves numbers from and to by itself (see
// create_pinned in plugin.h), with the lifetime of a C++ object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/device.h"

namespace rc::runtime {

class Pinned {
 public:
  // Zero at first. Throws RC_E_UNSUPPORTED if the device has none, and what the
  // plugin reports.
  Pinned(std::shared_ptr<Device> device, uint64_t bytes);
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  const std::shared_ptr<Device> device_;
  const uint64_t bytes_;
  rc_plugin_pinned* handle_ = nullptr;  // nullptr: memory of ours
  std::byte* data_ = nullptr;
};

}  // namespace rc::runtime
