// The tensor ops of plugin.h as a whole; their steps are in steps_*.cc.
#include "opencl/tensor_ops.h"

#include "base/error.h"
#include "opencl/arguments.h"
#include "opencl/buffer.h"
#include "opencl/compiler.h"
#include "tensor/dtype.h"

namespace rc::opencl {
namespace {

void check_decodable(const Device& device, const Op& op, rc_dtype dtype) {
  const char* reason = device.packing().undecodable(dtype);
  if (*reason != '\0') {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " of ", dtype_name(dtype), ": ",
         reason);
  }
}

// Work-items keep a whole head.
void check_head(const Op& op, const rc_plugin_value& q) {
  constexpr int64_t kLargestHead = 1024;
  if (q.shape[3] > kLargestHead) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " of ", value_text(q),
         ": heads have ", kLargestHead, " elements at most");
  }
}

void check_conv2d(const Op& op, const rc_plugin_value* values) {
  const rc_plugin_value& x = values[op.inputs[0]];
  const rc_plugin_value& weight = values[op.inputs[1]];
  const rc_plugin_value& y = values[op.outputs[0]];
  const auto& padding = op.params.conv2d.padding;
  for (const int64_t size :
       {x.shape[2] + 2 * int64_t{padding[0]},
        x.shape[3] + 2 * int64_t{padding[1]}, product_of(weight, 1, 4),
        product_of(y, 2, 4), x.shape[0] * op.params.conv2d.groups}) {
    if (size > kLargest) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " of ", value_text(x), " with ",
           value_text(weight),
           ": more elements of a window, pixels or groups than kernels count");
    }
  }
}

}  // namespace

void check_tensor_op_supported(const Device& device, const Op& op,
                               const rc_plugin_value* values) {
  switch (op.code) {
    case RC_OP_COPY:  // of bytes: of any type and size
    case RC_OP_UNARY:
    case RC_OP_BINARY:
      return;
    case RC_OP_CONVERT:
      check_decodable(device, op, values[op.inputs[0]].dtype);
      check_decodable(device, op, values[op.outputs[0]].dtype);
      return;
    case RC_OP_MATMUL:
      check_decodable(device, op, values[op.inputs[1]].dtype);
      break;
    case RC_OP_GET_ROWS:
      check_decodable(device, op, values[op.inputs[0]].dtype);
      break;
    case RC_OP_CONV2D:
      check_conv2d(op, values);
      break;
    case RC_OP_ATTEND:
      check_head(op, values[op.inputs[0]]);
      break;
    case RC_OP_LAYER_NORM:
    case RC_OP_SOFTMAX:
    case RC_OP_REDUCE:
    case RC_OP_ARGMAX:
    case RC_OP_ROPE:
      break;
    default:
      fail(RC_E_UNSUPPORTED, op_name(op.code),
           ": there is no OpenCL kernel for it");
  }
  for (const int32_t number : op.inputs) {
    if (number < 0) continue;
    for (int i = 0; i < values[number].rank; ++i) {
      if (values[number].shape[i] > kLargest) {
        fail(RC_E_UNSUPPORTED, op_name(op.code), " of ",
             value_text(values[number]), ": kernels count dimensions to ",
             kLargest);
      }
    }
  }
}

Place Compiler::keep(int64_t elements) {
  kept_.push_back(
      device_.allocate(static_cast<uint64_t>(elements) * sizeof(cl_float),
                       gpu::MemoryUse::kDevice));
  return {memory_of(kept_.back().get()), 0};
}

void Compiler::add_tensor_op(const Op& op) {
  switch (op.code) {
    case RC_OP_SOFTMAX:
      return softmax(op);
    case RC_OP_REDUCE:
      return reduce(op, op.params.reduce.function == RC_REDUCE_MAX,
                    place(op.outputs[0]), {},
                    op.params.reduce.function == RC_REDUCE_MEAN
                        ? static_cast<float>(input(op, 0).shape[1])
                        : 1.0f);
    case RC_OP_ARGMAX:
      return reduce(op, true, {}, place(op.outputs[0]), 1.0f);
  }
  const auto make = [&]() -> Step {
    switch (op.code) {
      case RC_OP_COPY:
        return copy(op);
      case RC_OP_CONVERT:
        return convert(op);
      case RC_OP_UNARY:
        return unary(op);
      case RC_OP_BINARY:
        return binary(op);
      case RC_OP_LAYER_NORM:
        return layer_norm(op);
      case RC_OP_MATMUL:
        return matmul(op);
      case RC_OP_CONV2D:
        return conv2d(op);
      case RC_OP_ATTEND:
        return attend(op);
      case RC_OP_GET_ROWS:
        return get_tensor_rows(op);
      case RC_OP_ROPE:
        return rope(op);
    }
    fail(RC_E_UNSUPPORTED, "there is no OpenCL kernel for ", op_name(op.code));
  };
  target_.push_back(make());
}

}  // namespace rc::opencl
