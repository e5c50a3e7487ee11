#include "cpu/elements.h"

#include <algorithm>

namespace rc::cpu {
namespace {

int64_t cost_of(int32_t code, int32_t function) {
  if (code == RC_OP_WHERE) return 2;
  if (code == RC_OP_BINARY) return function == RC_BINARY_POW ? 64 : 1;
  switch (function) {
    case RC_FUNCTION_RELU:
    case RC_UNARY_SQRT:
    case RC_UNARY_ABS:
    case RC_UNARY_NEG:
      return 1;
    case RC_FUNCTION_GELU:
    case RC_UNARY_LOG:
      return 32;
    default:
      return 4;
  }
}

}  // namespace

Elements::Elements(const Op& op, std::span<const rc_plugin_value> values)
    : code_(op.code),
      function_(op.code == RC_OP_UNARY    ? op.params.unary.function
                : op.code == RC_OP_BINARY ? op.params.binary.function
                                          : 0),
      operands_(op.code == RC_OP_UNARY    ? 1
                : op.code == RC_OP_BINARY ? 2
                                          : 3),
      element_cost_(cost_of(code_, function_)),
      shape_(values[op.outputs[0]].rank) {
  const rc_plugin_value& output = values[op.outputs[0]];
  std::copy_n(output.shape, output.rank, shape_.sizes);
  for (int k = 0; k < kMost; ++k) {
    // Operands that there are not go where the first one goes.
    const rc_plugin_value& input = values[op.inputs[k < operands_ ? k : 0]];
    int64_t stride = 1;
    for (int i = 1; i <= input.rank; ++i) {
      const int64_t size = input.shape[input.rank - i];
      shape_.strides[k][output.rank - i] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }
  shape_.merge();
}

void Elements::compute(const Kernels& kernels, const float* const* from,
                       float* to, int64_t line, int64_t first,
                       int64_t count) const {
  const float* at[kMost];
  for (int k = 0; k < operands_; ++k) {
    at[k] = from[k] + offset(k, line) + first * step(k);
  }
  compute_at(kernels, at, count, to + line * columns() + first);
}

void Elements::compute_at(const Kernels& kernels, const float* const* at,
                          int64_t count, float* to) const {
  int steps[kMost];
  for (int k = 0; k < operands_; ++k) steps[k] = static_cast<int>(step(k));
  switch (code_) {
    case RC_OP_UNARY:
      return kernels.unary(at[0], count, function_, to);
    case RC_OP_BINARY:
      return kernels.binary(at[0], steps[0], at[1], steps[1], count, function_,
                            to);
    default:
      return kernels.where(at, steps, count, to);
  }
}

}  // namespace rc::cpu
