// Products of tensors.
#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/error.h"
#include "compute/across.h"
#include "compute/filling.h"
#include "compute/op_call.h"
#include "compute/ops.h"

namespace rc::compute {
namespace {

// All dimensions but the last `count`.
Shape leading(const Shape& shape, size_t count) {
  return Shape(shape.begin(), shape.end() - count);
}

Shape joined(Shape a, std::initializer_list<int64_t> b) {
  a.insert(a.end(), b);
  return a;
}

// A result for which there are no products to add up: bias alone.
Tensor without_products(const Tensor& a, const Tensor& b, DType type,
                        const Shape& shape, const Tensor* bias,
                        int32_t function) {
  Tensor result = constant_result({&a, &b, bias}, type, shape);
  if (result.empty()) return result;
  if (bias != nullptr) result = binary(result, *bias, RC_BINARY_ADD);
  return function == RC_FUNCTION_NONE ? result : unary(result, function);
}

// Of a as [batch, m, k] and b as [batch or 1, ...]; both dense.
Tensor product(const Tensor& a, const Shape& a_as, const Tensor& b,
               const Shape& b_as, const Tensor* bias, bool transposed,
               int32_t function, const Shape& shape, const Destination* into) {
  OpCall call(RC_OP_MATMUL);
  call.op.params.matmul.transposed = transposed ? 1 : 0;
  call.op.params.matmul.function = function;
  call.add(a, a_as);
  call.add(b, b_as);
  if (bias == nullptr) {
    call.add_absent();
  } else {
    call.add(numbers(*bias, a.dtype));
  }
  return call.run(a.dtype, {a_as[0], a_as[1], shape.back()}, shape, into);
}

// Computed in `type`.
Tensor batched(const char* name, const Tensor& a, const Tensor& b, DType type,
               bool transposed, const Destination* into) {
  if (const auto outlines = Outlines::of({&a, &b})) {
    return batched(name, (*outlines)[0], (*outlines)[1], type, transposed,
                   into);
  }
  const size_t ra = a.shape.size();
  const size_t rb = b.shape.size();
  const auto refuse = [&](const char* why) {
    fail(RC_E_INVALID_ARGUMENT, name, ": a is ", a.text(), ", b is ", b.text(),
         "; ", why);
  };
  if (ra < 2 || rb < 2) refuse("both need rank 2 at least");
  const int64_t m = a.shape[ra - 2];
  const int64_t k = a.shape[ra - 1];
  const int64_t n = b.shape[transposed ? rb - 2 : rb - 1];
  if (b.shape[transposed ? rb - 1 : rb - 2] != k) {
    refuse(transposed ? "their last dimensions must be equal"
                      : "the last dimension of a and the next to last of b "
                        "must be equal");
  }
  const auto batch = broadcast(leading(a.shape, 2), leading(b.shape, 2));
  if (!batch) {
    refuse("the dimensions before the last two must be equal or one of them 1");
  }
  const Shape shape = joined(*batch, {m, n});
  static_cast<void>(check_shape(type, shape));
  check_decodable(a);
  check_decodable(b);
  Tensor right = b;
  if (b.dtype == type && !b.dense()) {
    // A view of a transposed one needs no copy.
    std::swap(right.shape[rb - 2], right.shape[rb - 1]);
    std::swap(right.strides[rb - 2], right.strides[rb - 1]);
    if (right.dense()) {
      transposed = !transposed;
    } else {
      right = b;
    }
  }
  // Of F32, what is decoded within the product needs no copy.
  right =
      transposed && type == RC_DTYPE_F32 ? dense(right) : numbers(right, type);
  if (k == 0 || element_count(shape) == 0) {
    return without_products(a, b, type, shape, nullptr, RC_FUNCTION_NONE);
  }
  const int64_t p = right.shape[rb - 2];
  const int64_t q = right.shape[rb - 1];
  const int64_t count = element_count(*batch);
  const bool one = element_count(leading(b.shape, 2)) == 1;
  if (!one) right = expand(right, joined(*batch, {p, q}));
  const Shape left_as = one ? Shape{1, count * m, k} : Shape{count, m, k};
  const Shape right_as = {one ? 1 : count, p, q};
  if (into == nullptr && type == RC_DTYPE_F32 && right.dtype == type &&
      (one || leading(a.shape, 2) == *batch)) {
    std::optional<Tensor> result =
        product_across(a, left_as, right, right_as, transposed, shape);
    if (result) return *std::move(result);
  }
  Tensor left = numbers(a, type);
  if (!one) left = expand(left, joined(*batch, {m, k}));
  return product(left, left_as, right, right_as, nullptr, transposed,
                 RC_FUNCTION_NONE, shape, into);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, bool transposed,
              const Destination* into) {
  return batched(transposed ? "matmul_transposed" : "matmul", a, b,
                 number_type({&a, &b}), transposed, into);
}

Tensor matmul_quantized(const Tensor& a, const Tensor& weight,
                        const Destination* into) {
  if (dtype_info(weight.dtype)->block_size == 1) {
    fail(RC_E_INVALID_ARGUMENT, "matmul_quantized: weight is ", weight.text(),
         ", a type without blocks; matmul_transposed takes it");
  }
  return batched("matmul_quantized", a, weight, RC_DTYPE_F32, true, into);
}

Tensor fused_linear(const Tensor& x, const Tensor& weight, const Tensor* bias,
                    int32_t function, const Destination* into) {
  if (const auto outlines = Outlines::of({&x, &weight, bias})) {
    return fused_linear((*outlines)[0], (*outlines)[1], outlines->optional(2),
                        function, into);
  }
  if (weight.shape.size() != 2 || weight.shape[1] != x.shape.back() ||
      (bias != nullptr && bias->shape != Shape{weight.shape[0]})) {
    fail(RC_E_INVALID_ARGUMENT, "fused_linear: x is ", x.text(), ", weight is ",
         weight.text(), bias == nullptr ? "" : ", bias is ",
         bias == nullptr ? "" : bias->text(),
         "; x [..., k], weight [n, k] and bias [n] are needed");
  }
  if (function < RC_FUNCTION_NONE || function > RC_FUNCTION_GELU_QUICK) {
    fail(RC_E_INVALID_ARGUMENT, "function: ", function, " is none");
  }
  const int64_t n = weight.shape[0];
  const int64_t k = weight.shape[1];
  const Shape shape = joined(leading(x.shape, 1), {n});
  const DType type = dtype_info(weight.dtype)->block_size > 1
                         ? RC_DTYPE_F32
                         : number_type({&x, &weight, bias});
  static_cast<void>(check_shape(type, shape));
  check_decodable(weight);
  const Tensor from = numbers(x, type);
  if (k == 0 || element_count(shape) == 0) {
    return without_products(x, weight, type, shape, bias, function);
  }
  return product(from, {1, from.elements() / k, k},
                 type == RC_DTYPE_F32 ? dense(weight) : numbers(weight, type),
                 {1, n, k}, bias, true, function, shape, into);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor* bias,
              const Convolution& convolution, const Destination* into) {
  if (const auto outlines = Outlines::of({&x, &weight, bias})) {
    return conv2d((*outlines)[0], (*outlines)[1], outlines->optional(2),
                  convolution, into);
  }
  const auto refuse = [&](const auto&... why) {
    fail(RC_E_INVALID_ARGUMENT, "conv2d: x is ", x.text(), ", weight is ",
         weight.text(), bias == nullptr ? "" : ", bias is ",
         bias == nullptr ? "" : bias->text(), "; ", why...);
  };
  if (x.shape.size() != 4 || weight.shape.size() != 4 ||
      (bias != nullptr && bias->shape != Shape{weight.shape[0]})) {
    refuse(
        "x [batch, channels, height, width], weight [outputs, channels / "
        "groups, kh, kw] and bias [outputs] are needed");
  }
  const int32_t groups = convolution.groups;
  if (groups < 1) fail(RC_E_INVALID_ARGUMENT, "options->groups: ", groups);
  if (x.shape[1] % groups != 0 || weight.shape[0] % groups != 0 ||
      x.shape[1] / groups != weight.shape[1]) {
    refuse("with ", groups,
           " groups the channels of x are those of the weight times the "
           "groups, and the outputs a multiple of the groups");
  }
  Shape shape = {x.shape[0], weight.shape[0], 0, 0};
  for (int i = 0; i < 2; ++i) {
    const int32_t stride = convolution.stride[i];
    const int32_t dilation = convolution.dilation[i];
    const int32_t padding = convolution.padding[i];
    if (stride < 1 || dilation < 1 || padding < 0) {
      fail(RC_E_INVALID_ARGUMENT, "options: stride ", stride, ", dilation ",
           dilation, ", padding ", padding,
           "; strides and dilations are at least 1, paddings at least 0");
    }
    const int64_t size = weight.shape[2 + i];
    const auto padded = checked_add(x.shape[2 + i], 2 * int64_t{padding});
    const auto window =
        size < 1 ? std::nullopt : checked_mul(size - 1, int64_t{dilation});
    if (!padded || !window || *padded <= *window) {
      refuse("the window is empty, or larger than x with its padding of ",
             padding);
    }
    shape[2 + i] = (*padded - *window - 1) / stride + 1;
  }
  static_cast<void>(check_shape(RC_DTYPE_F32, shape));
  const Tensor from = numbers(x);
  const Tensor window = numbers(weight);
  if (from.empty() || window.empty() || element_count(shape) == 0) {
    if (bias == nullptr) {
      return without_products(x, weight, RC_DTYPE_F32, shape, nullptr,
                              RC_FUNCTION_NONE);
    }
    const Tensor planes = reshape(numbers(*bias), {weight.shape[0], 1, 1});
    return without_products(x, weight, RC_DTYPE_F32, shape, &planes,
                            RC_FUNCTION_NONE);
  }
  OpCall call(RC_OP_CONV2D);
  for (int i = 0; i < 2; ++i) {
    call.op.params.conv2d.stride[i] = convolution.stride[i];
    call.op.params.conv2d.padding[i] = convolution.padding[i];
    call.op.params.conv2d.dilation[i] = convolution.dilation[i];
  }
  call.op.params.conv2d.groups = groups;
  call.add(from);
  call.add(window);
  if (bias == nullptr) {
    call.add_absent();
  } else {
    call.add(numbers(*bias));
  }
  return call.run(shape, into);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, float scale,
                 float softcap, bool causal, const Destination* into) {
  if (const auto outlines = Outlines::of({&q, &k, &v})) {
    return attention((*outlines)[0], (*outlines)[1], (*outlines)[2], scale,
                     softcap, causal, into);
  }
  const auto refuse = [&](const char* why) {
    fail(RC_E_INVALID_ARGUMENT, "attention: q is ", q.text(), ", k is ",
         k.text(), ", v is ", v.text(), "; ", why);
  };
  const size_t rank = q.shape.size();
  if (rank < 3 || k.shape.size() != rank || k.shape != v.shape) {
    refuse(
        "q [..., rows, heads, d], k and v [..., positions, kv_heads, d] are "
        "needed");
  }
  const int64_t rows = q.shape[rank - 3];
  const int64_t heads = q.shape[rank - 2];
  const int64_t d = q.shape[rank - 1];
  const int64_t positions = k.shape[rank - 3];
  const int64_t kv_heads = k.shape[rank - 2];
  if (k.shape[rank - 1] != d || leading(q.shape, 3) != leading(k.shape, 3)) {
    refuse("the last dimensions, and those before the rows, must be equal");
  }
  if (kv_heads == 0 ? heads != 0 : heads % kv_heads != 0) {
    refuse("the heads of q must be a multiple of those of k");
  }
  if (causal && rows > positions) {
    refuse("there are more causal rows than positions");
  }
  if (!std::isfinite(scale) || !std::isfinite(softcap) || softcap < 0) {
    fail(RC_E_INVALID_ARGUMENT, "options: scale ", scale, ", softcap ", softcap,
         "; finite numbers are needed, and a softcap of at least 0");
  }
  const Tensor query = numbers(q);
  const Tensor keys = numbers(k);
  const Tensor values = numbers(v);
  if (query.empty()) return query;
  if (positions == 0) refuse("there are no positions");
  const int64_t batch = rank == 4 ? q.shape[0] : 1;
  OpCall call(RC_OP_ATTEND);
  call.op.params.attend.scale =
      scale == 0 ? 1 / std::sqrt(static_cast<float>(d)) : scale;
  call.op.params.attend.softcap = softcap;
  call.op.params.attend.causal = causal ? 1 : 0;
  const Shape as = {batch, rows, heads, d};
  call.add(query, as);
  call.add(keys, {batch, positions, kv_heads, d});
  call.add(values, {batch, positions, kv_heads, d});
  return call.run(RC_DTYPE_F32, as, q.shape, into);
}

}  // namespace rc::compute
