// A compiled program: commands recorded once, run any number of times.
//
// The number of rows is data: every dispatch is indirect, and the host writes
// its work-groups and the counts that the shaders read before each run. So one
// recording serves every number of rows; dispatches for few and for many rows
// are both recorded, and one of them gets nothing to do.
//
// The commands are recorded in segments. A run submits as many at once as take
// about 20 ms at the speed of the last runs, which is all of them on a fast
// device, and asks should_stop between; shaders that begin after a stop do
// nothing. Two submissions are under way at a time.
//
// A row's results do not depend on the other rows of a run, bit for bit: every
// shader sums in one order whatever the number of rows. (A driver might break
// this by compiling the same sums differently for few and for many rows; the
// tests compare.)
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/given_program.h"
#include "tensor/op.h"
#include "vulkan/dispatch.h"

namespace rc::vulkan {

class Program {
 public:
  // Checks everything; throws RC_E_INVALID_ARGUMENT for a program that breaks a
  // rule of plugin.h.
  Program(Device& device, const plugin::GivenProgram& program);
  // Waits for a run that is under way.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Begins a run; `run` stays valid until wait has ended it.
  void start(const rc_plugin_run& run);
  // True if the run has ended; false after timeout_ms (negative: no limit).
  // Throws how it failed, RC_E_CANCELLED among others; it has ended then.
  bool wait(int64_t timeout_ms);

  // Of the last run. Empty without `profile`.
  const std::vector<rc_plugin_op_time>& times() const { return times_; }

 private:
  using Clock = std::chrono::steady_clock;

  // The counts come first in the control buffer, then what shaders refuse (see
  // Slots), then the indirect commands.
  static constexpr uint64_t kFaultOffset = 256;
  static constexpr uint64_t kCommandsOffset = 512;

  struct Segment {
    VkCommandBuffer commands;
    size_t first, last;  // dispatches, the last exclusive
  };
  struct Submission {
    Handle<VkFence> fence;
    bool busy = false;
    double work = 0;
    Clock::time_point begin;
  };

  void place_values(const plugin::GivenProgram& program);
  Region region_of(const plugin::GivenProgram& program, size_t number) const;
  void make_descriptors();
  VkBufferView view(const Region& region, VkFormat format);
  void record();
  void record_segment(size_t first, size_t last);
  void barrier(VkCommandBuffer commands, VkPipelineStageFlags to,
               VkAccessFlags access) const;
  void check_numbers(const rc_plugin_run& run) const;
  double work_of(const Segment& segment) const;
  void submit_more();
  // Throws what a shader refused.
  void check_fault() const;
  void finish();
  void read_times();
  void end() noexcept;

  Device& device_;
  std::vector<Placed> values_;
  std::vector<Op> ops_;
  Rows limits_;
  Buffer scratch_, inputs_, outputs_, control_;
  std::vector<Region> input_regions_, output_regions_;
  std::vector<rc_plugin_value> input_values_, output_values_;
  std::deque<Buffer> kept_;  // what dispatches of one op hand on
  std::vector<Dispatch> dispatches_;

  std::vector<Handle<VkBufferView>> views_;
  Handle<VkDescriptorPool> descriptors_;
  std::vector<VkDescriptorSet> sets_;  // by dispatch
  std::vector<Pipeline> pipelines_;    // by dispatch
  Handle<VkCommandPool> commands_;
  Handle<VkQueryPool> queries_;
  std::vector<Segment> segments_;
  std::vector<Region> read_, written_;  // since the last barrier of recording

  // The run under way.
  const rc_plugin_run* run_ = nullptr;
  Rows rows_;
  size_t next_segment_ = 0;
  bool stopping_ = false;
  Submission submissions_[2];
  int oldest_ = 0;
  std::vector<rc_plugin_op_time> times_;
};

}  // namespace rc::vulkan
