// A program as kernels with their arguments, run when they are submitted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buffer.h"
#include "gpu/device.h"
#include "gpu/dispatch.h"
#include "gpu/pieces.h"
#include "host_device.h"

namespace rc::host {

class Recording final : public gpu::Recording {
 public:
  Recording(HostDevice& device, const gpu::PlacedProgram& program);

  void rebind() override;
  void begin(const gpu::RunSize& size, std::span<const gpu::Transfer> inputs,
             std::span<const gpu::Transfer> outputs) override;
  double submit(int portion, double work) override;
  bool submitted() const override { return pieces_.is_at_end(); }
  bool wait(int, int64_t) override { return true; }
  void stop() override {}
  void finish() override;
  gpu::Fault fault() const override;
  void wait_idle() noexcept override {}
  std::vector<rc_plugin_op_time> op_times() const override { return times_; }

 private:
  struct Step {
    const gpu::Dispatch* dispatch;
    HostKernel* kernel;
    std::vector<uint64_t> arguments;
    std::vector<gpu::Region> bound;
  };

  Step step_of(const gpu::Dispatch& dispatch);
  void set_arguments(Step& step) const;
  void run(const gpu::Pieces::Piece& piece);

  HostDevice& device_;
  Buffer counts_;  // I32: rows, outputs, sequences of the run
  Buffer fault_;   // see gpu/kernel.h
  std::vector<Step> steps_;
  gpu::Pieces pieces_;

  // The run that has begun.
  std::span<const gpu::Transfer> outputs_;
  std::vector<rc_plugin_op_time> times_;  // with profile
};

}  // namespace rc::host
