#include "opencl/model_ops.h"

#include <algorithm>

#include "base/error.h"
#include "gpu/weight.h"
#include "opencl/arguments.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::opencl {
namespace {

constexpr int64_t kLargestHead = 1024;
// Work-items keep the rows that a convolution reaches back to, and states.
constexpr int64_t kWidestConv = 32;
constexpr int64_t kLargestState = 1024;

// Bytes of the buffer that a weight takes as input `slot` of an op.
uint64_t bytes_of_weight(const Device& device, const Op& op, int slot,
                         const rc_plugin_value& value) {
  rc_plugin_weight_info info = {};
  info.dtype = value.dtype;
  info.rank = value.rank;
  std::copy(std::begin(value.shape), std::end(value.shape), info.shape);
  const bool matrix =
      (op.code == RC_OP_GET_ROWS && slot == 0) ||
      ((op.code == RC_OP_LINEAR || op.code == RC_OP_EXPERT_LINEAR) &&
       slot == 1);
  info.uses = matrix ? RC_USE_LINEAR : RC_USE_ELEMENTS;
  return weight_layout(device, info).bytes;
}

// Dimensions but for a symbolic one, and those of a row together.
void check_dimensions(const Op& op, const rc_plugin_value& value) {
  int64_t width = 1;
  for (int i = 0; i < value.rank; ++i) {
    const int64_t dimension = value.shape[i];
    const bool row = i > 0 && value.storage != RC_STORAGE_WEIGHT &&
                     value.storage != RC_STORAGE_CACHE;
    if (dimension <= kLargest && row) width *= dimension;
    if (dimension > kLargest || width > kLargest) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " of ", value_text(value),
           ": kernels count dimensions and the elements of a row to ",
           kLargest);
    }
  }
}

void check_states(const Op& op, const rc_plugin_value* values) {
  const bool scan = op.code == RC_OP_SELECTIVE_SCAN;
  const rc_plugin_value& kept = values[op.inputs[scan ? 9 : 1]];
  const int64_t most = scan ? kLargestState : kWidestConv;
  const int64_t columns = kept.shape[kept.rank - 1];
  if (columns > most) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " with ", value_text(kept),
         ", which has ", columns, " columns; ", most, " are possible");
  }
  // Work-items are counted too: of an element of a head there may be eight.
  const rc_plugin_value& x = values[op.inputs[0]];
  if (scan && x.shape[1] > kLargest / 8 / x.shape[2]) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " of ", value_text(x),
         ": kernels count the elements of all heads to ", kLargest / 8);
  }
}

}  // namespace

bool has_states(const Op& op) {
  return op.code == RC_OP_SHORT_CONV || op.code == RC_OP_SELECTIVE_SCAN;
}

void check_head(const Op& op, const rc_plugin_value& value, int dimension) {
  if (value.shape[dimension] > kLargestHead) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " of ", value_text(value),
         ": heads have ", kLargestHead, " elements at most");
  }
}

void check_model_op_supported(const Device& device, const Op& op,
                              const rc_plugin_value* values) {
  for (int slot = 0; slot < kMaxInputs; ++slot) {
    if (op.inputs[slot] < 0) continue;
    const rc_plugin_value& value = values[op.inputs[slot]];
    const char* reason = device.packing().undecodable(value.dtype);
    if (*reason != '\0') {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " of ", dtype_name(value.dtype),
           ": ", reason);
    }
    check_dimensions(op, value);
    const uint64_t bytes = value.storage == RC_STORAGE_WEIGHT
                               ? bytes_of_weight(device, op, slot, value)
                           : value.storage == RC_STORAGE_CACHE
                               ? value_bytes(value, {}).value_or(UINT64_MAX)
                               : 0;
    if (bytes > device.tuning().range) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " with ", value_text(value),
           ", which takes a buffer of ", bytes, " bytes; the device allows ",
           device.tuning().range, " (CL_DEVICE_MAX_MEM_ALLOC_SIZE)");
    }
  }
  for (const int32_t output : op.outputs) {
    if (output >= 0) check_dimensions(op, values[output]);
  }
  if (has_states(op)) check_states(op, values);
  if (op.code != RC_OP_ATTENTION) return;
  check_head(op, values[op.inputs[0]], 2);
  const int64_t reach =
      values[op.inputs[5]].shape[1] * values[op.inputs[1]].shape[2];
  if (reach > kLargest) {
    fail(RC_E_UNSUPPORTED, "ATTENTION over ", reach,
         " positions; kernels count to ", kLargest);
  }
}

}  // namespace rc::opencl
