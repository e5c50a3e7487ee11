#include "gpu/tensor_dispatch.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "common/op_table.h"
#include "gpu/loops.h"
#include "gpu/tensor_appender.h"
#include "gpu/words.h"

namespace rc::gpu {
namespace {

// A dispatch takes about so long, but for the largest ops.
constexpr double kDispatchSeconds = 0.02;
constexpr double kMostDispatches = 256;
// Lanes hold what they have of a head in registers.
constexpr int64_t kLargestHead = 1024;

// Throws RC_E_UNSUPPORTED if there is no such op here.
const TensorOp& tensor_op(int32_t code) {
  static const plugin::OpTable<TensorOp> kTable(
      {tensor_element_ops(), tensor_line_ops(), tensor_product_ops()});
  const TensorOp* row = kTable.find(code);
  if (row == nullptr) {
    fail(RC_E_UNSUPPORTED, op_name(code), " has no kernel for GPUs");
  }
  return *row;
}

// Kernels count places of x, what surrounds it included, and add such counts.
void check_window(const Op& op, std::span<const rc_plugin_value> values) {
  constexpr int64_t kLargest = INT32_MAX / 2;
  const rc_plugin_value& x = values[op.inputs[0]];
  for (int i = 0; i < 2; ++i) {
    const int64_t size =
        x.shape[2 + i] + 2 * int64_t{op.params.conv2d.padding[i]};
    if (size > kLargest) {
      fail(RC_E_UNSUPPORTED, "CONV2D of ", value_text(x), " with padding of ",
           op.params.conv2d.padding[i], ": windows go over ", kLargest,
           " elements at most");
    }
  }
}

}  // namespace

uint64_t element_count(const rc_plugin_value& value) {
  uint64_t count = 1;
  for (int i = 0; i < value.rank; ++i) {
    count *= static_cast<uint64_t>(value.shape[i]);
  }
  return count;
}

uint32_t TensorAppender::base(const Placed& placed, uint32_t unit) const {
  return static_cast<uint32_t>(placed.region.offset % device_.alignment() /
                               unit);
}

Region TensorAppender::bound(const Placed& placed) const {
  const uint64_t before = placed.region.offset % device_.alignment();
  Region bound = placed.region;
  bound.offset -= before;
  bound.bytes += before;
  return bound;
}

void TensorAppender::append(Kernel kernel, std::vector<uint32_t> constants,
                            const std::vector<Operand>& operands,
                            const std::vector<uint32_t>& parameters,
                            uint64_t groups, double group_work) {
  const double work = group_work * static_cast<double>(groups);
  const auto most = [&](int dimension) {
    return std::min(device_.most_groups(dimension), tuning.groups);
  };
  const double cuts =
      std::clamp(std::ceil(work / (device_.speed * kDispatchSeconds)), 1.0,
                 kMostDispatches);
  const uint64_t each =
      std::min<uint64_t>(divided(groups, static_cast<uint64_t>(cuts)),
                         uint64_t{most(0)} * device_.most_groups(1));
  for (uint64_t first = 0; first < groups; first += each) {
    const uint64_t count = std::min(each, groups - first);
    Dispatch dispatch = {};
    dispatch.op = number;
    dispatch.kernel = kernel;
    dispatch.constants = constants;
    for (const Operand& operand : operands) {
      dispatch.bindings.push_back(
          {operand.slot, bound(*operand.placed), operand.quads});
    }
    dispatch.parameters = {static_cast<uint32_t>(first),
                           static_cast<uint32_t>(first + count)};
    dispatch.parameters.insert(dispatch.parameters.end(), parameters.begin(),
                               parameters.end());
    const uint32_t rows = divided(count, most(0));
    dispatch.x = divided(count, rows);
    dispatch.rows.symbol = kFixedRows;
    dispatch.rows.limit = rows;
    dispatch.work.each = group_work * dispatch.x;
    dispatch.after = first == 0 && stages > 0;
    dispatches_->push_back(std::move(dispatch));
  }
  ++stages;
}

Placed TensorAppender::keep(uint64_t words) {
  kept_->push_back(device_.allocate(words * 4, MemoryUse::kDevice));
  Placed placed = {};
  placed.region = {kept_->back().get(), 0, words * 4};
  return placed;
}

void append_tensor_dispatches(Device& device, const Op& op, int32_t number,
                              std::span<const Placed> values,
                              std::vector<Dispatch>* dispatches,
                              std::vector<std::unique_ptr<Buffer>>* kept) {
  TensorAppender appender(device, op, number, values, dispatches, kept);
  tensor_op(op.code).append(appender);
}

void check_tensor_supported(const Device& device, const Op& op,
                            std::span<const rc_plugin_value> values) {
  const auto bindable = [&](int32_t number) {
    if (number < 0) return;
    const rc_plugin_value& value = values[number];
    const uint64_t before = value.storage == RC_STORAGE_CACHE
                                ? value.offset % device.alignment()
                                : 0;
    const uint64_t bytes = value_bytes(value, {}).value();
    if (bytes >
        device.tuning().range - std::min(before, device.tuning().range)) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " with ", value_text(value),
           ": the device can bind ", device.tuning().range, " bytes");
    }
  };
  if (has_other_numbers(op, values.data())) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " of ",
         value_text(values[op.inputs[0]]),
         ": kernels of GPUs compute in F32 alone");
  }
  tensor_op(op.code);  // throws
  for (int32_t input : op.inputs) bindable(input);
  bindable(op.outputs[0]);
  check_loops(device.tuning(), op, values);
  if (op.code == RC_OP_CONV2D) check_window(op, values);
  if (op.code == RC_OP_ATTEND) {
    const int64_t head = values[op.inputs[0]].shape[3];
    if (head > kLargestHead) {
      fail(RC_E_UNSUPPORTED, "ATTEND: heads of ", head, " elements; up to ",
           kLargestHead, " are possible");
    }
  }
}

}  // namespace rc::gpu
