#include "tensor/plugin_arrays.h"

namespace rc {

PluginArrays::PluginArrays(std::span<const rc_plugin_value> values,
                           std::span<const Op> ops) {
  values_.reserve(values.size());
  for (const rc_plugin_value& value : values) values_.push_back(&value);
  ops_.reserve(ops.size());
  for (const Op& op : ops) ops_.push_back(plugin_op(op));
  op_pointers_.reserve(ops.size());
  for (const rc_plugin_op& op : ops_) op_pointers_.push_back(&op);
}

void PluginArrays::put_into(rc_plugin_program& program) const {
  program.values = values_.data();
  program.value_count = values_.size();
  program.ops = op_pointers_.data();
  program.op_count = op_pointers_.size();
}

}  // namespace rc
