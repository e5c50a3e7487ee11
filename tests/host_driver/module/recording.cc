#include "recording.h"

#include <chrono>

#include "base/error.h"
#include "gpu/c_kernels.h"

namespace rc::host {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Recording::Recording(HostDevice& device, const gpu::PlacedProgram& program)
    : device_(device),
      counts_(3 * sizeof(int32_t)),
      fault_(sizeof(gpu::Fault)),
      pieces_(program.dispatches, UINT64_MAX) {
  for (const gpu::Dispatch& dispatch : program.dispatches) {
    steps_.push_back(step_of(dispatch));
  }
}

Recording::Step Recording::step_of(const gpu::Dispatch& dispatch) {
  const std::string name = gpu::kernel_name(dispatch.kernel);
  Step step = {&dispatch, nullptr, {}, {}};
  step.kernel = device_.library().kernel(
      cat("#include \"", name, ".cl\""), name,
      gpu::c_definitions({dispatch.kernel, dispatch.constants},
                         device_.tuning().vector));
  set_arguments(step);
  return step;
}

void Recording::set_arguments(Step& step) const {
  step.bound.clear();
  step.arguments.clear();
  const gpu::CCall call =
      gpu::c_call(*step.dispatch, {&counts_, 0, counts_.bytes()},
                  {&fault_, 0, fault_.bytes()});
  for (const gpu::Region& region : call.buffers) {
    step.bound.push_back(region);
    step.arguments.push_back(
        reinterpret_cast<uint64_t>(data_of(region.buffer)));
  }
  step.arguments.insert(step.arguments.end(),
                        call.places_and_parameters.begin(),
                        call.places_and_parameters.end());
}

void Recording::rebind() {
  for (Step& step : steps_) set_arguments(step);
}

void Recording::begin(const gpu::RunSize& size,
                      std::span<const gpu::Transfer> inputs,
                      std::span<const gpu::Transfer> outputs) {
  pieces_.begin(size);
  outputs_ = outputs;
  times_.clear();
  const int32_t counts[] = {static_cast<int32_t>(size.rows.rows),
                            static_cast<int32_t>(size.rows.outputs),
                            static_cast<int32_t>(size.rows.sequences)};
  counts_.write(0, counts, sizeof counts);
  fault_.clear();
  for (const gpu::Transfer& input : inputs) {
    const_cast<gpu::Buffer*>(input.region.buffer)
        ->write(input.region.offset, input.host, input.region.bytes);
  }
}

void Recording::run(const gpu::Pieces::Piece& piece) {
  const Step& step = steps_[piece.dispatch];
  const gpu::Dispatch& dispatch = *step.dispatch;
  const int64_t began = now();
  {
    const std::lock_guard lock(running());
    const BoundAlone bound(step.bound);
    device_.runner().run({gpu::kernel_name(dispatch.kernel),
                          step.kernel,
                          step.arguments,
                          {dispatch.constants[0], 1, 1},
                          {dispatch.x, piece.count, dispatch.z},
                          piece.begin});
  }
  if (!device_.profile()) return;
  if (times_.empty() || times_.back().op != dispatch.op) {
    times_.push_back({sizeof(rc_plugin_op_time), dispatch.op, began, 0});
  }
  times_.back().end_ns = now();
}

double Recording::submit(int, double work) {
  return pieces_.launch(
      work, [this](const gpu::Pieces::Piece& piece) { run(piece); });
}

gpu::Fault Recording::fault() const {
  uint32_t words[3] = {};
  fault_.read(0, words, sizeof words);
  return {words[0], words[1], words[2]};
}

void Recording::finish() {
  for (const gpu::Transfer& output : outputs_) {
    output.region.buffer->read(output.region.offset, output.host,
                               output.region.bytes);
  }
}

}  // namespace rc::host
