// HIP for one device, which all handles of a process share, so that memory of
// one can be read by another, and with other users of HIP.
#pragma once

#include <cstdint>

#include "streams/driver.h"

namespace rc::rocm {

class HipDriver final : public streams::Driver {
 public:
  explicit HipDriver(int device) : device_(device) {}

  int enter(int* before) noexcept override;
  void leave(int before) noexcept override;
  void check_entered(int result) const override;

  streams::Address allocate(uint64_t bytes) override;
  void release(streams::Address memory) noexcept override;
  std::byte* allocate_pinned(uint64_t bytes) override;
  void release_pinned(std::byte* memory) noexcept override;

  streams::StreamHandle make_stream() override;
  void end(streams::StreamHandle stream) noexcept override;
  void synchronize(streams::StreamHandle stream) override;

  void copy_to_device(streams::Address target, const void* source,
                      uint64_t bytes, streams::StreamHandle stream) override;
  void copy_to_host(void* target, streams::Address source, uint64_t bytes,
                    streams::StreamHandle stream) override;
  void copy(streams::Address target, streams::Address source, uint64_t bytes,
            streams::StreamHandle stream) override;
  void clear(streams::Address target, uint64_t bytes,
             streams::StreamHandle stream) override;

  streams::EventHandle make_event(bool is_timed) override;
  void end(streams::EventHandle event) noexcept override;
  void record(streams::EventHandle event,
              streams::StreamHandle stream) override;
  bool is_over(streams::EventHandle event) override;
  void wait(streams::EventHandle event) override;
  float elapsed_ms(streams::EventHandle begin,
                   streams::EventHandle end) override;

  streams::ModuleHandle load(const char* image, const char* name) override;
  void end(streams::ModuleHandle module) noexcept override;
  streams::FunctionHandle function(streams::ModuleHandle module,
                                   const char* name) override;
  void launch(const streams::Launch& launch,
              streams::StreamHandle stream) override;

  bool has_graphs() const override { return true; }
  void begin_capture(streams::StreamHandle stream) override;
  streams::GraphHandle end_capture(streams::StreamHandle stream) override;
  streams::ExecHandle instantiate(streams::GraphHandle graph) override;
  void end(streams::GraphHandle graph) noexcept override;
  void end(streams::ExecHandle exec) noexcept override;
  void launch(streams::ExecHandle exec, streams::StreamHandle stream) override;

 private:
  const int device_;
};

}  // namespace rc::rocm
