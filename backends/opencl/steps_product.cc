// MATMUL and CONV2D.
#include "opencl/compiler.h"
#include "opencl/product.h"
#include "tensor/dtype.h"

namespace rc::opencl {
namespace {

// From so many rows and columns on tiles are worth their while.
constexpr int64_t kTiledFrom = 16;

}  // namespace

Step Compiler::matmul(const Op& op) {
  const rc_plugin_value& a = input(op, 0);
  const rc_plugin_value& b = input(op, 1);
  const Place from_a = place(op.inputs[0]);
  const Place from_b = place(op.inputs[1], 1);
  const Place bias = place(op.inputs[2]);
  const Place to = place(op.outputs[0]);
  Product product;
  product.matrices = product.a_count = a.shape[0];
  product.b_count = b.shape[0];
  product.m = a.shape[1];
  product.n = output(op).shape[2];
  product.k = a.shape[2];
  product.a = from_a.memory;
  product.a_at = from_a.offset;
  product.b = from_b.memory;
  product.b_at = from_b.offset;
  product.b_dtype = b.dtype;
  // One column lies in memory as one row does.
  product.transposed = op.params.matmul.transposed != 0 || product.n == 1;
  product.b_row_bytes = row_bytes(b.dtype, product.k).value();
  product.b_bytes =
      value_bytes(b, {}).value() / static_cast<uint64_t>(product.b_count);
  product.bias = bias.memory;
  product.bias_at = bias.offset;
  product.out = to.memory;
  product.out_at = to.offset;
  product.function = op.params.matmul.function;
  if (product.m >= kTiledFrom && product.n >= kTiledFrom) {
    return product.tiled(device_, "");
  }
  return product.small(device_);
}

Step Compiler::conv2d(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const rc_plugin_value& weight = input(op, 1);
  const rc_plugin_value& y = output(op);
  const auto& params = op.params.conv2d;
  const Place from = place(op.inputs[0], 1);
  const Place weights = place(op.inputs[1]);
  const Place bias = place(op.inputs[2]);
  const Place to = place(op.outputs[0]);
  Product product;
  product.matrices = product.b_count = x.shape[0] * params.groups;
  product.a_count = params.groups;
  product.m = weight.shape[0] / params.groups;
  product.n = y.shape[2] * y.shape[3];
  product.k = product_of(weight, 1, 4);
  product.a = weights.memory;
  product.a_at = weights.offset;
  product.b = from.memory;
  product.b_at = from.offset;
  product.b_bytes =
      static_cast<cl_ulong>(weight.shape[1] * x.shape[2] * x.shape[3]) *
      sizeof(cl_float);
  product.bias = bias.memory;
  product.bias_at = bias.offset;
  product.bias_of_rows = true;
  product.out = to.memory;
  product.out_at = to.offset;
  Step made = product.tiled(device_, " -DCONVOLUTION");
  const auto two = [](const int32_t* numbers) {
    return cl_int2{{numbers[0], numbers[1]}};
  };
  set_arguments(made.kernel, Product::kArguments,
                cl_int4{{number(x.shape[2]), number(x.shape[3]),
                         number(weight.shape[2]), number(weight.shape[3])}},
                number(y.shape[3]), two(params.stride), two(params.padding),
                two(params.dilation));
  return made;
}

}  // namespace rc::opencl
