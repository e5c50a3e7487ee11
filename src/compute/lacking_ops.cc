#include "compute/lacking_ops.h"

#include <utility>
#include <vector>

namespace rc::compute {
namespace {

class Separation {
 public:
  Separation(runtime::ProgramDescription& description,
             const runtime::Device& device)
      : description_(description), device_(device) {}

  void run() {
    const std::vector<Op> ops = std::exchange(description_.ops, {});
    for (Op op : ops) {
      if (supports(op)) {
        description_.ops.push_back(op);
        continue;
      }
      for (int32_t& input : op.inputs) {
        if (is_cache(input)) input = copied(input);
      }
      const int32_t result = op.outputs[0];
      if (is_cache(result)) op.outputs[0] = scratch_like(result);
      description_.ops.push_back(op);
      if (is_cache(result)) put(op.outputs[0], result);
    }
  }

 private:
  bool supports(const Op& op) const {
    runtime::Message message;
    return device_.op_supported(op, description_.values.data(), message) ==
           RC_OK;
  }
  bool is_cache(int32_t value) const {
    return value >= 0 &&
           description_.values[static_cast<size_t>(value)].storage ==
               RC_STORAGE_CACHE;
  }
  int32_t add(const rc_plugin_value& value) {
    description_.values.push_back(value);
    return static_cast<int32_t>(description_.values.size() - 1);
  }
  int32_t scratch_like(int32_t value) {
    rc_plugin_value scratch = description_.values[static_cast<size_t>(value)];
    scratch.storage = RC_STORAGE_SCRATCH;
    scratch.index = static_cast<int32_t>(description_.values.size());
    scratch.offset = 0;
    return add(scratch);
  }
  // COPY reads elements in a row.
  int32_t in_a_row(int32_t value) {
    rc_plugin_value row = description_.values[static_cast<size_t>(value)];
    for (int i = 1; i < row.rank; ++i) row.shape[0] *= row.shape[i];
    for (int i = 1; i < RC_PLUGIN_MAX_RANK; ++i) row.shape[i] = 0;
    row.rank = 1;
    return add(row);
  }
  void put(int32_t from, int32_t to) {
    Op op;
    op.code = RC_OP_COPY;
    op.inputs[0] = in_a_row(from);
    op.outputs[0] = to;
    const rc_plugin_value& value = description_.values[static_cast<size_t>(to)];
    int64_t stride = 1;
    for (int i = value.rank; i-- > 0;) {
      op.params.copy.strides[i] = stride;
      stride *= value.shape[i];
    }
    description_.ops.push_back(op);
  }
  int32_t copied(int32_t value) {
    const int32_t copy = scratch_like(value);
    put(value, copy);
    return copy;
  }

  runtime::ProgramDescription& description_;
  const runtime::Device& device_;
};

}  // namespace

void set_apart(runtime::ProgramDescription& description,
               const runtime::Device& device) {
  Separation(description, device).run();
}

}  // namespace rc::compute
