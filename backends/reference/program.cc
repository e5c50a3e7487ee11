#include "reference/program.h"

#include <algorithm>

namespace rc::reference {
namespace {

void execute(const Call& call) {
  switch (call.op.code) {
    case RC_OP_GET_ROWS:
      return get_rows(call);
    case RC_OP_RMS_NORM:
      return rms_norm(call);
    case RC_OP_GROUP_NORM:
      return group_norm(call);
    case RC_OP_LINEAR:
      return linear(call);
    case RC_OP_ROPE:
      return rope(call);
    case RC_OP_CACHE_STORE:
      return cache_store(call);
    case RC_OP_ATTENTION:
      return attention(call);
    case RC_OP_GENERAL_ATTENTION:
      return general_attention(call);
    case RC_OP_GLU:
      return glu(call);
    case RC_OP_ADD:
      return add(call);
    case RC_OP_MULTIPLY:
      return multiply(call);
    case RC_OP_SCALE:
      return scale(call);
    case RC_OP_SOFTCAP:
      return softcap(call);
    case RC_OP_ROUTE:
      return route(call);
    case RC_OP_CHOOSE:
      return choose(call);
    case RC_OP_SPARSE_MIX:
      return sparse_mix(call);
    case RC_OP_AFFINE:
      return affine(call);
    case RC_OP_XIELU:
      return xielu(call);
    case RC_OP_CHOOSE_IN_GROUPS:
      return choose_in_groups(call);
    case RC_OP_JOIN:
      return join(call);
    case RC_OP_CLAMP:
      return clamp(call);
    case RC_OP_EXPERT_LINEAR:
      return expert_linear(call);
    case RC_OP_EXPERT_SUM:
      return expert_sum(call);
    case RC_OP_SHORT_CONV:
      return short_conv(call);
    case RC_OP_SELECTIVE_SCAN:
      return selective_scan(call);
    case RC_OP_CHANNEL_SCAN:
      return channel_scan(call);
    case RC_OP_DELTA_RULE:
      return delta_rule(call);
    case RC_OP_COLUMN_DELTA_RULE:
      return column_delta_rule(call);
    case RC_OP_FADING_STATE:
      return fading_state(call);
    case RC_OP_COPY:
      return copy(call);
    case RC_OP_CONVERT:
      return convert(call);
    case RC_OP_UNARY:
      return unary(call);
    case RC_OP_BINARY:
      return binary(call);
    case RC_OP_WHERE:
      return where(call);
    case RC_OP_LAYER_NORM:
      return layer_norm(call);
    case RC_OP_SOFTMAX:
      return softmax(call);
    case RC_OP_REDUCE:
      return reduce(call);
    case RC_OP_ARGMAX:
      return argmax(call);
    case RC_OP_MATMUL:
      return matmul(call);
    case RC_OP_CONV2D:
      return conv2d(call);
    case RC_OP_ATTEND:
      return attend(call);
    case RC_OP_CONCAT:
      return concat(call);
    case RC_OP_PAD:
      return pad(call);
    case RC_OP_CUMSUM:
      return cumsum(call);
    case RC_OP_ORDER:
      return order(call);
    case RC_OP_TAKE:
      return take(call);
  }
  fail(RC_E_INTERNAL, "op ", call.op.code, " passed the checks");
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
