#include "compute/at_once.h"

namespace rc::compute {
namespace {

// No device does more than that at once.
constexpr int64_t kMostElements = int64_t{1} << 20;

bool like(const Tensor& x, const Tensor& first) {
  return x.storage != nullptr && x.storage->buffer() != nullptr &&
         x.dtype == RC_DTYPE_F32 && x.shape == first.shape &&
         x.context->device() == first.context->device() && x.dense();
}

// Written in place, number by number: what is copied right after it was written
// waits for that.
void put_value(const Tensor& x, int32_t number, uint64_t offset,
               rc_plugin_value& value) {
  value = {};
  value.dtype = RC_DTYPE_F32;
  value.rank = static_cast<int32_t>(x.shape.size());
  for (size_t i = 0; i < x.shape.size(); ++i) value.shape[i] = x.shape[i];
  value.storage = RC_STORAGE_CACHE;
  value.index = number;
  value.offset = offset;
}

}  // namespace

std::optional<Tensor> at_once(Op op,
                              std::initializer_list<const Tensor*> operands) {
  const Tensor& first = **operands.begin();
  const Context& context = *first.context;
  if (context.placement() != nullptr || !context.device()->runs_ops()) {
    return {};
  }
  rc_plugin_value values[kMaxInputs + 1];
  rc_plugin_buffer* buffers[kMaxInputs + 1];
  int32_t count = 0;
  for (const Tensor* x : operands) {
    if (!like(*x, first)) return {};
    put_value(*x, count, x->byte_offset(), values[count]);
    buffers[count] = x->storage->buffer()->handle();
    op.inputs[count] = count;
    ++count;
  }
  if (first.elements() > kMostElements) return {};
  op.outputs[0] = count;
  std::optional<Tensor> result =
      make_result(first.context, RC_DTYPE_F32, first.shape);
  put_value(*result, count, 0, values[count]);
  buffers[count] = result->storage->buffer()->handle();
  Work work(context);
  if (!context.device()->run_op(op, {values, static_cast<size_t>(count) + 1},
                                buffers, work.spent_ns)) {
    return {};
  }
  return result;
}

}  // namespace rc::compute
