// Ops over one dimension.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "compute/filling.h"
#include "compute/lines.h"
#include "compute/op_call.h"
#include "compute/ops.h"
#include "runcible/tensor.h"

namespace rc::compute {
namespace {

// A tensor as [outer, n, inner], and what is left without n.
struct Lines {
  Lines(const Tensor& x, int32_t dimension, bool keep) {
    if (dimension == RC_ALL_DIMENSIONS) {
      as = {1, x.elements(), 1};
      rest = keep ? Shape(x.shape.size(), 1) : Shape{1};
      return;
    }
    const auto i =
        static_cast<size_t>(resolve(dimension, x.shape, "dimension"));
    as = lines_of(x.shape, static_cast<int>(i));
    for (size_t j = 0; j < x.shape.size(); ++j) {
      if (j != i || keep) rest.push_back(j == i ? 1 : x.shape[j]);
    }
    if (rest.empty()) rest = {1};
  }
  Shape as;
  Shape rest;
};

void check_not_empty(const char* op, const Tensor& x, const Lines& lines) {
  if (lines.as[1] == 0 && element_count(lines.rest) > 0) {
    fail(RC_E_INVALID_ARGUMENT, op, ": x is ", x.text(),
         ": there is no largest of nothing");
  }
}

void check_vector(const char* role, const Tensor* vector, const Tensor& x) {
  if (vector != nullptr && vector->shape != Shape{x.shape.back()}) {
    fail(RC_E_INVALID_ARGUMENT, role, " is ", vector->text(), ", x is ",
         x.text(), "; one number for each of ", x.shape.back(),
         " in the last dimension is needed");
  }
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor* weight, const Tensor* bias,
                  float epsilon, bool center, const Destination* into) {
  if (const auto outlines = Outlines::of({&x, weight, bias})) {
    return layer_norm((*outlines)[0], outlines->optional(1),
                      outlines->optional(2), epsilon, center, into);
  }
  check_vector("weight", weight, x);
  check_vector("bias", bias, x);
  if (!std::isfinite(epsilon) || epsilon < 0) {
    fail(RC_E_INVALID_ARGUMENT, "epsilon: ", epsilon,
         " is no finite number of at least 0");
  }
  const DType type = number_type({&x, weight, bias});
  const Tensor from = numbers(x, type);
  if (from.empty()) return from;
  OpCall call(RC_OP_LAYER_NORM);
  call.op.params.layer_norm.epsilon = epsilon;
  call.op.params.layer_norm.center = center ? 1 : 0;
  call.add(from);
  for (const Tensor* vector : {weight, bias}) {
    if (vector == nullptr) {
      call.add_absent();
    } else {
      call.add(numbers(*vector, type));
    }
  }
  return call.run(type, x.shape, into);
}

Tensor softmax(const Tensor& x, int32_t dimension, const Destination* into) {
  const Lines lines(x, resolve(dimension, x.shape, "dimension"), true);
  const DType type = number_type({&x});
  const Tensor from = numbers(x, type);
  if (from.empty()) return from;
  OpCall call(RC_OP_SOFTMAX);
  call.add(from, lines.as);
  return call.run(type, lines.as, x.shape, into);
}

Tensor reduce(const Tensor& x, int32_t dimension, bool keep, int32_t function,
              const Destination* into) {
  const Lines lines(x, dimension, keep);
  const DType type = number_type({&x});
  const Tensor from = numbers(x, type);
  if (from.empty()) {
    if (function == RC_REDUCE_MAX) check_not_empty("reduce_max", x, lines);
    const float nothing =
        function == RC_REDUCE_SUM ? 0 : std::numeric_limits<float>::quiet_NaN();
    return constant_result({&x}, type, lines.rest, nothing);
  }
  OpCall call(RC_OP_REDUCE);
  call.op.params.reduce.function = function;
  call.add(from, lines.as);
  return call.run(type, {lines.as[0], lines.as[2]}, lines.rest, into);
}

Tensor argmax(const Tensor& x, int32_t dimension, bool keep,
              const Destination* into) {
  const Lines lines(x, dimension, keep);
  if (lines.as[1] > std::numeric_limits<int32_t>::max()) {
    fail(RC_E_INVALID_ARGUMENT, "argmax: x is ", x.text(),
         ": I32 cannot hold indices beyond 2^31");
  }
  const Tensor from = numbers(x, number_type({&x}));
  if (from.empty()) {
    check_not_empty("argmax", x, lines);
    return constant_result({&x}, RC_DTYPE_I32, lines.rest);
  }
  OpCall call(RC_OP_ARGMAX);
  call.add(from, lines.as);
  return call.run(RC_DTYPE_I32, {lines.as[0], lines.as[2]}, lines.rest, into);
}

}  // namespace rc::compute
