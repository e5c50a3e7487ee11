#include "cpu/elements.h"

#include <algorithm>

#include "cpu/numbers.h"
#include "cpu/sums.h"

namespace rc::cpu {
namespace {

// Above this cost threads are worth waking: below it one is done before
// another that slept has begun.
constexpr int64_t kThreadsCost = int64_t{1} << 18;
// And above this one what runs has to hear that it is to stop.
constexpr int64_t kAtOnceCost = int64_t{1} << 20;

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

bool run_at_once(const Kernels& kernels, int threads, const Op& op,
                 std::span<const rc_plugin_value> values,
                 uint8_t* const* memory) {
  const int64_t most = threads == 1 ? kAtOnceCost : kThreadsCost;
  const auto at = [&](int32_t number) {
    return reinterpret_cast<float*>(memory[number]);
  };
  if (op.code == RC_OP_REDUCE) {
    if (!Sums::are(op, values) || has_other_numbers(op, values.data())) {
      return false;
    }
    const Sums sums(op, values);
    if (sums.cost() > most) return false;
    for (int64_t line = 0; line < sums.lines; ++line) {
      double total = 0;
      for (int64_t piece = 0; piece < sums.pieces(); ++piece) {
        total += sums.of_piece(kernels, at(op.inputs[0]), line, piece);
      }
      at(op.outputs[0])[line] = sums.result(total);
    }
    return true;
  }
  if (!Elements::has(op.code)) return false;
  const Elements elements(op, values);
  if (elements.cost() > most) return false;
  if (const rc_dtype type = values[op.outputs[0]].dtype; type != RC_DTYPE_F32) {
    const uint8_t* from[kMaxInputs];
    for (int k = 0; k < elements.operands(); ++k) {
      from[k] = memory[op.inputs[k]];
    }
    for (int64_t line = 0; line < elements.lines(); ++line) {
      numbers::compute_elements(kernels, elements, type, from,
                                memory[op.outputs[0]], line, 0,
                                elements.columns());
    }
    return true;
  }
  const float* from[kMaxInputs];
  for (int k = 0; k < elements.operands(); ++k) from[k] = at(op.inputs[k]);
  for (int64_t line = 0; line < elements.lines(); ++line) {
    elements.compute(kernels, from, at(op.outputs[0]), line, 0,
                     elements.columns());
  }
  return true;
}

}  // namespace rc::cpu
