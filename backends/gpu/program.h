// A compiled program: placed once, recorded by the driver, and run any number
// of times with any number of rows.
//
// A run submits portions of about 10 ms at the speed of the last runs, which is
// all of it on a fast device, and asks should_stop between. Two portions are
// under way at a time, so that the device does not wait.
//
// A row's results do not depend on the other rows of a run, bit for bit, where
// the tuning does not let lanes share the columns of a product of few rows
// alone: every kernel sums in one order whatever the number of rows. (A driver
// might break this by compiling the same sums differently for few and for many
// rows; the tests compare.)
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/given_program.h"
#include "gpu/device.h"
#include "gpu/dispatch.h"
#include "gpu/placement.h"

namespace rc::gpu {

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
  // The same with other caches, by index; all ops are those of tensors. The
  // caches of earlier runs may be gone.
  void start_with(const rc_plugin_run& run, std::span<Buffer* const> caches);
  // True if the run has ended; false after timeout_ms (negative: no limit).
  // Throws how it failed, RC_E_CANCELLED among others; it has ended then.
  bool wait(int64_t timeout_ms);

  // Of the last run. Empty without `profile`.
  const std::vector<rc_plugin_op_time>& op_times() const { return op_times_; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Portion {
    bool under_way = false;
    double work = 0;
    Clock::time_point begin;
  };

  void check_idle() const;
  // Dispatches have these in place of the caches of the last run.
  void bind(std::span<Buffer* const> caches);
  RunSize size_of(const rc_plugin_run& run) const;
  void submit_more();
  void ask_to_stop();
  // Takes the oldest portion, which is over, into account.
  void end_portion();
  // Throws what a kernel refused.
  void check_fault() const;
  // Ends a run that failed or is not wanted: nothing of it is under way when it
  // returns.
  void abandon() noexcept;

  Device& device_;
  std::vector<Op> ops_;
  std::vector<uint64_t> cache_bytes_;  // that ops use, by index
  std::vector<uint64_t> bound_;  // caches by Buffer::number; empty: unknown
  Placement placement_;
  std::vector<std::unique_ptr<Buffer>> kept_;  // that dispatches hand on
  std::vector<Dispatch> dispatches_;
  std::unique_ptr<Recording> recording_;
  bool of_tensors_ = true;  // all ops are
  int32_t positions_ = -1;  // the input that attention takes positions from

  // The run under way.
  const rc_plugin_run* run_ = nullptr;
  std::vector<Transfer> outputs_;
  bool stopping_ = false;
  Portion portions_[2];
  int oldest_ = 0;
  std::vector<rc_plugin_op_time> op_times_;
};

}  // namespace rc::gpu
