// Ops for which the order of elements along a dimension counts.
#include <limits>

#include "base/error.h"
#include "compute/filling.h"
#include "compute/lines.h"
#include "compute/op_call.h"
#include "compute/ops.h"

namespace rc::compute {
namespace {

Shape with(Shape shape, int dimension, int64_t size) {
  shape[static_cast<size_t>(dimension)] = size;
  return shape;
}

int64_t count_of(const char* op, const Tensor& x, int dimension, int64_t k) {
  const int64_t n = x.shape[static_cast<size_t>(dimension)];
  if (n > std::numeric_limits<int32_t>::max()) {
    fail(RC_E_INVALID_ARGUMENT, op, ": x is ", x.text(),
         ": I32 cannot hold indices beyond 2^31");
  }
  if (k > n) {
    fail(RC_E_INVALID_ARGUMENT, op, ": k is ", k, ", but dimension ", dimension,
         " of x, ", x.text(), ", has ", n, " elements");
  }
  return k == kAllOfThem ? n : k;
}

}  // namespace

Tensor argsort(const Tensor& x, int64_t k, int32_t dimension, bool descending,
               const Destination* into) {
  const int i = resolve(dimension, x.shape, "dimension");
  const int64_t count = count_of(k == kAllOfThem ? "argsort" : "topk", x, i, k);
  const Shape shape = with(x.shape, i, count);
  check_decodable(x);
  if (element_count(shape) == 0) {
    return constant_result({&x}, RC_DTYPE_I32, shape);
  }
  const Shape as = lines_of(x.shape, i);
  OpCall call(RC_OP_ORDER);
  call.op.params.order.falling = descending ? 1 : 0;
  call.add(numbers(x, number_type({&x})), as);
  return call.run(RC_DTYPE_I32, with(as, 1, count), shape, into);
}

Tensor sort(const Tensor& x, int64_t k, int32_t dimension, bool descending,
            const Destination* into) {
  const Tensor from = numbers(x, number_type({&x}));
  return take_along(from, argsort(from, k, dimension, descending), dimension,
                    into);
}

Tensor take_along(const Tensor& x, const Tensor& indices, int32_t dimension,
                  const Destination* into) {
  if (const auto outlines = Outlines::of({&x, &indices})) {
    return take_along((*outlines)[0], (*outlines)[1], dimension, into);
  }
  const int i = resolve(dimension, x.shape, "dimension");
  const auto refuse = [&](const char* why) {
    fail(RC_E_INVALID_ARGUMENT, "take_along: x is ", x.text(), ", indices are ",
         indices.text(), ", dimension ", i, "; ", why);
  };
  if (indices.dtype != RC_DTYPE_I32 || indices.shape.size() != x.shape.size() ||
      with(indices.shape, i, 0) != with(x.shape, i, 0)) {
    refuse("I32 indices of the same other dimensions are needed");
  }
  check_decodable(x);
  const DType type = number_type({&x});
  if (element_count(indices.shape) == 0) {
    return constant_result({&x, &indices}, type, indices.shape);
  }
  if (x.elements() == 0) refuse("there are no elements");
  const Shape as = lines_of(indices.shape, i);
  OpCall call(RC_OP_TAKE);
  call.add(numbers(x, type), lines_of(x.shape, i));
  call.add(dense(indices), as);
  return call.run(type, as, indices.shape, into);
}

Tensor cumsum(const Tensor& x, int32_t dimension, const Destination* into) {
  const Shape as = lines_of(x.shape, resolve(dimension, x.shape, "dimension"));
  const DType type = number_type({&x});
  const Tensor from = numbers(x, type);
  if (from.empty()) return from;
  OpCall call(RC_OP_CUMSUM);
  call.add(from, as);
  return call.run(type, as, x.shape, into);
}

}  // namespace rc::compute
