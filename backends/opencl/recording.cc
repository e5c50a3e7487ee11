#include "opencl/recording.h"

#include <algorithm>

#include "base/error.h"
#include "opencl/wait.h"

namespace rc::opencl {

Recording::Recording(OpenClDevice& device, const gpu::PlacedProgram& program)
    : device_(device),
      counts_(device, sizeof host_counts_),
      fault_(device, sizeof host_fault_),
      steps_(steps_of(device, program, counts_region(), fault_region())),
      may_refuse_(
          std::any_of(steps_.begin(), steps_.end(),
                      [](const Step& step) { return step.may_refuse; })) {}

void Recording::rebind() {
  for (const Step& step : steps_) {
    set_arguments(step, counts_region(), fault_region());
  }
}

void Recording::begin(const gpu::RunSize& size,
                      std::span<const gpu::Transfer> inputs,
                      std::span<const gpu::Transfer> outputs) {
  size_ = size;
  outputs_ = outputs;
  step_ = block_ = 0;
  outputs_enqueued_ = false;
  launches_.clear();
  host_counts_[0] = static_cast<cl_int>(size.rows.rows);
  host_counts_[1] = static_cast<cl_int>(size.rows.outputs);
  host_counts_[2] = static_cast<cl_int>(size.rows.sequences);
  const auto write = [&](cl_mem memory, uint64_t offset, const void* data,
                         uint64_t bytes) {
    check(api().EnqueueWriteBuffer(device_.queue(), memory, CL_FALSE, offset,
                                   bytes, data, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  };
  write(counts_.get(), 0, host_counts_, sizeof host_counts_);
  if (may_refuse_) {
    std::fill(std::begin(host_fault_), std::end(host_fault_), 0);
    write(fault_.get(), 0, host_fault_, sizeof host_fault_);
  }
  for (const gpu::Transfer& input : inputs) {
    write(memory_of(input.region.buffer), input.region.offset, input.host,
          input.region.bytes);
  }
}

void Recording::enqueue_outputs() {
  const auto read = [&](cl_mem memory, uint64_t offset, void* data,
                        uint64_t bytes) {
    check(api().EnqueueReadBuffer(device_.queue(), memory, CL_FALSE, offset,
                                  bytes, data, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  };
  for (const gpu::Transfer& output : outputs_) {
    read(memory_of(output.region.buffer), output.region.offset, output.host,
         output.region.bytes);
  }
  if (may_refuse_) read(fault_.get(), 0, host_fault_, sizeof host_fault_);
  outputs_enqueued_ = true;
}

void Recording::enqueue_range(const Step& step, size_t begin, size_t count) {
  const size_t offset[] = {0, begin, 0};
  const size_t items[] = {step.across, count, step.deep};
  const size_t group[] = {step.group, 1, 1};
  cl_event event = nullptr;
  check(api().EnqueueNDRangeKernel(
            device_.queue(), step.kernel.get(), step.deep > 1 ? 3 : 2, offset,
            items, group, 0, nullptr, device_.profile() ? &event : nullptr),
        "clEnqueueNDRangeKernel");
  if (event != nullptr) {
    Event owned(event);
    launches_.push_back({step.op, std::move(owned)});
  }
}

double Recording::enqueue_some(double work) {
  const Step& step = steps_[step_];
  const uint32_t rows = step.rows.count(size_.rows);
  if (rows == 0) {
    ++step_;
    return 0;
  }
  const size_t blocks = (size_t{rows} + step.batch - 1) / step.batch;
  const double block_work =
      std::max(step.work.of(step.rows, size_, step.batch), 1.0);
  const size_t left =
      std::min<size_t>(device_.tuning().groups, blocks - block_);
  const auto taken = static_cast<size_t>(
      std::clamp(work / block_work, 1.0, static_cast<double>(left)));
  enqueue_range(step, block_, taken);
  block_ += taken;
  if (block_ == blocks) {
    ++step_;
    block_ = 0;
  }
  return static_cast<double>(taken) * block_work;
}

double Recording::submit(int portion, double work) {
  double taken = 0;
  while (step_ < steps_.size() && (taken == 0 || taken < work)) {
    taken += enqueue_some(work - taken);
  }
  if (step_ == steps_.size()) enqueue_outputs();
  cl_event event = nullptr;
  check(api().EnqueueMarkerWithWaitList(device_.queue(), 0, nullptr, &event),
        "clEnqueueMarkerWithWaitList");
  ends_[portion].reset(event);
  check(api().Flush(device_.queue()), "clFlush");
  return taken;
}

bool Recording::wait(int portion, int64_t timeout_ms) {
  // Portions are short, so that nothing need be asked meanwhile.
  return wait_for(ends_[portion].get(), timeout_ms);
}

std::vector<rc_plugin_op_time> Recording::op_times() const {
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
