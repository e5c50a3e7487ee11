#include "blas/program.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "common/op_table.h"

namespace rc::blas {
namespace {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

const OpRow* find_row(int32_t code) {
  static const plugin::OpTable<OpRow> kTable({matrix_ops(), convolution_ops()});
  return kTable.find(code);
}

Program::Program(const plugin::GivenProgram& program, const Machine& machine,
                 bool profile)
    : machine_(machine), profile_(profile), memory_(program) {
  for (const Op& op : program.ops) {
    const OpRow* const row = find_row(op.code);
    if (row == nullptr) {
      fail(RC_E_UNSUPPORTED, "there is no ", op_name(op.code), " in BLAS");
    }
    row->check(op, program.values);
    thread_stride_ = std::max(thread_stride_, row->scratch(op, program.values));
    steps_.push_back({op, row});
  }
  thread_stride_ = (thread_stride_ + 63) / 64 * 64;
  thread_scratch_ = plugin::AlignedMemory(
      thread_stride_ * static_cast<uint64_t>(machine.team.threads()));
  if (profile_) times_.reserve(steps_.size());
}

void Program::run_with(const rc_plugin_run& run,
                       std::span<plugin::HostBuffer* const> caches) {
  memory_.check_caches(caches);
  run_on(run, caches);
}

void Program::run_on(const rc_plugin_run& run,
                     std::span<plugin::HostBuffer* const> caches) {
  memory_.check_size(run);
  times_.clear();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const int64_t begin = profile_ ? now_ns() : 0;
    run_step(steps_[i], run, caches);
    if (profile_) {
      times_.push_back({sizeof(rc_plugin_op_time), static_cast<int64_t>(i),
                        begin, now_ns()});
    }
  }
}

void Program::run_step(const Step& step, const rc_plugin_run& run,
                       std::span<plugin::HostBuffer* const> caches) {
  Call call = {.op = step.op, .machine = machine_, .run = run};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    call.inputs[i] = {memory_.value(step.op.inputs[i], run, caches)};
  }
  call.output = {memory_.value(step.op.outputs[0], run, caches)};
  call.scratch = thread_scratch_.data();
  call.scratch_stride = thread_stride_;
  // A run without rows has nothing to do, but may be stopped.
  if (call.output.shape[0] > 0 && !call.stops()) step.row->run(call);
  if (call.stopped) fail(RC_E_CANCELLED, "the run was cancelled");
}

}  // namespace rc::blas
