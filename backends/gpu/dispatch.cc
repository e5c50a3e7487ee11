#include "gpu/dispatch.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "common/op_table.h"
#include "gpu/loops.h"
#include "gpu/row_appender.h"
#include "gpu/tensor_dispatch.h"
#include "gpu/words.h"

namespace rc::gpu {
namespace {

// Throws RC_E_UNSUPPORTED if no rows of a value can be bound; see
// RowAppender::row_slices.
void check_rows(const Device& device, const Op& op,
                const rc_plugin_value& value) {
  if (value.storage == RC_STORAGE_WEIGHT || value.storage == RC_STORAGE_CACHE) {
    return;
  }
  const uint64_t bytes = row_bytes_of(value);
  const uint64_t step =
      device.alignment() / std::gcd(device.alignment(), bytes);
  if (bytes > device.tuning().range / step) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " with ", value_text(value), ": ",
         step, " rows are bound at once; the device allows ",
         device.tuning().range, " bytes");
  }
}

// Throws RC_E_UNSUPPORTED for a cache that the device has no buffer for.
void check_buffer(const Device& device, const Op& op,
                  const rc_plugin_value& cache) {
  const uint64_t bytes = value_bytes(cache, {}).value_or(UINT64_MAX);
  if (bytes > device.largest_buffer()) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " with a cache ",
         value_text(cache), ", which takes a buffer of ", bytes,
         " bytes; the device allows ", device.largest_buffer());
  }
}

// The description of a weight that is input `slot` of an op.
rc_plugin_weight_info weight_info(const Op& op, int slot,
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
  return info;
}

bool has_states(const Op& op) {
  return op.code == RC_OP_SHORT_CONV || op.code == RC_OP_SELECTIVE_SCAN ||
         op.code == RC_OP_CHANNEL_SCAN || op.code == RC_OP_DELTA_RULE ||
         op.code == RC_OP_FADING_STATE;
}

// Throws RC_E_UNSUPPORTED if there is no such op here.
const RowOp& row_op(int32_t code) {
  static const plugin::OpTable<RowOp> kTable(
      {attention_ops(), linear_ops(), row_ops(), state_ops()});
  const RowOp* row = kTable.find(code);
  if (row == nullptr) {
    fail(RC_E_UNSUPPORTED, op_name(code), " has no kernel for GPUs");
  }
  return *row;
}

// Throws RC_E_UNSUPPORTED for states that lanes cannot keep, or a cache that
// cannot be bound whole.
void check_states(const Device& device, const Op& op,
                  const rc_plugin_value& cache) {
  const bool scan = op.code != RC_OP_SHORT_CONV;
  const int64_t kept = scan ? cache.shape[cache.rank - 1] : cache.shape[1] + 1;
  const uint64_t most = scan ? kLargestState : kWidestConv;
  if (kept > static_cast<int64_t>(most)) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " with a cache ",
         value_text(cache), ": ", scan ? "states have " : "weights have ", most,
         " columns at most");
  }
  const uint64_t bytes = value_bytes(cache, {}).value_or(UINT64_MAX);
  if (bytes > device.tuning().range) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " with a cache ",
         value_text(cache), " of ", bytes, " bytes; the device can bind ",
         device.tuning().range);
  }
}

bool is_attention(const Op& op) {
  return op.code == RC_OP_ATTENTION || op.code == RC_OP_GENERAL_ATTENTION;
}

// Checks the part of a head that the kernel holds at once.
void check_attention(const Op& op, std::span<const rc_plugin_value> values) {
  constexpr int64_t kMostElements = 1024;
  for (const int32_t value : {op.inputs[0], op.outputs[0]}) {
    if (value < 0 || values[value].shape[2] <= kMostElements) continue;
    fail(RC_E_UNSUPPORTED, "heads of ", values[value].shape[2],
         " elements; up to ", kMostElements, " are possible");
  }
  if (op.inputs[2] >= 0 &&
      values[op.inputs[1]].dtype != values[op.inputs[2]].dtype) {
    fail(RC_E_UNSUPPORTED, "keys of type ",
         dtype_name(values[op.inputs[1]].dtype), " with values of type ",
         dtype_name(values[op.inputs[2]].dtype));
  }
}

}  // namespace

