// Tensors that become larger along one dimension.
#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "compute/filling.h"
#include "compute/lines.h"
#include "compute/op_call.h"
#include "compute/ops.h"

namespace rc::compute {
namespace {

// Of CONCAT.
constexpr size_t kMostParts = 8;

// The shape of all of them; throws if there is none.
Shape joined_shape(std::span<const Tensor> tensors, int dimension) {
  const Tensor& first = tensors.front();
  const auto i = static_cast<size_t>(dimension);
  Shape shape = first.shape;
  std::optional<int64_t> size = 0;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& next = tensors[k];
    Shape others = next.shape;
    if (others.size() == shape.size()) others[i] = shape[i];
    if (next.dtype != first.dtype || others != shape) {
      fail(RC_E_INVALID_ARGUMENT, "concat: tensor 0 is ", first.text(),
           ", tensor ", k, " is ", next.text(),
           "; types and all dimensions "
           "but dimension ",
           dimension, " must be equal");
    }
    if (size) size = checked_add(*size, next.shape[i]);
  }
  if (!size) {
    fail(RC_E_INVALID_ARGUMENT, "concat: tensor 0 is ", first.text(), ", and ",
         tensors.size(), " of them are more than can be counted");
  }
  shape[i] = *size;
  static_cast<void>(check_shape(first.dtype, shape));
  return shape;
}

// Dimensions behind this one belong to its rows.
Shape rows_of(const Shape& shape, int dimension) {
  const Shape lines = lines_of(shape, dimension);
  return {lines[0], lines[1] * lines[2]};
}

}  // namespace

Tensor concat(std::span<const Tensor> tensors, int32_t dimension,
              const Destination* into) {
  const int i = resolve(dimension, tensors.front().shape, "dimension");
  const Shape shape = joined_shape(tensors, i);
  const auto some_outline =
      std::find_if(tensors.begin(), tensors.end(),
                   [](const Tensor& each) { return each.without_numbers(); });
  const bool recorded =
      std::any_of(tensors.begin(), tensors.end(),
                  [](const Tensor& each) { return each.recorded(); });
  // Nothing is copied for an outline.
  const bool outlined = some_outline != tensors.end() && !recorded;
  std::vector<Tensor> parts;
  for (const Tensor& each : tensors) {
    if (each.elements() == 0) continue;
    parts.push_back(dense(outlined ? outline_of(each) : each));
  }
  if (parts.empty()) {
    const Tensor& like =
        some_outline == tensors.end() ? tensors.front() : *some_outline;
    return constant_result({&tensors.front(), &like}, tensors.front().dtype,
                           shape);
  }
  // More than an op takes are joined in groups first.
  while (parts.size() > kMostParts) {
    std::vector<Tensor> groups;
    for (size_t k = 0; k < parts.size(); k += kMostParts) {
      const size_t count = std::min(kMostParts, parts.size() - k);
      groups.push_back(
          concat(std::span<const Tensor>(parts).subspan(k, count), i));
    }
    parts = std::move(groups);
  }
  if (parts.size() == 1 && into == nullptr) return copy(parts[0]);
  OpCall call(RC_OP_CONCAT);
  for (const Tensor& part : parts) call.add(part, rows_of(part.shape, i));
  return call.run(parts[0].dtype, rows_of(shape, i), shape, into);
}

Tensor pad(const Tensor& x, int32_t dimension, int64_t before, int64_t after,
           float value, const Destination* into) {
  const int i = resolve(dimension, x.shape, "dimension");
  Shape shape = x.shape;
  const auto size = checked_add(before, after);
  const auto padded =
      size ? checked_add(*size, shape[static_cast<size_t>(i)]) : std::nullopt;
  if (before < 0 || after < 0 || !padded) {
    fail(RC_E_INVALID_ARGUMENT, "pad: before is ", before, ", after is ", after,
         ", x is ", x.text(), "; both are at least 0 and can be counted");
  }
  shape[static_cast<size_t>(i)] = *padded;
  const DType type = number_type({&x});
  static_cast<void>(check_shape(type, shape));
  const Tensor from = numbers(x, type);
  if (from.empty()) return constant_result({&x}, type, shape, value);
  OpCall call(RC_OP_PAD);
  call.op.params.pad.before = before;
  call.op.params.pad.value = value;
  call.add(from, lines_of(x.shape, i));
  return call.run(type, lines_of(shape, i), shape, into);
}

}  // namespace rc::compute
