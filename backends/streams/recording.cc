#include "streams/recording.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "gpu/c_kernels.h"
#include "gpu/kernel.h"
#include "streams/wait.h"

namespace rc::streams {
namespace {

constexpr uint64_t kCountBytes = 3 * sizeof(int32_t);
constexpr uint64_t kFaultBytes = 4 * sizeof(uint32_t);
constexpr double kEverything = 1e300;  // more than any work

const Buffer& buffer_of(const gpu::Transfer& transfer) {
  return streams::buffer_of(transfer.region);
}

}  // namespace

Recording::Recording(StreamDevice& device, const gpu::PlacedProgram& program)
    : device_(device),
      counts_(device.driver(), device.runs(), kCountBytes,
              gpu::MemoryUse::kToDevice),
      fault_(device.driver(), device.runs(), kFaultBytes,
             gpu::MemoryUse::kToHost),
      may_refuse_(std::any_of(program.dispatches.begin(),
                              program.dispatches.end(),
                              [](const gpu::Dispatch& dispatch) {
                                return gpu::slots_of(dispatch.kernel).fault;
                              })),
      pieces_(program.dispatches, device.tuning().groups),
      graphs_(device.driver(), device.runs()) {
  const Current current(device_.driver());
  for (const gpu::Dispatch& dispatch : program.dispatches) {
    steps_.push_back({&dispatch,
                      device_.function({dispatch.kernel, dispatch.constants}),
                      {}});
    set_arguments(steps_.back());
  }
  for (Event& end : ends_) {
    end = {device_.driver(), device_.driver().make_event(/*is_timed=*/false)};
  }
}

void Recording::set_arguments(Step& step) const {
  const gpu::CCall call = gpu::c_call(
      *step.dispatch, {&counts_, 0, kCountBytes}, {&fault_, 0, kFaultBytes});
  step.arguments.clear();
  for (const gpu::Region& region : call.buffers) {
    step.arguments.push_back(streams::buffer_of(region).address());
  }
  step.arguments.insert(step.arguments.end(),
                        call.places_and_parameters.begin(),
                        call.places_and_parameters.end());
  step.arguments.push_back(0);
}

void Recording::rebind() {
  graphs_.clear();
  for (Step& step : steps_) set_arguments(step);
}

// Through the host's own bytes of the buffer, since a copy from other memory
// would wait.
void Recording::upload(const Buffer& buffer, uint64_t offset, const void* data,
                       uint64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(buffer.host() + offset, data, bytes);
  device_.driver().copy_to_device(
      buffer.address() + offset, buffer.host() + offset, bytes, device_.runs());
}

void Recording::download(const Buffer& buffer, uint64_t offset,
                         uint64_t bytes) {
  if (bytes == 0) return;
  device_.driver().copy_to_host(
      buffer.host() + offset, buffer.address() + offset, bytes, device_.runs());
}

void Recording::begin(const gpu::RunSize& size,
                      std::span<const gpu::Transfer> inputs,
                      std::span<const gpu::Transfer> outputs) {
  const Current current(device_.driver());
  size_ = size;
  outputs_ = outputs;
  pieces_.begin(size);
  outputs_enqueued_ = false;
  moments_.clear();
  const int32_t counts[] = {static_cast<int32_t>(size.rows.rows),
                            static_cast<int32_t>(size.rows.outputs),
                            static_cast<int32_t>(size.rows.sequences)};
  upload(counts_, 0, counts, sizeof counts);
  if (may_refuse_) {
    constexpr uint32_t kNothing[4] = {};
    upload(fault_, 0, kNothing, sizeof kNothing);
  }
  for (const gpu::Transfer& input : inputs) {
    upload(buffer_of(input), input.region.offset, input.host,
           input.region.bytes);
  }
  if (device_.profile()) record_moment(-1);
}

void Recording::record_moment(int32_t op) {
  // The end of an op is that of its last dispatch.
  if (moments_.empty() || moments_.back().op != op) {
    Driver& driver = device_.driver();
    moments_.push_back({op, {driver, driver.make_event(/*is_timed=*/true)}});
  }
  device_.driver().record(moments_.back().event.get(), device_.runs());
}

void Recording::launch(const gpu::Pieces::Piece& piece) {
  Step& step = steps_[piece.dispatch];
  const gpu::Dispatch& dispatch = *step.dispatch;
  step.arguments.back() = piece.begin;
  // The last argument has four bytes.
  const size_t bytes =
      step.arguments.size() * sizeof(uint64_t) - sizeof(uint32_t);
  device_.driver().launch(
      {step.function,
       {dispatch.x, static_cast<uint32_t>(piece.count), dispatch.z},
       {dispatch.constants[0], 1, 1},
       step.arguments.data(),
       bytes},
      device_.runs());
  if (device_.profile()) record_moment(dispatch.op);
}

bool Recording::launch_graph(double work) {
  if (device_.tuning().graphs == 0 || device_.profile() ||
      !device_.driver().has_graphs() || pieces_.work() > work) {
    return false;
  }
  const auto launch_all = [this] {
    while (const auto piece = pieces_.take(kEverything)) launch(*piece);
  };
  const bool launched = graphs_.launch(size_.rows, launch_all);
  // Making a graph takes the pieces as well.
  pieces_.begin(size_);
  if (launched) pieces_.skip_to_end();
  return launched;
}

void Recording::enqueue_outputs() {
  for (const gpu::Transfer& output : outputs_) {
    download(buffer_of(output), output.region.offset, output.region.bytes);
  }
  if (may_refuse_) download(fault_, 0, kFaultBytes);
  outputs_enqueued_ = true;
}

double Recording::submit(int portion, double work) {
  const Current current(device_.driver());
  double taken = 0;
  if (pieces_.is_at_begin() && launch_graph(work)) {
    taken = pieces_.work();
  } else {
    taken = pieces_.launch(
        work, [this](const gpu::Pieces::Piece& piece) { launch(piece); });
  }
  if (pieces_.is_at_end()) enqueue_outputs();
  device_.driver().record(ends_[portion].get(), device_.runs());
  return taken;
}

bool Recording::wait(int portion, int64_t timeout_ms) {
  const Current current(device_.driver());
  return wait_for(device_.driver(), ends_[portion].get(), timeout_ms);
}

void Recording::finish() {
  for (const gpu::Transfer& output : outputs_) {
    if (output.region.bytes == 0) continue;
    std::memcpy(output.host, buffer_of(output).host() + output.region.offset,
                output.region.bytes);
  }
}

gpu::Fault Recording::fault() const {
  if (!may_refuse_) return {};
  uint32_t words[3];
  std::memcpy(words, fault_.host(), sizeof words);
  return {words[0], words[1], words[2]};
}

void Recording::wait_idle() noexcept {
  const MaybeCurrent current(device_.driver());
  if (!current) return;
  try {
    device_.driver().synchronize(device_.runs());
  } catch (...) {
  }
}

std::vector<rc_plugin_op_time> Recording::op_times() const {
  std::vector<rc_plugin_op_time> times;
  if (moments_.empty()) return times;
  const Current current(device_.driver());
  int64_t before = 0;
  for (size_t i = 1; i < moments_.size(); ++i) {
    const float ms = device_.driver().elapsed_ms(moments_[0].event.get(),
                                                 moments_[i].event.get());
    const auto end = static_cast<int64_t>(double{ms} * 1e6);
    times.push_back({sizeof(rc_plugin_op_time), moments_[i].op, before, end});
    before = end;
  }
  return times;
}

}  // namespace rc::streams
