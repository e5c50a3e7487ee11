#include "gpu/loops.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "tensor/dtype.h"

namespace rc::gpu {
namespace {

// For reductions over the lanes and what else does not depend on shapes.
constexpr uint64_t kFixed = 1024;

uint64_t rounds(uint64_t count, uint64_t each) {
  return (count + each - 1) / each;
}

// Drivers may take loops within loops apart: of CONV2D and LINEAR they count up
// to 1.6 times what the text of the kernel has.
constexpr uint64_t kNested = 2;

// Of a loop within others: llvmpipe counts the end too.
uint64_t inner(uint64_t iterations) { return iterations + 1; }

// For attention over so many positions with heads of d elements.
uint64_t attention_loops(const Tuning& tuning, uint64_t positions, uint64_t d) {
  const uint64_t lanes = tuning.attention;
  const uint64_t chunks = rounds(positions, lanes) + 1;
  if (tuning.texels != 0) return chunks;  // everything else is unrolled
  const uint64_t reduction = inner(lanes / 8) + inner(16);
  const uint64_t rows = std::max(tuning.attention_rows, 1u);
  return chunks * (1 + inner(d) + inner(lanes) + 2 * reduction) +
         (rows - 1) * chunks * (inner(d / 8) + inner(lanes / 8) + 16);
}

uint64_t linear_loops(const Tuning& tuning, uint64_t columns) {
  const uint64_t groups = rounds(columns, 32);
  if (tuning.texels != 0) return groups;
  const uint64_t at_once = uint64_t{tuning.parts} * tuning.chunk;
  const uint64_t brought = rounds(at_once * 8, tuning.tile * tuning.parts);
  return kNested * rounds(groups, at_once) *
         (1 + tuning.batch * inner(brought) + inner(tuning.chunk));
}

uint64_t loops_of(const Tuning& tuning, const Op& op,
                  std::span<const rc_plugin_value> values) {
  const auto size = [&](int slot, int dimension) {
    return static_cast<uint64_t>(values[op.inputs[slot]].shape[dimension]);
  };
  const auto last = [&](int slot) {
    return size(slot, values[op.inputs[slot]].rank - 1);
  };
  switch (op.code) {
    case RC_OP_RMS_NORM:
    case RC_OP_GROUP_NORM:
      return 2 * rounds(last(0), tuning.reduce);
    case RC_OP_LAYER_NORM:
      return 3 * rounds(last(0), tuning.reduce);
    case RC_OP_LINEAR:
    case RC_OP_EXPERT_LINEAR:
      return linear_loops(tuning, last(1));
    case RC_OP_ROPE:
      return 2 * rounds(last(0), std::min(32u, tuning.plain));
    case RC_OP_CACHE_STORE:
      // A lane has elements, or blocks of 32.
      return 3 * rounds(last(0), std::min(32u, tuning.plain)) + 128;
    case RC_OP_ATTENTION: {
      uint64_t seen = size(5, 1) * size(1, 2);
      if (op.params.attention.window > 0) {
        // To both sides where rows see whole sequences.
        const uint64_t sides = op.inputs[7] >= 0 ? 2 : 1;
        seen =
            std::min(seen, sides * static_cast<uint64_t>(std::min<int64_t>(
                                       op.params.attention.window, INT32_MAX)));
      }
      return attention_loops(tuning, seen, last(0));
    }
    case RC_OP_GENERAL_ATTENTION: {
      const auto& params = op.params.general_attention;
      uint64_t seen = size(5, 1) * size(1, 2);
      for (const int64_t most : {params.window, params.chunk}) {
        if (most > 0) seen = std::min(seen, static_cast<uint64_t>(most));
      }
      const auto values_of =
          static_cast<uint64_t>(values[op.outputs[0]].shape[2]);
      return attention_loops(tuning, seen, std::max(last(0), values_of));
    }
    case RC_OP_ATTEND:
      return attention_loops(tuning, size(1, 1), last(0));
    case RC_OP_CHOOSE:
    case RC_OP_ROUTE:
    case RC_OP_SPARSE_MIX: {
      const uint64_t lanes = tuning.route;
      const auto chosen = static_cast<uint64_t>(values[op.outputs[0]].shape[1]);
      // CHOOSE has one more reduction, SPARSE_MIX three for each choice.
      return (op.code == RC_OP_SPARSE_MIX ? 3 * chosen
              : op.code == RC_OP_CHOOSE   ? chosen + 2
                                          : chosen + 1) *
             (1 + inner(rounds(size(0, 1), lanes)) + inner(lanes));
    }
    case RC_OP_CHOOSE_IN_GROUPS: {
      const uint64_t lanes = tuning.route;
      const uint64_t experts = size(0, 1);
      const auto chosen = static_cast<uint64_t>(values[op.outputs[0]].shape[1]);
      const auto groups =
          static_cast<uint64_t>(op.params.choose_in_groups.groups);
      return (chosen + 2) * (1 + inner(rounds(experts, lanes)) + inner(lanes)) +
             kNested * (experts + 2 * groups + groups * inner(groups));
    }
    case RC_OP_EXPERT_SUM:
      return size(0, 1);
    case RC_OP_CONV2D:
      return channel_loops(values[op.inputs[1]]);
  }
  return 0;
}

}  // namespace

uint64_t loop_budget(const Tuning& tuning) { return tuning.loops - kFixed; }

uint64_t strip_loops(const Tuning& tuning, uint32_t lanes, uint32_t rows,
                     uint32_t columns) {
  // Eight columns at a time, all unrolled.
  if (tuning.texels != 0) return kStrip / 8;
  return 1 + inner(rounds(uint64_t{kStrip} * rows, lanes)) +
         inner(rounds(uint64_t{kStrip} * columns, lanes)) + inner(kStrip);
}

uint64_t channel_loops(const rc_plugin_value& weight) {
  const auto height = static_cast<uint64_t>(weight.shape[2]);
  const auto width = static_cast<uint64_t>(weight.shape[3]);
  return kNested * (1 + inner(height) + height * inner(width));
}

uint64_t conv_rows(const Tuning& tuning, uint64_t width) {
  const uint64_t each = kNested * (1 + 2 * inner(width));
  return (loop_budget(tuning) - 2 * inner(width)) / each;
}

uint64_t scan_rows(const Tuning& tuning, uint64_t columns) {
  const uint64_t kept = inner(rounds(columns, tuning.scan_parts));
  const uint64_t each = kNested * (1 + kept + inner(tuning.scan_parts));
  return (loop_budget(tuning) - 2 * kept) / each;
}

uint64_t delta_rows(const Tuning& tuning, uint64_t columns) {
  const uint64_t kept = inner(rounds(columns, tuning.scan_parts));
  // Twice over the columns, with a sum behind each.
  const uint64_t each = kNested * (1 + 2 * (kept + inner(tuning.scan_parts)));
  return (loop_budget(tuning) - 2 * kept) / each;
}

void check_loops(const Tuning& tuning, const Op& op,
                 std::span<const rc_plugin_value> values) {
  const uint64_t loops = loops_of(tuning, op, values);
  if (loops <= loop_budget(tuning)) return;
  fail(RC_E_UNSUPPORTED, op_name(op.code), " of ",
       value_text(values[op.inputs[0]]), " takes ", loops,
       " iterations of loops; kernels on the device are ended after ",
       tuning.loops);
}

}  // namespace rc::gpu
