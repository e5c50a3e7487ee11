// The interface of a system whose kernels run in streams and are given the
// addresses of their buffers: CUDA's driver and HIP do the same under other
// names, and so have the rest of a driver below backends/gpu in common.
//
// Methods name the call that failed. Those that are noexcept are of objects
// that end: a failure does not matter, as everything goes with the device.
//
// Threads: any; but what is enqueued and what a module gives is only for a
// thread that made the device current (Current).
#pragma once

#include <cstddef>
#include <cstdint>

namespace rc::streams {

// Of memory, as kernels see it.
using Address = uint64_t;
using StreamHandle = struct OpaqueStream*;
using EventHandle = struct OpaqueEvent*;
using GraphHandle = struct OpaqueGraph*;
using ExecHandle = struct OpaqueExec*;
using ModuleHandle = struct OpaqueModule*;
using FunctionHandle = struct OpaqueFunction*;

struct Launch {
  FunctionHandle function;
  uint32_t groups[3];
  uint32_t items[3];      // of a group
  void* arguments;        // one after the other, as the kernel has them
  size_t argument_bytes;  // without padding at the end
};

class Driver {
 public:
  virtual ~Driver() = default;

  // Makes the device current on the calling thread until leave(), which is
  // given `before` and brings back what was. Returns the result of the call
  // that failed, or 0.
  virtual int enter(int* before) noexcept = 0;
  virtual void leave(int before) noexcept = 0;
  // Throws for a result of enter() that is not 0.
  virtual void check_entered(int result) const = 0;

  // Throws RC_E_DEVICE_MEMORY, naming the bytes.
  virtual Address allocate(uint64_t bytes) = 0;
  virtual void release(Address memory) noexcept = 0;
  // Of the host, which copies do not wait for and kernels may access under the
  // same address. Throws RC_E_OUT_OF_MEMORY, naming the bytes.
  virtual std::byte* allocate_pinned(uint64_t bytes) = 0;
  virtual void release_pinned(std::byte* memory) noexcept = 0;

  virtual StreamHandle make_stream() = 0;
  virtual void end(StreamHandle stream) noexcept = 0;
  virtual void synchronize(StreamHandle stream) = 0;

  virtual void copy_to_device(Address target, const void* source,
                              uint64_t bytes, StreamHandle stream) = 0;
  virtual void copy_to_host(void* target, Address source, uint64_t bytes,
                            StreamHandle stream) = 0;
  virtual void copy(Address target, Address source, uint64_t bytes,
                    StreamHandle stream) = 0;
  virtual void clear(Address target, uint64_t bytes, StreamHandle stream) = 0;

  // `is_timed`: for elapsed_ms; else a thread that waits for it sleeps.
  virtual EventHandle make_event(bool is_timed) = 0;
  virtual void end(EventHandle event) noexcept = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  virtual bool is_over(EventHandle event) = 0;
  virtual void wait(EventHandle event) = 0;
  virtual float elapsed_ms(EventHandle begin, EventHandle end) = 0;

  // `name` is for messages. Throws RC_E_DEVICE with the words of the driver if
  // it does not take the image.
  virtual ModuleHandle load(const char* image, const char* name) = 0;
  virtual void end(ModuleHandle module) noexcept = 0;
  virtual FunctionHandle function(ModuleHandle module, const char* name) = 0;
  virtual void launch(const Launch& launch, StreamHandle stream) = 0;

  virtual bool has_graphs() const = 0;
  // Enqueued work becomes a graph from now on; other threads may call the
  // driver meanwhile.
  virtual void begin_capture(StreamHandle stream) = 0;
  virtual GraphHandle end_capture(StreamHandle stream) = 0;
  virtual ExecHandle instantiate(GraphHandle graph) = 0;
  virtual void end(GraphHandle graph) noexcept = 0;
  virtual void end(ExecHandle exec) noexcept = 0;
  virtual void launch(ExecHandle exec, StreamHandle stream) = 0;
};

// Makes a device current on the calling thread while it lives, if the driver
// can: where a failure does not matter.
class MaybeCurrent {
 public:
  explicit MaybeCurrent(Driver& driver) noexcept
      : driver_(driver), result_(driver.enter(&before_)) {}
  ~MaybeCurrent() {
    if (*this) driver_.leave(before_);
  }
  MaybeCurrent(const MaybeCurrent&) = delete;
  MaybeCurrent& operator=(const MaybeCurrent&) = delete;

  explicit operator bool() const { return result_ == 0; }
  int result() const { return result_; }

 private:
  Driver& driver_;
  int before_ = 0;
  int result_;
};

// The same, or throws.
class Current {
 public:
  explicit Current(Driver& driver) : current_(driver) {
    if (!current_) driver.check_entered(current_.result());
  }

 private:
  MaybeCurrent current_;
};

}  // namespace rc::streams
