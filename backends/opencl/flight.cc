#include "opencl/flight.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/error.h"

namespace rc::opencl {
namespace {

constexpr double kPortionNanoseconds = 10e6;
constexpr size_t kPortionsAhead = 2;

// Throws if an event ended with a failure.
void check_event(cl_event event) {
  cl_int status = CL_COMPLETE;
  check(api().GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                           sizeof status, &status, nullptr),
        "clGetEventInfo");
  if (status < 0) fail_call(status, "a command");
}

bool is_complete(cl_event event) {
  cl_int status = CL_COMPLETE;
  check(api().GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                           sizeof status, &status, nullptr),
        "clGetEventInfo");
  return status <= CL_COMPLETE;
}

}  // namespace

struct Flight::Bell {
  std::mutex mutex;
  std::condition_variable rung;
  bool is_rung = false;
};

Flight::Flight(Device& device, rc_plugin_compiled& program,
               const rc_plugin_run& run, Pace& pace)
    : device_(device),
      program_(program),
      run_(run),
      pace_(pace),
      rows_{run.rows, run.outputs, run.sequences},
      counts_{static_cast<cl_int>(run.rows), static_cast<cl_int>(run.outputs),
              static_cast<cl_int>(run.sequences)},
      last_end_(Clock::now()) {
  program.check(run);
  if (program.positions >= 0) {
    const auto* positions =
        static_cast<const int32_t*>(run.inputs[program.positions]);
    for (int64_t r = 0; r < run.rows; ++r) {
      positions_ = std::max<uint64_t>(
          positions_, static_cast<uint64_t>(std::max(positions[r], 0)) + 1);
    }
  }
  try {
    enqueue_inputs();
    enqueue_portion();
  } catch (...) {
    api().Finish(device_.queue());
    throw;
  }
}

Flight::~Flight() {
  if (!over_) api().Finish(device_.queue());
}

