#include "blas/program.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "common/op_table.h"
#include "tensor/value.h"

namespace rc::blas {
namespace {

void check_count(const char* what, int64_t count, int64_t limit) {
  if (count < 0 || count > limit) {
    fail(RC_E_INVALID_ARGUMENT, "a run of ", count, " ", what,
         "; the program was compiled for 0 to ", limit);
  }
}

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

Program::Program(plugin::GivenProgram program, const Machine& machine,
                 bool profile)
    : machine_(machine), profile_(profile), limits_(program.limits()) {
  program.check(
      [](const rc_plugin_weight* handle) -> plugin::WeightShape {
        const auto* weight = reinterpret_cast<const Weight*>(handle);
        return {weight->dtype, weight->shape};
      },
      [](const rc_plugin_buffer* handle) -> uint64_t {
        return reinterpret_cast<const Buffer*>(handle)->bytes.size();
      });
  for (const Op& op : program.ops) {
    const OpRow* const row = find_row(op.code);
    if (row == nullptr) {
      fail(RC_E_UNSUPPORTED, "there is no ", op_name(op.code), " in BLAS");
    }
    row->check(op, program.values);
    thread_stride_ = std::max(thread_stride_, row->scratch(op, program.values));
    of_tensors_ = of_tensors_ && is_tensor_op(op, program.values);
    steps_.push_back({op, row});
  }
  values_ = std::move(program.values);
  for (rc_plugin_weight* weight : program.weights) {
    weights_.push_back(reinterpret_cast<Weight*>(weight));
  }
  for (rc_plugin_buffer* cache : program.caches) {
    caches_.push_back(reinterpret_cast<Buffer*>(cache));
  }
  cache_bytes_.resize(caches_.size());
  for (const rc_plugin_value& value : values_) {
    if (value.storage != RC_STORAGE_CACHE) continue;
    uint64_t& bytes = cache_bytes_[static_cast<size_t>(value.index)];
    bytes = std::max(bytes, value.offset + *value_bytes(value, limits_));
  }
  thread_stride_ = (thread_stride_ + 63) / 64 * 64;
  thread_scratch_ = AlignedMemory(
      thread_stride_ * static_cast<uint64_t>(machine.team.threads()));
  scratch_ = AlignedMemory(program.scratch_bytes);
  if (profile_) times_.reserve(steps_.size());
}

Operand Program::operand(int32_t number, const rc_plugin_run& run,
                         std::span<Buffer* const> caches) const {
  if (number < 0) return {};
  const rc_plugin_value& value = values_[static_cast<size_t>(number)];
  const auto index = static_cast<size_t>(value.index);
  Operand operand;
  operand.dtype = value.dtype;
  operand.rank = value.rank;
  const Rows rows = {run.rows, run.outputs, run.sequences};
  for (int i = 0; i < value.rank; ++i) {
    operand.shape[static_cast<size_t>(i)] =
        resolve_dimension(value.shape[i], rows);
  }
  switch (value.storage) {
    case RC_STORAGE_WEIGHT:
      // Only ever read, as inputs are.
      operand.data = const_cast<std::byte*>(weights_[index]->bytes);
      break;
    case RC_STORAGE_CACHE:
      operand.data = caches[index]->bytes.data() + value.offset;
      break;
    case RC_STORAGE_INPUT:
      if (run.inputs != nullptr) {
        operand.data =
            static_cast<std::byte*>(const_cast<void*>(run.inputs[index]));
      }
      break;
    case RC_STORAGE_SCRATCH:
      operand.data = scratch_.data() + value.offset;
      break;
    case RC_STORAGE_OUTPUT:
      if (run.outputs_data != nullptr) {
        operand.data = static_cast<std::byte*>(run.outputs_data[index]);
      }
      break;
  }
  if (operand.data == nullptr && operand.shape[0] > 0) {
    fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
         ", has no memory");
  }
  return operand;
}

void Program::run_with(const rc_plugin_run& run,
                       std::span<Buffer* const> caches) {
  if (!of_tensors_ || caches.size() != cache_bytes_.size()) {
    fail(RC_E_INVALID_ARGUMENT, "a run with ", caches.size(),
         " caches of a program with ", cache_bytes_.size(),
         of_tensors_ ? "" : " and ops of more than tensors");
  }
  for (size_t i = 0; i < caches.size(); ++i) {
    if (caches[i]->bytes.size() < cache_bytes_[i]) {
      fail(RC_E_INVALID_ARGUMENT, "cache ", i, " of the run has ",
           caches[i]->bytes.size(), " bytes; the values of the program take ",
           cache_bytes_[i]);
    }
  }
  run_on(run, caches);
}

void Program::run_on(const rc_plugin_run& run,
                     std::span<Buffer* const> caches) {
  if (run.struct_size < sizeof(rc_plugin_run)) {
    fail(RC_E_INVALID_ARGUMENT, "the run has ", run.struct_size,
         " bytes instead of ", sizeof(rc_plugin_run));
  }
  check_count("rows", run.rows, limits_.rows);
  check_count("outputs", run.outputs, limits_.outputs);
  check_count("sequences", run.sequences, limits_.sequences);
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
                       std::span<Buffer* const> caches) {
  Call call = {.op = step.op, .machine = machine_, .run = run};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    call.inputs[i] = operand(step.op.inputs[i], run, caches);
  }
  call.output = operand(step.op.outputs[0], run, caches);
  call.scratch = thread_scratch_.data();
  call.scratch_stride = thread_stride_;
  // A run without rows has nothing to do, but may be stopped.
  if (call.output.shape[0] > 0 && !call.stops()) step.row->run(call);
  if (call.stopped) fail(RC_E_CANCELLED, "the run was cancelled");
}

}  // namespace rc::blas
