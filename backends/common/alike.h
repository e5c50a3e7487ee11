// The shape that most small ops have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "runcible/plugin.h"
#include "runcible/plugin_ops.h"
#include "runcible/plugin_tensor_ops.h"
#include "tensor/op.h"

namespace rc::plugin {

// The bytes of each value of an op that is a function of single elements of F32
// tensors in buffers, all of one shape. Such an op obeys check_op, which takes
// longer than a small op itself. nullopt: another op, or one that does not
// obey.
inline std::optional<uint64_t> bytes_of_alike(
    const Op& op, std::span<const rc_plugin_value> values) {
  int operands = 0;
  if (op.code == RC_OP_BINARY) {
    const int32_t function = op.params.binary.function;
    if (function < RC_BINARY_ADD || function > RC_BINARY_DIV) return {};
    operands = 2;
  } else if (op.code == RC_OP_UNARY) {
    const int32_t function = op.params.unary.function;
    if (function < RC_FUNCTION_RELU || function > RC_FUNCTION_GELU_QUICK) {
      return {};
    }
    operands = 1;
  } else {
    return {};
  }
  if (values.size() != static_cast<size_t>(operands) + 1) return {};
  for (int k = 0; k < kMaxInputs; ++k) {
    if (op.inputs[k] != (k < operands ? k : -1)) return {};
  }
  for (int k = 0; k < kMaxOutputs; ++k) {
    if (op.outputs[k] != (k == 0 ? operands : -1)) return {};
  }
  const rc_plugin_value& first = values.front();
  if (first.rank < 1 || first.rank > RC_PLUGIN_MAX_RANK) return {};
  uint64_t bytes = sizeof(float);
  for (int i = 0; i < first.rank; ++i) {
    if (first.shape[i] < 1 ||
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(first.shape[i]),
                               &bytes) ||
        bytes > INT64_MAX) {
      return {};
    }
  }
  for (const rc_plugin_value& value : values) {
    if (value.dtype != RC_DTYPE_F32 || value.storage != RC_STORAGE_CACHE ||
        value.rank != first.rank ||
        !std::equal(value.shape, value.shape + first.rank, first.shape)) {
      return {};
    }
  }
  return bytes;
}

}  // namespace rc::plugin
