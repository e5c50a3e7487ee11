// The same numbers arranged in another way.
#include <optional>

#include "base/error.h"
#include "compute/filling.h"
#include "compute/op_call.h"
#include "compute/ops.h"

namespace rc::compute {
namespace {

Tensor convert(const Tensor& x, DType dtype, const Destination* into) {
  if (x.dtype == dtype) return x;
  if (x.empty()) return constant_result({&x}, dtype, x.shape);
  OpCall call(RC_OP_CONVERT);
  call.add(x);
  return call.run(dtype, x.shape, x.shape, into);
}

bool is_plain(DType dtype) { return dtype_info(dtype)->block_size == 1; }

// Integers that F32 cannot hold.
bool is_wide_integer(DType dtype) {
  return dtype == RC_DTYPE_I32 || dtype == RC_DTYPE_I64;
}

// Rounded once, if neither type has blocks: in one step where one of them is
// F32 or F64, else by way of the one that holds all the numbers.
Tensor converted(const Tensor& x, DType dtype, const Destination* into) {
  const Tensor from = dense(x);
  const bool plain = is_plain(x.dtype) && is_plain(dtype);
  const bool at_once =
      x.dtype == dtype || x.dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_F32 ||
      (plain && (x.dtype == RC_DTYPE_F64 || dtype == RC_DTYPE_F64));
  if (at_once) return convert(from, dtype, into);
  check_decodable(x);
  const DType between =
      plain && is_wide_integer(x.dtype) ? RC_DTYPE_F64 : RC_DTYPE_F32;
  return convert(convert(from, between, nullptr), dtype, into);
}

}  // namespace

Tensor copy(const Tensor& x, const Destination* into) {
  OpCall call(RC_OP_COPY);
  const int64_t block = dtype_info(x.dtype)->block_size;
  const size_t last = x.shape.size() - 1;
  int64_t reach = block;
  for (size_t i = 0; i <= last; ++i) {
    // A dimension of one element has no distance.
    const int64_t stride = x.shape[i] > 1 ? x.strides[i] : 0;
    call.op.params.copy.strides[i] = i == last && block > 1 ? 1 : stride;
    reach += (i == last ? x.shape[i] - block : x.shape[i] - 1) * stride;
  }
  call.add(x, {reach});
  return call.run(x.dtype, x.shape, x.shape, into);
}

Tensor dense(const Tensor& x) { return x.empty() || x.dense() ? x : copy(x); }

void check_decodable(const Tensor& x) {
  if (find_decoder(x.dtype) == nullptr) {
    fail(RC_E_UNSUPPORTED, x.text(), " is of a type that cannot be decoded");
  }
}

DType number_type(std::initializer_list<const Tensor*> operands) {
  std::optional<DType> common;
  for (const Tensor* x : operands) {
    if (x == nullptr) continue;
    if (x->dtype == RC_DTYPE_F64) return RC_DTYPE_F64;
    const bool half = x->dtype == RC_DTYPE_F16 || x->dtype == RC_DTYPE_BF16;
    const DType own = half ? x->dtype : RC_DTYPE_F32;
    common = common.value_or(own) == own ? own : RC_DTYPE_F32;
  }
  return common.value_or(RC_DTYPE_F32);
}

Tensor dequantize(const Tensor& x, const Destination* into) {
  if (x.dtype == RC_DTYPE_F32) return dense(x);
  check_decodable(x);
  return convert(dense(x), RC_DTYPE_F32, into);
}

Tensor quantize(const Tensor& x, DType dtype, const Destination* into) {
  static_cast<void>(check_shape(dtype, x.shape));
  if (!encodable(dtype)) {
    fail(RC_E_UNSUPPORTED, dtype_name(dtype),
         " is a type that cannot be encoded");
  }
  return converted(x, dtype, into);
}

Tensor numbers(const Tensor& x, DType type) {
  if (x.dtype != type) check_decodable(x);
  return converted(x, type, nullptr);
}

Tensor expand(const Tensor& x, const Shape& shape) {
  if (x.shape == shape) return x;
  if (element_count(shape) == 0) {
    return constant_result({&x}, x.dtype, shape);
  }
  Tensor view = x;
  view.shape = shape;
  view.strides.assign(shape.size(), 0);
  const size_t missing = shape.size() - x.shape.size();
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (x.shape[i] == shape[missing + i]) {
      view.strides[missing + i] = x.strides[i];
    }
  }
  return dense(view);
}

Tensor gather_rows(const Tensor& table, const Tensor& ids,
                   const Destination* into) {
  if (const auto outlines = Outlines::of({&table, &ids})) {
    return gather_rows((*outlines)[0], (*outlines)[1], into);
  }
  if (table.shape.size() != 2 || ids.shape.size() >= kMaxRank ||
      ids.dtype != RC_DTYPE_I32) {
    fail(RC_E_INVALID_ARGUMENT, "gather_rows: table is ", table.text(),
         ", ids are ", ids.text(),
         "; a table [n, d] and ids I32 of rank 1 to 3 are needed");
  }
  Shape shape = ids.shape;
  shape.push_back(table.shape[1]);
  check_decodable(table);
  const DType type = number_type({&table});
  static_cast<void>(check_shape(type, shape));
  if (table.shape[0] == 0 && !ids.empty()) {
    fail(RC_E_INVALID_ARGUMENT, "gather_rows: table is ", table.text(),
         ", ids are ", ids.text(), ": there are no rows");
  }
  if (element_count(shape) == 0) {
    return constant_result({&table, &ids}, type, shape);
  }
  OpCall call(RC_OP_GET_ROWS);
  call.add(dense(table));
  call.add(dense(ids), {ids.elements()});
  const Shape as = {ids.elements(), table.shape[1]};
  if (type == RC_DTYPE_F32 || type == RC_DTYPE_F64) {
    return call.run(type, as, shape, into);
  }
  return quantize(call.run(RC_DTYPE_F32, as, shape), type, into);
}

}  // namespace rc::compute
