// Runs of a compiled program.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "vulkan/program.h"

namespace rc::vulkan {
namespace {

// A submission takes about so long.
constexpr double kSubmissionSeconds = 0.02;
// One that took so long shows how fast the device is.
constexpr double kMinTimedSeconds = 0.002;
// should_stop is asked at least so often while the host waits.
constexpr int64_t kAskMs = 10;

void check_count(const char* what, int64_t count, int64_t limit) {
  if (count < 0 || count > limit) {
    fail(RC_E_INVALID_ARGUMENT, "a run of ", count, " ", what,
         "; the program was compiled for 0 to ", limit);
  }
}

}  // namespace

void Program::start(const rc_plugin_run& run) {
  if (run_ != nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "a run of this program is under way");
  }
  check_count("rows", run.rows, limits_.rows);
  check_count("outputs", run.outputs, limits_.outputs);
  check_count("sequences", run.sequences, limits_.sequences);
  rows_ = {run.rows, run.outputs, run.sequences};
  for (size_t i = 0; i < input_values_.size(); ++i) {
    if (input_values_[i].rank == 0) continue;  // no op has it
    const uint64_t bytes = value_bytes(input_values_[i], rows_).value();
    if (bytes == 0) continue;
    if (run.inputs[i] == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "input ", i, " of a run is NULL");
    }
    inputs_.write(input_regions_[i].offset, run.inputs[i], bytes);
  }
  const uint32_t counts[4] = {static_cast<uint32_t>(run.rows),
                              static_cast<uint32_t>(run.outputs),
                              static_cast<uint32_t>(run.sequences), 0};
  control_.write(0, counts, sizeof counts);
  std::memset(control_.mapped() + kFaultOffset, 0, 16);
  auto* commands = reinterpret_cast<VkDispatchIndirectCommand*>(
      control_.mapped() + kCommandsOffset);
  for (const Dispatch& dispatch : dispatches_) {
    const uint32_t rows = dispatch.rows.count(rows_);
    *commands++ = rows == 0 ? VkDispatchIndirectCommand{0, 0, 0}
                            : VkDispatchIndirectCommand{
                                  dispatch.x,
                                  (rows + dispatch.batch - 1) / dispatch.batch,
                                  dispatch.z};
  }
  times_.clear();
  run_ = &run;
  next_segment_ = 0;
  stopping_ = false;
  oldest_ = 0;
  try {
    submit_more();
  } catch (...) {
    end();
    throw;
  }
}

double Program::work_of(const Segment& segment) const {
  double work = 0;
  for (size_t i = segment.first; i < segment.last; ++i) {
    const RowRange& range = dispatches_[i].rows;
    const double rows = range.symbol == kSequences
                            ? static_cast<double>(rows_.rows)
                            : range.count(rows_);
    work += dispatches_[i].row_work * rows;
  }
  return work;
}

// Fills the free flights.
void Program::submit_more() {
  for (int i = 0; i < 2; ++i) {
    Submission& submission = submissions_[(oldest_ + i) % 2];
    if (submission.busy || stopping_ || next_segment_ == segments_.size())
      continue;
    std::vector<VkCommandBuffer> commands;
    submission.work = 0;
    while (next_segment_ < segments_.size() &&
           (commands.empty() ||
            submission.work < device_.speed * kSubmissionSeconds)) {
      submission.work += work_of(segments_[next_segment_]);
      commands.push_back(segments_[next_segment_++].commands);
    }
    VkFence fence = submission.fence.get();
    check(device_.vk().vkResetFences(device_.get(), 1, &fence),
          "vkResetFences");
    submission.begin = Clock::now();
    device_.submit(commands.data(), static_cast<uint32_t>(commands.size()),
                   fence);
    submission.busy = true;
  }
}

