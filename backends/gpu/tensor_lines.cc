// Tensor ops over one dimension, or along it.
#include <algorithm>

#include "gpu/loops.h"
#include "gpu/tensor_appender.h"
#include "gpu/words.h"

namespace rc::gpu {
namespace {

// Of an element, in multiply-adds.
constexpr double kLineWork = 16;
constexpr double kTurnWork = 64;

// As in the kernel lines; up to kPlace they are RC_REDUCE_*.
constexpr uint32_t kPlace = 3;
constexpr uint32_t kSoftmax = 4;

enum Stage : uint32_t { kWhole, kParts, kJoin, kShares };

// Lines of more are done by a whole work-group, if each is dense.
constexpr int64_t kShortLine = 16;

void lines(TensorAppender& a, uint32_t kind) {
  const rc_plugin_value& x = a.in(0);
  const int64_t n = x.shape[1];
  const int64_t inner = x.shape[2];
  const auto lines = static_cast<uint64_t>(x.shape[0] * inner);
  // Neighbouring lanes shall read neighbouring elements, and there shall be
  // enough for all of them to do.
  const Tuning& tuning = a.tuning;
  const bool together =
      n > kShortLine && (inner == 1 || (tuning.vector == 1 &&
                                        lines < uint64_t{tuning.reduce} * 16));
  const uint32_t lanes =
      together || tuning.vector == 1 ? tuning.reduce : tuning.plain;
  // The most often that a stage goes through its elements.
  const uint64_t passes = kind == kSoftmax ? 3 : 1;
  uint64_t part =
      std::min<uint64_t>(loop_budget(tuning) / passes * (together ? lanes : 1),
                         static_cast<uint64_t>(n));
  if (tuning.line_part != 0 && part > uint64_t{tuning.line_part} * 4) {
    part = tuning.line_part;
  }
  const uint32_t parts = divided(static_cast<uint64_t>(n), part);
  const auto stage = [&](Stage number, const Placed& x_of, const Placed& joined,
                         const Placed& y) {
    const uint64_t length = number == kJoin ? parts : part;
    // The pairs of all lines are neighbours.
    const uint64_t along =
        number == kJoin ? lines : static_cast<uint64_t>(inner);
    // Of neighbouring numbers of a line, or of neighbouring lines.
    const bool all = together && (number != kJoin || tuning.vector == 1);
    const uint32_t vector = all ? tuning.vector : tuning.vector_for(along);
    const uint64_t units =
        (all ? lines : lines / along * divided(along, vector)) *
        (number == kJoin ? 1 : parts);
    a.append(
        Kernel::kLines, {lanes, kind, all, number, vector},
        {{1, &x_of}, {2, &joined}, {8, &y}},
        {a.base(x_of, 4), a.base(y, 4), static_cast<uint32_t>(lines), narrow(n),
         narrow(inner), static_cast<uint32_t>(part), parts},
        all ? units : divided(units, lanes),
        kLineWork * static_cast<double>(length) * (all ? 1 : lanes * vector));
  };
  const Placed& from = a.placed(0);
  const Placed& to = a.placed_out();
  if (parts == 1) return stage(kWhole, from, from, to);
  const Placed found = a.keep(2 * lines * parts);
  stage(kParts, from, from, found);
  if (kind != kSoftmax) return stage(kJoin, found, found, to);
  const Placed joined = a.keep(2 * lines);
  stage(kJoin, found, found, joined);
  stage(kShares, from, joined, to);
}

void append_softmax(TensorAppender& a) { lines(a, kSoftmax); }

void append_reduce(TensorAppender& a) {
  lines(a, static_cast<uint32_t>(a.op.params.reduce.function));
}

void append_argmax(TensorAppender& a) { lines(a, kPlace); }

void append_layer_norm(TensorAppender& a) {
  const rc_plugin_value& x = a.in(0);
  const auto d = static_cast<uint64_t>(x.shape[x.rank - 1]);
  const auto& params = a.op.params.layer_norm;
  a.append(
      Kernel::kLayerNorm, {a.tuning.reduce},
      {{1, &a.placed(0)},
       {2, &a.placed(1)},
       {3, &a.placed(2)},
       {8, &a.placed_out()}},
      {a.base(a.placed(0), 4), a.base(a.placed(1), 4), a.base(a.placed(2), 4),
       a.base(a.placed_out(), 4), static_cast<uint32_t>(d), params.center != 0,
       a.has(1), a.has(2), word(params.epsilon)},
      element_count(x) / d, kLineWork * static_cast<double>(d));
}

void append_rope(TensorAppender& a) {
  const rc_plugin_value& x = a.in(0);
  const auto& params = a.op.params.rope;
  const uint32_t heads = narrow(x.shape[1]);
  const uint32_t group_heads = std::min(heads, a.tuning.rope_heads);
  const uint32_t lanes = std::min(32u, a.tuning.plain);
  a.append(Kernel::kTensorRope, {lanes},
           {{1, &a.placed(0)},
            {2, &a.placed(1)},
            {3, &a.placed(2)},
            {8, &a.placed_out()}},
           {a.base(a.placed(0), 4), a.base(a.placed(1), 4),
            a.base(a.placed(2), 4), a.base(a.placed_out(), 4), heads,
            group_heads, narrow(x.shape[2]), narrow(a.in(2).shape[0]),
            params.style == RC_ROPE_HALVES, word(params.scale)},
           static_cast<uint64_t>(x.shape[0]) * divided(heads, group_heads),
           kTurnWork * group_heads * static_cast<double>(x.shape[2]));
}

}  // namespace

std::span<const TensorOp> tensor_line_ops() {
  static constexpr TensorOp kOps[] = {{RC_OP_LAYER_NORM, append_layer_norm},
                                      {RC_OP_SOFTMAX, append_softmax},
                                      {RC_OP_REDUCE, append_reduce},
                                      {RC_OP_ARGMAX, append_argmax},
                                      {RC_OP_ROPE, append_rope}};
  return kOps;
}

}  // namespace rc::gpu
