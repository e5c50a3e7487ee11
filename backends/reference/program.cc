#include "reference/program.h"

#include <algorithm>

#include "common/op_table.h"

namespace rc::reference {
namespace {

void execute(const Call& call) {
  static const plugin::OpTable<OpRow> kTable(
      {linear_ops(), norm_ops(), rope_ops(), attention_ops(), recurrence_ops(),
       elementwise_ops(), route_ops(), reshaping_ops(), ordering_ops(),
       reduction_ops(), product_ops()});
  const OpRow* row = kTable.find(call.op.code);
  if (row == nullptr) {
    fail(RC_E_INTERNAL, "op ", call.op.code, " passed the checks");
  }
  row->execute(call);
}

void check_count(const char* what, int64_t count, int64_t limit) {
  if (count < 0 || count > limit) {
    fail(RC_E_INVALID_ARGUMENT, "a run of ", count, " ", what,
         "; the program was compiled for 0 to ", limit);
  }
}

}  // namespace

Program::Program(plugin::GivenProgram program) : limits_(program.limits()) {
  program.check(
      [](const rc_plugin_weight* handle) -> plugin::WeightShape {
        const auto* weight = reinterpret_cast<const Weight*>(handle);
        return {weight->dtype, weight->shape};
      },
      [](const rc_plugin_buffer* handle) -> uint64_t {
        return reinterpret_cast<const Buffer*>(handle)->bytes.size();
      });
  values_ = std::move(program.values);
  ops_ = std::move(program.ops);
  for (rc_plugin_weight* weight : program.weights) {
    weights_.push_back(reinterpret_cast<Weight*>(weight));
  }
  for (rc_plugin_buffer* cache : program.caches) {
    caches_.push_back(reinterpret_cast<Buffer*>(cache));
  }
  scratch_.resize(program.scratch_bytes);
}

Tensor Program::tensor(int32_t number, const rc_plugin_run& run,
                       const Rows& rows) {
  if (number < 0) return {};
  const rc_plugin_value& value = values_[number];
  Tensor tensor;
  tensor.dtype = value.dtype;
  tensor.rank = value.rank;
  for (int i = 0; i < value.rank; ++i) {
    tensor.shape[i] = resolve_dimension(value.shape[i], rows);
  }
  switch (value.storage) {
    case RC_STORAGE_WEIGHT:
      // Only ever read, as inputs are.
      tensor.data = const_cast<std::byte*>(weights_[value.index]->bytes);
      break;
    case RC_STORAGE_CACHE:
      tensor.data = caches_[value.index]->bytes.data() + value.offset;
      break;
    case RC_STORAGE_INPUT:
      // Only ever read: no op's output is an input.
      tensor.data =
          static_cast<std::byte*>(const_cast<void*>(run.inputs[value.index]));
      break;
    case RC_STORAGE_SCRATCH:
      tensor.data = scratch_.data() + value.offset;
      break;
    case RC_STORAGE_OUTPUT:
      tensor.data = static_cast<std::byte*>(run.outputs_data[value.index]);
      break;
  }
  if (tensor.data == nullptr && tensor.rows() > 0) {
    fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
         ", has no memory");
  }
  return tensor;
}

void Program::run(const rc_plugin_run& run) {
  check_count("rows", run.rows, limits_.rows);
  check_count("outputs", run.outputs, limits_.outputs);
  check_count("sequences", run.sequences, limits_.sequences);
  const Rows rows = {run.rows, run.outputs, run.sequences};
  for (const Op& op : ops_) {
    Call call = {op, {}, {}, run.sequences, run};
    call.check_stop();
    for (int i = 0; i < kMaxInputs; ++i) {
      call.inputs[i] = tensor(op.inputs[i], run, rows);
    }
    for (int i = 0; i < kMaxOutputs; ++i) {
      call.outputs[i] = tensor(op.outputs[i], run, rows);
    }
    execute(call);
  }
}

}  // namespace rc::reference