bool Program::wait(int64_t timeout_ms) {
  if (run_ == nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "no run is under way");
  }
  const auto deadline =
      Clock::now() + std::chrono::milliseconds(timeout_ms < 0 ? 0 : timeout_ms);
  try {
    for (;;) {
      if (!stopping_ && run_->should_stop != nullptr &&
          run_->should_stop(run_->user) != 0) {
        stopping_ = true;
        // What has begun may see it or not.
        const uint32_t stop = 1;
        control_.write(3 * sizeof stop, &stop, sizeof stop);
      }
      submit_more();
      Submission& submission = submissions_[oldest_];
      if (!submission.busy) break;
      int64_t ms = run_->should_stop != nullptr ? kAskMs : 1000;
      if (timeout_ms >= 0) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                              deadline - Clock::now())
                              .count();
        ms = std::clamp<int64_t>(left, 0, ms);
      }
      const VkFence fence = submission.fence.get();
      const VkResult result =
          device_.vk().vkWaitForFences(device_.get(), 1, &fence, VK_TRUE,
                                       static_cast<uint64_t>(ms) * 1000000);
      check(result, "vkWaitForFences");
      if (result == VK_TIMEOUT) {
        if (timeout_ms >= 0 && Clock::now() >= deadline) return false;
        continue;
      }
      submission.busy = false;
      const auto now = Clock::now();
      const std::chrono::duration<double> took = now - submission.begin;
      // Of a short submission most is the way there and back: the device is at
      // least as fast.
      const double speed = submission.work / std::max(took.count(), 1e-6);
      if (submission.work > 0 && !stopping_ &&
          (took.count() > kMinTimedSeconds || speed > device_.speed)) {
        device_.speed = 0.5 * device_.speed + 0.5 * speed;
      }
      oldest_ = 1 - oldest_;
      // The other one began to run only now.
      submissions_[oldest_].begin = now;
    }
    if (stopping_) fail(RC_E_CANCELLED, "the run was cancelled");
    finish();
  } catch (...) {
    end();
    throw;
  }
  end();
  return true;
}

void Program::check_fault() const {
  uint32_t fault[3];
  control_.read(kFaultOffset, fault, sizeof fault);
  if (fault[0] == 0) return;
  const Op& op = ops_[fault[0] - 1];
  fail(RC_E_INVALID_ARGUMENT, op_name(op.code), ": row ", fault[1],
       " asks for number ", static_cast<int32_t>(fault[2]), " of a table of ",
       values_[op.inputs[0]].value.shape[0]);
}

void Program::finish() {
  check_fault();
  for (size_t i = 0; i < output_values_.size(); ++i) {
    if (output_values_[i].rank == 0) continue;
    const uint64_t bytes = value_bytes(output_values_[i], rows_).value();
    if (bytes == 0) continue;
    if (run_->outputs_data[i] == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "output ", i, " of a run is NULL");
    }
    outputs_.read(output_regions_[i].offset, run_->outputs_data[i], bytes);
  }
  if (queries_) read_times();
}

void Program::read_times() {
  std::vector<uint8_t> known(ops_.size(), 0);
  for (const Dispatch& dispatch : dispatches_) known[dispatch.op] = 1;
  const double period = device_.limits().timestampPeriod;
  uint64_t origin = 0;
  for (size_t op = 0; op < ops_.size(); ++op) {
    if (known[op] == 0) continue;
    uint64_t both[2];
    check(device_.vk().vkGetQueryPoolResults(
              device_.get(), queries_.get(), static_cast<uint32_t>(2 * op), 2,
              sizeof both, both, sizeof both[0],
              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    if (times_.empty()) origin = both[0];
    const auto time = [&](uint64_t tick) {
      return static_cast<int64_t>(static_cast<double>(tick - origin) * period);
    };
    times_.push_back({sizeof(rc_plugin_op_time), static_cast<int64_t>(op),
                      time(both[0]), time(both[1])});
  }
}

void Program::end() noexcept {
  bool busy = false;
  for (Submission& submission : submissions_) {
    busy = busy || submission.busy;
    submission.busy = false;
  }
  if (busy) device_.wait_idle();
  run_ = nullptr;
}

}  // namespace rc::vulkan
