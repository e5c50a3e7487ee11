// Ops that look at one element, or pair of elements, at a time.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "compute/at_once.h"
#include "compute/filling.h"
#include "compute/op_call.h"
#include "compute/ops.h"

namespace rc::compute {

Tensor unary(const Tensor& x, int32_t function, const Destination* into) {
  if (into == nullptr) {
    Op op;
    op.code = RC_OP_UNARY;
    op.params.unary.function = function;
    if (auto result = at_once(op, {&x})) return *std::move(result);
  }
  const DType type = number_type({&x});
  const Tensor from = numbers(x, type);
  if (from.empty()) return from;
  OpCall call(RC_OP_UNARY);
  call.op.params.unary.function = function;
  call.add(from);
  return call.run(type, x.shape, into);
}

namespace {

const char* binary_name(int32_t function) {
  switch (function) {
    case RC_BINARY_ADD:
      return "add";
    case RC_BINARY_MUL:
      return "mul";
    case RC_BINARY_SUB:
      return "sub";
    case RC_BINARY_DIV:
      return "div";
    case RC_BINARY_POW:
      return "pow";
    case RC_BINARY_MINIMUM:
      return "minimum";
    case RC_BINARY_MAXIMUM:
      return "maximum";
  }
  return "comparison";
}

}  // namespace

Tensor binary(const Tensor& a, const Tensor& b, int32_t function,
              const Destination* into) {
  if (into == nullptr) {
    Op op;
    op.code = RC_OP_BINARY;
    op.params.binary.function = function;
    if (auto result = at_once(op, {&a, &b})) return *std::move(result);
  }
  if (const auto outlines = Outlines::of({&a, &b})) {
    return binary((*outlines)[0], (*outlines)[1], function, into);
  }
  const std::optional<Shape> shape = broadcast(a.shape, b.shape);
  if (!shape) {
    fail(RC_E_INVALID_ARGUMENT, binary_name(function), ": a is ", a.text(),
         ", b is ", b.text(),
         "; from the last on, dimensions must be equal or one of them 1");
  }
  const DType type = number_type({&a, &b});
  if (element_count(*shape) == 0) {
    check_decodable(a);
    check_decodable(b);
    return constant_result({&a, &b}, type, *shape);
  }
  OpCall call(RC_OP_BINARY);
  call.op.params.binary.function = function;
  call.add(numbers(a, type));
  call.add(numbers(b, type));
  return call.run(type, *shape, into);
}

namespace {

// Of a condition, in another type: a number that is not 0 must not become 0 by
// rounding.
Tensor truths(const Tensor& condition, DType type) {
  const DType own = number_type({&condition});
  if (type == RC_DTYPE_F64 || own == type ||
      (type == RC_DTYPE_F32 && own != RC_DTYPE_F64)) {
    return numbers(condition, type);
  }
  const Tensor zero = make_tensor(condition.context, own, {1});
  return numbers(binary(condition, zero, RC_BINARY_NOT_EQUAL), type);
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b,
             const Destination* into) {
  if (const auto outlines = Outlines::of({&condition, &a, &b})) {
    return where((*outlines)[0], (*outlines)[1], (*outlines)[2], into);
  }
  std::optional<Shape> shape = broadcast(a.shape, b.shape);
  if (shape) shape = broadcast(condition.shape, *shape);
  if (!shape) {
    fail(RC_E_INVALID_ARGUMENT, "where: condition is ", condition.text(),
         ", a is ", a.text(), ", b is ", b.text(),
         "; from the last on, dimensions must be equal or 1");
  }
  for (const Tensor* x : {&condition, &a, &b}) check_decodable(*x);
  const DType type = number_type({&a, &b});
  if (element_count(*shape) == 0) {
    return constant_result({&a, &b, &condition}, type, *shape);
  }
  OpCall call(RC_OP_WHERE);
  call.add(truths(condition, type));
  call.add(numbers(a, type));
  call.add(numbers(b, type));
  return call.run(type, *shape, into);
}

namespace {

Tensor frequencies_of(const Tensor& x, int32_t dimensions, float theta) {
  const int64_t size = x.shape.back();
  const int64_t turning = dimensions == 0 ? size / 2 * 2 : dimensions;
  if (turning > size || turning < 0 || turning % 2 != 0) {
    fail(RC_E_INVALID_ARGUMENT, "options->dimensions: ", dimensions,
         ", but x is ", x.text(), ": an even number up to ", size,
         " is needed");
  }
  if (!std::isfinite(theta) || theta <= 0) {
    fail(RC_E_INVALID_ARGUMENT, "options->theta: ", theta);
  }
  const Shape shape = {turning / 2};
  if (x.without_numbers()) return make_outline(x.context, RC_DTYPE_F32, shape);
  Tensor frequencies = make_result(x.context, RC_DTYPE_F32, shape);
  fill(frequencies, [&](int64_t first, int64_t count, std::byte* data) {
    for (int64_t i = 0; i < count; ++i) {
      const auto frequency = static_cast<float>(std::pow(
          static_cast<double>(theta), -2.0 * static_cast<double>(first + i) /
                                          static_cast<double>(turning)));
      std::memcpy(data + i * sizeof frequency, &frequency, sizeof frequency);
    }
  });
  return frequencies;
}

}  // namespace

Tensor rope(const Tensor& x, const Tensor& positions, const Tensor* frequencies,
            int32_t style, int32_t dimensions, float theta, float scale,
            const Destination* into) {
  if (const auto outlines = Outlines::of({&x, &positions, frequencies})) {
    return rope((*outlines)[0], (*outlines)[1], outlines->optional(2), style,
                dimensions, theta, scale, into);
  }
  const size_t rank = x.shape.size();
  const int64_t rows = rank < 3 ? 0 : x.shape[rank - 3];
  if (rank < 3 || positions.dtype != RC_DTYPE_I32 ||
      positions.shape != Shape{rows}) {
    fail(RC_E_INVALID_ARGUMENT, "rope: x is ", x.text(), ", positions are ",
         positions.text(),
         "; x [..., rows, heads, d] and positions I32 [rows] are needed");
  }
  if (style != RC_ROPE_ADJACENT && style != RC_ROPE_HALVES) {
    fail(RC_E_INVALID_ARGUMENT, "options->style: ", style);
  }
  if (!std::isfinite(scale)) {
    fail(RC_E_INVALID_ARGUMENT, "options->scale: ", scale);
  }
  const Tensor pairs = frequencies != nullptr
                           ? numbers(*frequencies)
                           : frequencies_of(x, dimensions, theta);
  if (pairs.shape.size() != 1 || pairs.shape[0] > x.shape[rank - 1] / 2) {
    fail(RC_E_INVALID_ARGUMENT, "rope: x is ", x.text(), ", frequencies are ",
         frequencies->text(), "; one for each of at most ",
         x.shape[rank - 1] / 2, " pairs is needed");
  }
  const Tensor from = numbers(x);
  if (from.empty() || pairs.empty()) return from;
  const int64_t batch = rank == 4 ? x.shape[0] : 1;
  const Shape as = {batch * rows, x.shape[rank - 2], x.shape[rank - 1]};
  OpCall call(RC_OP_ROPE);
  call.op.params.rope.style = style;
  call.op.params.rope.scale = scale;
  call.add(from, as);
  // Every member of a batch has the same positions.
  call.add(expand(dense(positions), {batch, rows}), {batch * rows});
  call.add(pairs);
  return call.run(RC_DTYPE_F32, as, x.shape, into);
}

}  // namespace rc::compute