uint32_t RowRange::count(const Rows& rows) const {
  if (symbol == kFixedRows) return limit;
  const int64_t all = symbol == 1            ? rows.outputs
                      : symbol == kSequences ? rows.sequences
                                             : rows.rows;
  const int64_t here = std::clamp<int64_t>(all - first, 0, limit);
  const auto count = static_cast<uint32_t>(here);
  return count >= at_least && count <= at_most ? count : 0;
}

double RowWork::of(const RowRange& range, const RunSize& size,
                   uint32_t count) const {
  double rows = count;
  if (range.symbol == kSequences) {
    // Each goes through its own part of the rows.
    rows *= static_cast<double>(size.rows.rows) /
            static_cast<double>(std::max<int64_t>(size.rows.sequences, 1));
  }
  return each * rows *
         (per_position ? static_cast<double>(size.positions) : 1.0);
}

void append_dispatches(Device& device, const Op& op, int32_t number,
                       std::span<const Placed> values, const Rows& limits,
                       std::vector<Dispatch>* dispatches,
                       std::vector<std::unique_ptr<Buffer>>* kept) {
  const int32_t deciding = deciding_value(op);
  if (is_tensor_op(op, deciding < 0 ? nullptr : &values[deciding].value)) {
    return append_tensor_dispatches(device, op, number, values, dispatches,
                                    kept);
  }
  RowAppender appender(device, op, number, values, limits, dispatches);
  row_op(op.code).append(appender);
}

void check_supported(const Device& device, const Op& op,
                     std::span<const rc_plugin_value> values) {
  if (is_tensor_op(op, values)) {
    return check_tensor_supported(device, op, values);
  }
  const auto fits = [&](int64_t groups, int axis, const char* what) {
    if (groups > device.most_groups(axis)) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " with ", groups, " ", what,
           "; the device allows ", device.most_groups(axis));
    }
  };
  row_op(op.code);  // throws
  check_loops(device.tuning(), op, values);
  for (int slot = 0; slot < kMaxInputs; ++slot) {
    if (op.inputs[slot] < 0) continue;
    const rc_plugin_value& value = values[op.inputs[slot]];
    if (value.storage == RC_STORAGE_WEIGHT) {
      weight_layout(device, weight_info(op, slot, value));
    }
    for (int i = 0; i < value.rank; ++i) {
      if (value.shape[i] > INT32_MAX) {
        fail(RC_E_UNSUPPORTED, value_text(value), " has a dimension beyond ",
             INT32_MAX);
      }
    }
    check_rows(device, op, value);
    if (value.storage == RC_STORAGE_CACHE) check_buffer(device, op, value);
    if (value.storage == RC_STORAGE_CACHE && has_states(op)) {
      check_states(device, op, value);
    } else if (value.storage == RC_STORAGE_CACHE) {
      const CacheRanges ranges = ranges_of(device, value);
      if (ranges.pages == 0 ||
          (ranges.count > kCacheRanges && is_attention(op))) {
        fail(RC_E_UNSUPPORTED, "a cache ", value_text(value),
             " needs more than ", kCacheRanges, " ranges of ",
             device.tuning().range,
             " bytes, which is what the device can bind");
      }
    }
  }
  for (int32_t output : op.outputs) {
    if (output >= 0) check_rows(device, op, values[output]);
  }
  const rc_plugin_value& x = values[op.inputs[0]];
  switch (op.code) {
    case RC_OP_RMS_NORM:
    case RC_OP_GROUP_NORM:
    case RC_OP_LAYER_NORM:
      if (x.rank == 3) fits(x.shape[1], 0, "heads");
      break;
    case RC_OP_ROPE:
    case RC_OP_ATTENTION:
    case RC_OP_GENERAL_ATTENTION:
    case RC_OP_CACHE_STORE:
      fits(x.shape[1], 0, "heads");
      break;
    case RC_OP_EXPERT_LINEAR:
      fits(divided(static_cast<uint64_t>(values[op.inputs[1]].shape[1]),
                   device.tuning().tile),
           0, "tiles of rows of an expert");
      fits(values[op.inputs[2]].shape[1], 2, "chosen experts");
      break;
    default:
      break;
  }
  if (is_attention(op)) check_attention(op, values);
  constexpr int64_t kMostGroups = 64;
  if (op.code == RC_OP_CHOOSE_IN_GROUPS &&
      op.params.choose_in_groups.groups > kMostGroups) {
    fail(RC_E_UNSUPPORTED, op.params.choose_in_groups.groups,
         " groups of experts; up to ", kMostGroups, " are possible");
  }
}

}  // namespace rc::gpu
