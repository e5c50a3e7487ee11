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
                      [](const Step& step) { return step.may_refuse; })),
      pieces_(program.dispatches, device.tuning().groups) {}

void Recording::rebind() {
  for (const Step& step : steps_) {
    set_arguments(step, counts_region(), fault_region());
  }
}

void Recording::begin(const gpu::RunSize& size,
                      std::span<const gpu::Transfer> inputs,
                      std::span<const gpu::Transfer> outputs) {
  pieces_.begin(size);
  outputs_ = outputs;
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

void Recording::enqueue(const gpu::Pieces::Piece& piece) {
  const Step& step = steps_[piece.dispatch];
  const size_t offset[] = {0, piece.begin, 0};
  const size_t items[] = {step.across, piece.count, step.deep};
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

double Recording::submit(int portion, double work) {
  const double taken = pieces_.launch(
      work, [this](const gpu::Pieces::Piece& piece) { enqueue(piece); });
  if (pieces_.is_at_end()) enqueue_outputs();
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
