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
    case RC_OP_LINEAR:
      return linear(call);
    case RC_OP_ROPE:
      return rope(call);
    case RC_OP_CACHE_STORE:
      return cache_store(call);
    case RC_OP_ATTENTION:
      return attention(call);
    case RC_OP_GLU:
      return glu(call);
    case RC_OP_ADD:
      return add(call);
    case RC_OP_SCALE:
      return scale(call);
    case RC_OP_SOFTCAP:
      return softcap(call);
    case RC_OP_ROUTE:
      return route(call);
    case RC_OP_EXPERT_LINEAR:
      return expert_linear(call);
    case RC_OP_EXPERT_SUM:
      return expert_sum(call);
    case RC_OP_COPY:
      return copy(call);
    case RC_OP_CONVERT:
      return convert(call);
    case RC_OP_UNARY:
      return unary(call);
    case RC_OP_BINARY:
      return binary(call);
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
    case RC_OP_GATHER:
      return get_rows(call);
    case RC_OP_ROTATE:
      return rope(call);
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

Program::Program(const rc_plugin_program& program)
    : values_(program.values, program.values + program.value_count),
      ops_(program.ops, program.ops + program.op_count),
      input_count_(program.input_count),
      output_count_(program.output_count),
      limits_{program.max_rows, program.max_outputs, program.max_sequences} {
  for (size_t i = 0; i < program.weight_count; ++i) {
    weights_.push_back(reinterpret_cast<Weight*>(program.weights[i]));
  }
  for (size_t i = 0; i < program.cache_count; ++i) {
    caches_.push_back(reinterpret_cast<Buffer*>(program.caches[i]));
  }
  if (limits_.rows < 0 || limits_.outputs < 0 || limits_.sequences < 0) {
    fail(RC_E_INVALID_ARGUMENT,
         "a program for negative numbers of rows: ", limits_.rows, ", ",
         limits_.outputs, ", ", limits_.sequences);
  }
  scratch_.resize(program.scratch_bytes);
  for (size_t i = 0; i < values_.size(); ++i) check_storage(values_[i], i);
  for (const rc_plugin_op& op : ops_) check_op(op, values_);
}

void Program::check_storage(const rc_plugin_value& value, size_t number) const {
  check_value(value);
  const auto bytes = value_bytes(value, limits_);
  if (!bytes) {
    fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
         ", is too large");
  }
  if (value.storage == RC_STORAGE_SCRATCH) {
    if (value.offset % alignof(double) != 0 || value.offset > scratch_.size() ||
        *bytes > scratch_.size() - value.offset) {
      fail(RC_E_INVALID_ARGUMENT, "value ", number, " takes ", *bytes,
           " bytes at ", value.offset, " of ", scratch_.size(),
           " bytes of scratch");
    }
    return;
  }
  const size_t counts[] = {weights_.size(), caches_.size(), input_count_, 0,
                           output_count_};
  const size_t count = counts[value.storage];
  if (value.index < 0 || static_cast<size_t>(value.index) >= count) {
    fail(RC_E_INVALID_ARGUMENT, "value ", number, " has index ", value.index,
         " of ", count, " in storage ", value.storage);
  }
  if (value.storage == RC_STORAGE_WEIGHT) {
    const Weight* weight = weights_[value.index];
    if (weight == nullptr || weight->dtype != value.dtype ||
        !std::equal(weight->shape.begin(), weight->shape.end(), value.shape,
                    value.shape + value.rank)) {
      fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
           ", is not of the shape and type of weight ", value.index,
           weight == nullptr ? "" : ", ",
           weight == nullptr ? "" : weight->name);
    }
  }
  if (value.storage == RC_STORAGE_CACHE) {
    const Buffer* cache = caches_[value.index];
    const uint64_t size = cache == nullptr ? 0 : cache->bytes.size();
    if (value.offset > size || *bytes > size - value.offset) {
      fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
           ", needs ", *bytes, " bytes at ", value.offset, ", but cache ",
           value.index, " has ", size);
    }
    if (dtype_info(value.dtype)->block_size == 1 &&
        value.offset % *row_bytes(value.dtype, 1) != 0) {
      fail(RC_E_INVALID_ARGUMENT, "value ", number, ", ", value_text(value),
           ", does not begin at an element, but at byte ", value.offset);
    }
  }
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
  for (const rc_plugin_op& op : ops_) {
    Call call = {op, {}, {}, run.sequences, run};
    call.check_stop();
    for (int i = 0; i < RC_PLUGIN_MAX_INPUTS; ++i) {
      call.inputs[i] = tensor(op.inputs[i], run, rows);
    }
    for (int i = 0; i < RC_PLUGIN_MAX_OUTPUTS; ++i) {
      call.outputs[i] = tensor(op.outputs[i], run, rows);
    }
    execute(call);
  }
}

}  // namespace rc::reference