void Flight::enqueue_inputs() {
  const auto write = [&](cl_mem memory, const void* data, uint64_t bytes) {
    if (bytes == 0) return;
    check(api().EnqueueWriteBuffer(device_.queue(), memory, CL_FALSE, 0, bytes,
                                   data, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  };
  write(program_.counts.get(), counts_, sizeof counts_);
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    if (program_.inputs[i] == nullptr) continue;
    const rc_plugin_value& value = program_.values[program_.input_values[i]];
    write(program_.inputs[i].get(), run_.inputs[i],
          value_bytes(value, rows_).value());
  }
}

void Flight::enqueue_outputs() {
  for (size_t i = 0; i < program_.outputs.size(); ++i) {
    if (program_.outputs[i] == nullptr) continue;
    const rc_plugin_value& value = program_.values[program_.output_values[i]];
    const uint64_t bytes = value_bytes(value, rows_).value();
    if (bytes == 0) continue;
    check(api().EnqueueReadBuffer(device_.queue(), program_.outputs[i].get(),
                                  CL_FALSE, 0, bytes, run_.outputs_data[i], 0,
                                  nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  outputs_enqueued_ = true;
}

uint64_t Flight::row_cost(const Step& step) const {
  uint64_t times = 1;
  if (step.attention) times = positions_;
  if (step.dimension == RC_DIM_SEQUENCES) {
    // Each goes through its own part of the rows.
    times = static_cast<uint64_t>(rows_.rows /
                                  std::max<int64_t>(rows_.sequences, 1));
  }
  return std::max<uint64_t>(step.cost * times, 1);
}

void Flight::enqueue_range(const Step& step, const Range& range,
                           const size_t* begin, const size_t* count) {
  cl_event event = nullptr;
  check(api().EnqueueNDRangeKernel(device_.queue(), range.kernel.get(), 2,
                                   begin, count, range.group, 0, nullptr,
                                   device_.profile() ? &event : nullptr),
        "clEnqueueNDRangeKernel");
  if (event != nullptr) {
    Event owned(event);
    launches_.push_back({step.op, std::move(owned)});
  }
}

uint64_t Flight::enqueue_some(uint64_t cost) {
  const Step& step = program_.steps[step_];
  const int64_t rows =
      resolve_dimension(step.dimension, rows_) * step.rows_per_row;
  if (rows == 0) {
    ++step_;
    return 0;
  }
  const Range& range = step.range(rows);
  const auto blocks = static_cast<size_t>((rows + range.rows_per_block - 1) /
                                          range.rows_per_block);
  const uint64_t block_cost =
      row_cost(step) * static_cast<uint64_t>(range.rows_per_block);
  const auto most =
      std::max<size_t>(static_cast<size_t>(device_.tuning().groups) *
                           range.group[1] / range.items[1],
                       1);
  const auto taken = static_cast<size_t>(std::clamp<uint64_t>(
      cost / block_cost, 1, std::min(most, blocks - block_)));
  const size_t begin[] = {0, block_ * range.items[1]};
  const size_t count[] = {range.items[0], taken * range.items[1]};
  enqueue_range(step, range, begin, count);
  block_ += taken;
  if (block_ == blocks) {
    ++step_;
    block_ = 0;
  }
  return taken * block_cost;
}

void Flight::enqueue_portion() {
  const auto budget = static_cast<uint64_t>(
      std::max(1.0, kPortionNanoseconds * pace_.products_per_ns));
  uint64_t cost = 0;
  while (step_ < program_.steps.size() && cost < budget) {
    cost += enqueue_some(budget - cost);
  }
  if (step_ == program_.steps.size()) enqueue_outputs();
  cl_event event = nullptr;
  check(api().EnqueueMarkerWithWaitList(device_.queue(), 0, nullptr, &event),
        "clEnqueueMarkerWithWaitList");
  Event end(event);
  check(api().Flush(device_.queue()), "clFlush");
  portions_.push_back({std::move(end), cost, !outputs_enqueued_});
}

bool Flight::wait_for(cl_event event,
                      std::optional<Clock::time_point> deadline) {
  if (!deadline) {
    const cl_int code = api().WaitForEvents(1, &event);
    check_event(event);
    check(code, "clWaitForEvents");
    return true;
  }
  if (!is_complete(event)) {
    if (Clock::now() >= *deadline) return false;
    auto bell = std::make_shared<Bell>();
    auto user = std::make_unique<std::shared_ptr<Bell>>(bell);
    check(api().SetEventCallback(
              event, CL_COMPLETE,
              [](cl_event, cl_int, void* data) {
                std::unique_ptr<std::shared_ptr<Bell>> given(
                    static_cast<std::shared_ptr<Bell>*>(data));
                const std::lock_guard lock((*given)->mutex);
                (*given)->is_rung = true;
                (*given)->rung.notify_all();
              },
              user.get()),
          "clSetEventCallback");
    (void)user.release();
    std::unique_lock lock(bell->mutex);
    if (!bell->rung.wait_until(lock, *deadline,
                               [&] { return bell->is_rung; })) {
      return false;
    }
  }
  check_event(event);
  return true;
}

bool Flight::finish(std::optional<Clock::time_point> deadline) {
  while (true) {
    if (!stopped_ && run_.should_stop != nullptr &&
        run_.should_stop(run_.user) != 0) {
      stopped_ = true;
    }
    while (!stopped_ && !outputs_enqueued_ &&
           portions_.size() < kPortionsAhead) {
      enqueue_portion();
    }
    if (portions_.empty()) break;
    if (!wait_for(portions_.front().end.get(), deadline)) return false;
    const Clock::time_point now = Clock::now();
    const auto taken = static_cast<double>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_end_)
            .count());
    last_end_ = now;
    // Portions of five to ten milliseconds are right; one that the program's
    // end cut short says nothing about how long a whole one takes.
    double& pace = pace_.products_per_ns;
    const Portion& portion = portions_.front();
    if (taken > kPortionNanoseconds) {
      pace = std::max(static_cast<double>(portion.cost) / taken, pace / 4);
    } else if (portion.whole && taken < kPortionNanoseconds / 2) {
      pace *= 2;
    }
    portions_.pop_front();
  }
  over_ = true;
  if (stopped_ && !outputs_enqueued_) {
    fail(RC_E_CANCELLED, "stopped by the caller");
  }
  return true;
}

std::vector<rc_plugin_op_time> Flight::op_times() const {
  std::vector<rc_plugin_op_time> times;
  for (const Launch& launch : launches_) {
    const auto moment = [&](cl_profiling_info name) {
      cl_ulong ns = 0;
      check(api().GetEventProfilingInfo(launch.event.get(), name, sizeof ns,
                                        &ns, nullptr),
            "clGetEventProfilingInfo");
      return static_cast<int64_t>(ns);
    };
    const int64_t end = moment(CL_PROFILING_COMMAND_END);
    if (!times.empty() && times.back().op == launch.op) {
      times.back().end_ns = end;
    } else {
      times.push_back({sizeof(rc_plugin_op_time), launch.op,
                       moment(CL_PROFILING_COMMAND_START), end});
    }
  }
  return times;
}

}  // namespace rc::opencl
