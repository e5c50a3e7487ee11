// A program as steps that a run enqueues, portion by portion.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/device.h"
#include "gpu/pieces.h"
#include "opencl/buffer.h"
#include "opencl/opencl_device.h"
#include "opencl/step.h"

namespace rc::opencl {

class Recording final : public gpu::Recording {
 public:
  Recording(OpenClDevice& device, const gpu::PlacedProgram& program);

  void rebind() override;
  void begin(const gpu::RunSize& size, std::span<const gpu::Transfer> inputs,
             std::span<const gpu::Transfer> outputs) override;
  double submit(int portion, double work) override;
  bool submitted() const override { return outputs_enqueued_; }
  bool wait(int portion, int64_t timeout_ms) override;
  void stop() override {}
  void finish() override {}
  gpu::Fault fault() const override {
    return {host_fault_[0], host_fault_[1], host_fault_[2]};
  }
  void wait_idle() noexcept override { api().Finish(device_.queue()); }
  std::vector<rc_plugin_op_time> op_times() const override;

 private:
  struct Launch {
    int32_t op;
    Event event;
  };
  gpu::Region counts_region() const {
    return {&counts_, 0, sizeof host_counts_};
  }
  gpu::Region fault_region() const { return {&fault_, 0, sizeof host_fault_}; }
  void enqueue(const gpu::Pieces::Piece& piece);
  void enqueue_outputs();

  OpenClDevice& device_;
  Buffer counts_;  // I32: rows, outputs, sequences of the run
  Buffer fault_;   // see gpu/kernel.h
  std::vector<Step> steps_;
  const bool may_refuse_;  // a step does
  gpu::Pieces pieces_;

  // The run that has begun.
  cl_int host_counts_[3];
  cl_uint host_fault_[4] = {};
  std::span<const gpu::Transfer> outputs_;
  bool outputs_enqueued_ = false;
  Event ends_[2];                 // of portions
  std::vector<Launch> launches_;  // with profile
};

}  // namespace rc::opencl
