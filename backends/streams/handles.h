// Streams, events and graphs of a driver, owned.
#pragma once

#include <utility>

#include "streams/driver.h"

namespace rc::streams {

// The driver lives longer.
template <class Handle>
class Owned {
 public:
  Owned() = default;
  Owned(Driver& driver, Handle handle) : driver_(&driver), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : driver_(other.driver_),
        handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ == nullptr) return;
    if (const MaybeCurrent current(*driver_); current) driver_->end(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Driver* driver_ = nullptr;
  Handle handle_ = nullptr;
};

using Stream = Owned<StreamHandle>;
using Event = Owned<EventHandle>;
using Graph = Owned<GraphHandle>;
using GraphExec = Owned<ExecHandle>;

}  // namespace rc::streams
