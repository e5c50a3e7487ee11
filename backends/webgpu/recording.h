// The dispatches of a program with what they bind. Command buffers of WebGPU
// are used once, so that each portion of a run is encoded when it is submitted,
// from pipelines and bind groups that are made once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/dispatch.h"
#include "webgpu/pipelines.h"
#include "webgpu/places.h"
#include "webgpu/webgpu_device.h"

namespace rc::webgpu {

class Recording final : public gpu::Recording {
 public:
  Recording(WebGpuDevice& device, const gpu::PlacedProgram& program);

  void rebind() override;
  void begin(const gpu::RunSize& size, std::span<const gpu::Transfer> inputs,
             std::span<const gpu::Transfer> outputs) override;
  double submit(int portion, double work) override;
  bool submitted() const override { return next_ == dispatches_.size(); }
  bool wait(int portion, int64_t timeout_ms) override;
  // Nothing reaches what has been submitted, which are a few milliseconds.
  void stop() override {}
  void finish() override;
  gpu::Fault fault() const override;
  void wait_idle() noexcept override;
  std::vector<rc_plugin_op_time> op_times() const override { return {}; }

 private:
  // Bytes that are copied before a dispatch.
  struct Copy {
    abi::Buffer source;
    uint64_t offset;
    abi::Buffer target;
    uint64_t target_offset;
    uint64_t bytes;
  };
  struct Step {
    Pipeline pipeline;
    std::vector<Copy> copies;
    std::vector<BufferHandle> copied;  // to
    GroupHandle group;
  };
  struct Bound {
    abi::Buffer buffer;
    uint64_t offset;
  };
  // Of a portion, which callbacks may outlive.
  struct Progress {
    bool over = true;
  };

  void make_parameters();
  void make_all_steps();
  // Those of an op, from `first` to before `last`.
  void make_steps(size_t first, size_t last);
  void make_group(size_t number, uint32_t written);
  // Where an op writes a region, and where it reads one: a copy if what it
  // writes lies in the same buffer, or if parts of it lie in several.
  Bound written_at(const gpu::Region& region, uint32_t scratch_number);
  Bound read_at(const gpu::Region& region,
                const std::vector<abi::Buffer>& written, Step* step);
  abi::Buffer scratch_buffer(uint32_t number);
  void encode(abi::Encoder encoder, abi::Pass* pass, size_t number,
              uint32_t rows) const;
  void read_back(abi::Encoder encoder);
  void fetch();

  WebGpuDevice& device_;
  const gpu::Buffer* scratch_ = nullptr;
  const std::span<const gpu::Dispatch> dispatches_;
  std::vector<Step> steps_;  // by dispatch
  BufferHandle counts_, fault_, parameters_, nothing_;
  uint64_t parameter_step_ = 0;
  ScratchMap map_;
  std::vector<BufferHandle> more_scratch_;  // numbers from 1 on

  // The run that has begun.
  gpu::RunSize size_;
  std::span<const gpu::Transfer> outputs_;
  size_t next_ = 0;
  std::shared_ptr<Progress> progress_[2];  // by portion
  BufferHandle staging_;                   // the fault, then the outputs
  uint64_t staging_bytes_ = 0;
  bool staged_ = false;
  std::vector<uint8_t> results_;  // of the staging buffer; empty: not yet read
};

}  // namespace rc::webgpu
