#include "model/expert_ops.h"

#include <algorithm>
#include <iterator>

#include "runcible/plugin_ops.h"

namespace rc::model {

std::vector<size_t> expert_ops(const runtime::ProgramDescription& description) {
  // Of the bytes that a scratch value shows: whether there is a row in them for
  // each chosen expert.
  std::vector<bool> of_experts(description.values.size());
  const auto bytes_of = [&](int32_t number) -> int64_t {
    if (number < 0) return -1;
    const rc_plugin_value& value =
        description.values[static_cast<size_t>(number)];
    return value.storage == RC_STORAGE_SCRATCH ? value.index : -1;
  };
  std::vector<size_t> found;
  for (size_t i = 0; i < description.ops.size(); ++i) {
    const Op& op = description.ops[i];
    const bool uses_them = std::any_of(
        std::begin(op.inputs), std::end(op.inputs), [&](int32_t number) {
          const int64_t bytes = bytes_of(number);
          if (bytes < 0 || !of_experts[static_cast<size_t>(bytes)]) {
            return false;
          }
          // [rows, experts, width]; of one expert a row is the sum as well.
          return description.values[static_cast<size_t>(number)].rank == 3;
        });
    // Attention has a matrix for each head in place of experts, whose numbers
    // nothing has chosen.
    const bool is_product =
        op.code == RC_OP_EXPERT_LINEAR && bytes_of(op.inputs[2]) >= 0;
    const bool is_expert = is_product || uses_them;
    if (is_expert) found.push_back(i);
    for (const int32_t output : op.outputs) {
      const int64_t bytes = bytes_of(output);
      if (bytes < 0) continue;
      of_experts[static_cast<size_t>(bytes)] =
          is_expert && op.code != RC_OP_EXPERT_SUM;
    }
  }
  return found;
}

}  // namespace rc::model
