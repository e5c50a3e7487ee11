#include "compute/across.h"

#include <algorithm>
#include <utility>

#include "compute/at_once.h"
#include "runtime/program.h"
#include "tensor/op.h"

namespace rc::compute {
namespace {

// Beyond, a copy takes little of the time of a product, and memory that is used
// again for the next one is worth more.
constexpr int64_t kMostCopied = int64_t{1} << 18;

bool is_across(const Tensor& a) {
  const size_t rank = a.shape.size();
  return !a.empty() && a.dtype == RC_DTYPE_F32 && a.strides[rank - 2] == 1 &&
         a.shape[rank - 2] > 1 && a.shape[rank - 1] > 1 &&
         a.strides[rank - 1] >= a.shape[rank - 2] &&
         a.elements() <= kMostCopied;
}

bool is_plain(const Tensor& x) {
  return x.storage->buffer() != nullptr && x.context->placement() == nullptr;
}

rc_plugin_value value_of(DType dtype, const Shape& shape, int32_t storage,
                         int32_t index, uint64_t offset) {
  rc_plugin_value value = {};
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  value.storage = storage;
  value.index = index;
  value.offset = offset;
  return value;
}

}  // namespace

std::optional<Tensor> product_across(const Tensor& a, const Shape& a_as,
                                     const Tensor& b, const Shape& b_as,
                                     bool transposed, const Shape& shape) {
  if (!is_across(a) || !is_plain(a) || !is_plain(b) ||
      a.context->device() != b.context->device()) {
    return {};
  }
  // By number: what a lies in, b, the result, the copy as it is made and as it
  // is read.
  enum : int32_t { kA, kB, kResult, kCopy, kLeft };
  runtime::ProgramDescription description;
  Op copy;
  copy.code = RC_OP_COPY;
  int64_t reach = 1;
  for (size_t i = 0; i < a.shape.size(); ++i) {
    const int64_t stride = a.shape[i] > 1 ? a.strides[i] : 0;
    copy.params.copy.strides[i] = stride;
    reach += (a.shape[i] - 1) * stride;
  }
  description.caches = {
      value_of(a.dtype, {reach}, RC_STORAGE_CACHE, kA, a.byte_offset()),
      value_of(b.dtype, b_as, RC_STORAGE_CACHE, kB, b.byte_offset()),
      value_of(a.dtype, {a_as[0], a_as[1], shape.back()}, RC_STORAGE_CACHE,
               kResult, 0)};
  description.values = description.caches;
  description.values.push_back(
      value_of(a.dtype, a.shape, RC_STORAGE_SCRATCH, kCopy, 0));
  description.values.push_back(
      value_of(a.dtype, a_as, RC_STORAGE_SCRATCH, kCopy, 0));
  copy.inputs[0] = kA;
  copy.outputs[0] = kCopy;
  Op product;
  product.code = RC_OP_MATMUL;
  product.params.matmul.transposed = transposed ? 1 : 0;
  product.params.matmul.function = RC_FUNCTION_NONE;
  product.inputs[0] = kLeft;
  product.inputs[1] = kB;
  product.outputs[0] = kResult;
  description.ops = {copy, product};

  const std::shared_ptr<Context>& context = a.context;
  const std::shared_ptr<runtime::Device>& device = context->device();
  for (const Op& op : description.ops) {
    check_op(op, description.values);
    runtime::Message message;
    const rc_status status =
        device->op_supported(op, description.values.data(), message);
    if (status == RC_E_UNSUPPORTED) return {};
    check(*device, "say whether it supports an op", status, message);
  }
  Paid paid(context->pool()->account(), a.bytes());
  paid.use();
  const Tensor result = make_result(context, RC_DTYPE_F32, shape);
  Work work(*context);
  const auto program = runtime::Program::compile(
      device, std::move(description), {1, 0, 0}, {},
      {a.storage->buffer(), b.storage->buffer(), result.storage->buffer()});
  runtime::RunArguments arguments;
  arguments.rows = 1;
  arguments.spent_ns = &work.spent_ns;
  program->run(arguments, context->timeout_ms());
  return result;
}

}  // namespace rc::compute
