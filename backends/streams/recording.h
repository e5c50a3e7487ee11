// A program as kernels that a run launches, portion by portion.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/device.h"
#include "gpu/dispatch.h"
#include "gpu/pieces.h"
#include "streams/buffer.h"
#include "streams/graphs.h"
#include "streams/handles.h"
#include "streams/stream_device.h"

namespace rc::streams {

class Recording final : public gpu::Recording {
 public:
  Recording(StreamDevice& device, const gpu::PlacedProgram& program);

  void rebind() override;
  void begin(const gpu::RunSize& size, std::span<const gpu::Transfer> inputs,
             std::span<const gpu::Transfer> outputs) override;
  double submit(int portion, double work) override;
  bool submitted() const override { return outputs_enqueued_; }
  bool wait(int portion, int64_t timeout_ms) override;
  void stop() override {}
  void finish() override;
  gpu::Fault fault() const override;
  void wait_idle() noexcept override;
  std::vector<rc_plugin_op_time> op_times() const override;

 private:
  // One kernel over a grid: dimension 1 counts blocks of rows, the others lie
  // within a row.
  struct Step {
    const gpu::Dispatch* dispatch;
    FunctionHandle function;
    // Its parameters: addresses of buffers, the struct of places and
    // parameters, and in the lower half of the last word the first block.
    std::vector<uint64_t> arguments;
  };
  // The moments when what is before it is over.
  struct Moment {
    int32_t op;  // that ended
    Event event;
  };

  void set_arguments(Step& step) const;
  // Launches all of the run at once, if it has at most `work` and came before.
  // False: nothing was launched.
  bool launch_graph(double work);
  void launch(const gpu::Pieces::Piece& piece);
  void record_moment(int32_t op);
  void enqueue_outputs();
  void upload(const Buffer& buffer, uint64_t offset, const void* data,
              uint64_t bytes);
  void download(const Buffer& buffer, uint64_t offset, uint64_t bytes);

  StreamDevice& device_;
  Buffer counts_;  // I32: rows, outputs, sequences of the run
  Buffer fault_;   // see gpu/kernel.h
  std::vector<Step> steps_;
  const bool may_refuse_;  // a step does
  Event ends_[2];          // of portions
  gpu::Pieces pieces_;
  Graphs graphs_;

  // The run that has begun.
  gpu::RunSize size_;
  std::span<const gpu::Transfer> outputs_;
  bool outputs_enqueued_ = false;
  std::vector<Moment> moments_;  // with profile; the first is the begin
};

}  // namespace rc::streams
