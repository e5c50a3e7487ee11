// The dispatches of each op on rows.
#include <algorithm>

#include "base/error.h"
#include "gpu/loops.h"
#include "gpu/row_appender.h"
#include "gpu/words.h"

namespace rc::gpu {
void RowAppender::get_rows() {
  const Weight& weight = *in(0).weight;
  const WeightLayout& layout = weight.layout;
  const uint32_t groups =
      divided(static_cast<uint64_t>(layout.columns), kGroup);
  for (const RowSlice& rows : row_slices(out(0), {&in(1), &out(0)})) {
    for (const Weight::Slice& tiles : weight.slices) {
      Dispatch& d = append(Kernel::kGetRows,
                           weight_constants(weight, tuning_.plain), rows,
                           {narrow(layout.rows), narrow(layout.columns), groups,
                            static_cast<uint32_t>(tiles.first_tile),
                            static_cast<uint32_t>(tiles.tiles)});
      bind(d, 1, in(1), rows);
      bind_weight(d, tiles);
      bind(d, 8, out(0), rows);
      spread(d, divided(groups, tuning_.plain));
      d.work.each = static_cast<double>(layout.columns);
    }
  }
}

void RowAppender::copy_rows() {
  const uint32_t width = narrow(width_of(out(0).value));
  for (const RowSlice& rows : row_slices(out(0), {&in(1), &out(0)})) {
    for (const RowSlice& table : row_slices(in(0), {&in(0)})) {
      Dispatch& d = append(Kernel::kCopyRows, {tuning_.plain}, rows,
                           {width, table.symbol, table.first, table.limit});
      bind(d, 1, in(1), rows);
      bind(d, 2, in(0), table);
      bind(d, 8, out(0), rows);
      spread(d, divided(width, uint64_t{tuning_.plain} * tuning_.vector));
      d.work.each = width;
    }
  }
}

// RMS_NORM, GROUP_NORM and LAYER_NORM.
void RowAppender::norm() {
  const rc_plugin_value& x = in(0).value;
  const bool layer = op_.code == RC_OP_LAYER_NORM;
  const auto& params = op_.params.layer_norm;
  const bool bias = layer && has(2);
  const uint32_t columns = narrow(x.shape[x.rank - 1]);
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &out(0)})) {
    Dispatch& d = append(
        Kernel::kRowNorm, {tuning_.reduce, layer && params.center != 0}, rows,
        {columns, has(1), bias,
         word(layer ? params.epsilon : op_.params.norm.epsilon),
         op_.code == RC_OP_GROUP_NORM ? columns : 0});
    bind(d, 1, in(0), rows);
    bind(d, 2, in(has(1) ? 1 : 0), rows);
    bind(d, 3, in(bias ? 2 : 0), rows);
    bind(d, 8, out(0), rows);
    d.x = x.rank == 3 ? narrow(x.shape[1]) : 1;
    d.work.each = static_cast<double>(width_of(x));
  }
}

void RowAppender::rope() {
  const rc_plugin_value& x = in(0).value;
  const uint32_t heads = narrow(x.shape[1]);
  const uint32_t group_heads = std::min(heads, tuning_.rope_heads);
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &in(1), &out(0)})) {
    Dispatch& d = append(Kernel::kRope, {std::min(32u, tuning_.plain)}, rows,
                         {narrow(x.shape[2]), narrow(in(2).value.shape[0]),
                          op_.params.rope.style == RC_ROPE_HALVES,
                          word(op_.params.rope.scale), heads, group_heads});
    bind(d, 1, in(0), rows);
    bind(d, 2, in(1), rows);
    bind(d, 3, in(2), rows);
    bind(d, 8, out(0), rows);
    d.x = divided(heads, group_heads);
    d.work.each = static_cast<double>(width_of(x));
  }
}

void RowAppender::join() {
  const uint32_t width = narrow(width_of(out(0).value));
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &in(1), &out(0)})) {
    Dispatch& d = append(
        Kernel::kJoin, {tuning_.plain}, rows,
        {width, narrow(in(0).value.shape[2]), narrow(in(1).value.shape[2])});
    bind(d, 1, in(0), rows);
    bind(d, 2, in(1), rows);
    bind(d, 8, out(0), rows);
    spread(d, divided(width, tuning_.plain));
    d.work.each = width;
  }
}

void RowAppender::elementwise(uint32_t kind, bool two, float factor,
                              float offset) {
  const Placed& b = in(two ? 1 : 0);
  const uint32_t width = narrow(width_of(in(0).value));
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &b, &out(0)})) {
    Dispatch& d =
        append(Kernel::kElementwise, {tuning_.plain, kind, tuning_.each}, rows,
               {width, word(factor), word(offset)});
    bind(d, 1, in(0), rows);
    bind(d, 2, b, rows);
    bind(d, 8, out(0), rows);
    spread(d, divided(width, uint64_t{tuning_.plain} * tuning_.each));
    d.work.each = width;
  }
}

void RowAppender::route() {
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &out(0), &out(1)})) {
    Dispatch& d =
        append(Kernel::kRoute, {tuning_.route}, rows,
               {narrow(in(0).value.shape[1]), narrow(out(0).value.shape[1]),
                op_.params.route.normalize != 0});
    bind(d, 1, in(0), rows);
    bind(d, 8, out(0), rows);
    bind(d, 9, out(1), rows);
    d.work.each = static_cast<double>(width_of(in(0).value)) *
                  static_cast<double>(width_of(out(0).value));
  }
}

// CHOOSE and CHOOSE_IN_GROUPS.
void RowAppender::choose() {
  const bool in_groups = op_.code == RC_OP_CHOOSE_IN_GROUPS;
  const auto& plain = op_.params.choose;
  const auto& grouped = op_.params.choose_in_groups;
  const uint32_t groups = in_groups ? narrow(grouped.groups) : 1;
  const uint32_t used = in_groups ? narrow(grouped.groups_used) : 1;
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &out(0), &out(1)})) {
    Dispatch& d = append(
        Kernel::kChoose, {tuning_.route, used < groups ? groups : 1}, rows,
        {narrow(in(0).value.shape[1]), narrow(out(0).value.shape[1]),
         (in_groups ? grouped.score : plain.score) == RC_SCORE_SIGMOID,
         (in_groups ? grouped.normalize : plain.normalize) != 0, has(1), used,
         in_groups ? static_cast<uint32_t>(grouped.best) : 1});
    bind(d, 1, in(0), rows);
    bind(d, 2, has(1) ? in(1) : in(0), rows);
    bind(d, 8, out(0), rows);
    bind(d, 9, out(1), rows);
    d.work.each = static_cast<double>(width_of(in(0).value)) *
                  static_cast<double>(width_of(out(0).value));
  }
}

void RowAppender::sparse_mix() {
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &out(0), &out(1)})) {
    Dispatch& d =
        append(Kernel::kSparseMix, {tuning_.route}, rows,
               {narrow(in(0).value.shape[1]), narrow(out(0).value.shape[1]),
                word(op_.params.sparse_mix.margin)});
    bind(d, 1, in(0), rows);
    bind(d, 8, out(0), rows);
    bind(d, 9, out(1), rows);
    d.work.each = static_cast<double>(width_of(in(0).value)) *
                  static_cast<double>(width_of(out(0).value));
  }
}

void RowAppender::affine() {
  const uint32_t width = narrow(width_of(in(0).value));
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &out(0)})) {
    Dispatch& d = append(Kernel::kAffine, {tuning_.plain, tuning_.each}, rows,
                         {width, has(1), has(2)});
    bind(d, 1, in(0), rows);
    bind(d, 2, in(has(1) ? 1 : 0), rows);
    bind(d, 3, in(has(2) ? 2 : 0), rows);
    bind(d, 8, out(0), rows);
    spread(d, divided(width, uint64_t{tuning_.plain} * tuning_.each));
    d.work.each = width;
  }
}

void RowAppender::xielu() {
  const auto& params = op_.params.xielu;
  const uint32_t width = narrow(width_of(in(0).value));
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &out(0)})) {
    Dispatch& d = append(Kernel::kXielu, {tuning_.plain, tuning_.each}, rows,
                         {width, word(params.alpha_p), word(params.alpha_n),
                          word(params.beta), word(params.epsilon)});
    bind(d, 1, in(0), rows);
    bind(d, 8, out(0), rows);
    spread(d, divided(width, uint64_t{tuning_.plain} * tuning_.each));
    d.work.each = width;
  }
}

void RowAppender::expert_sum() {
  const rc_plugin_value& x = in(0).value;
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &in(1), &out(0)})) {
    Dispatch& d = append(Kernel::kExpertSum, {tuning_.plain}, rows,
                         {narrow(x.shape[2]), narrow(x.shape[1])});
    bind(d, 1, in(0), rows);
    bind(d, 2, in(1), rows);
    bind(d, 8, out(0), rows);
    spread(d, divided(static_cast<uint64_t>(x.shape[2]),
                      uint64_t{tuning_.plain} * tuning_.vector));
    d.work.each = static_cast<double>(width_of(x));
  }
}

void RowAppender::run() {
  // Kinds as in the kernel elementwise.
  switch (op_.code) {
    case RC_OP_GET_ROWS:
      return in(0).weight != nullptr ? get_rows() : copy_rows();
    case RC_OP_RMS_NORM:
    case RC_OP_GROUP_NORM:
    case RC_OP_LAYER_NORM:
      return norm();
    case RC_OP_LINEAR:
    case RC_OP_EXPERT_LINEAR:
      return linear();
    case RC_OP_ROPE:
      return rope();
    case RC_OP_CACHE_STORE:
      return cache_store();
    case RC_OP_ATTENTION:
    case RC_OP_GENERAL_ATTENTION:
      return attention();
    case RC_OP_JOIN:
      return join();
    case RC_OP_GLU:
      return elementwise(static_cast<uint32_t>(op_.params.glu.function), true,
                         op_.params.glu.limit, op_.params.glu.offset);
    case RC_OP_UNARY:
      return elementwise(32 + static_cast<uint32_t>(op_.params.unary.function),
                         false);
    case RC_OP_ADD:
      return elementwise(16, true);
    case RC_OP_SCALE:
      return elementwise(17, false, op_.params.scale.factor);
    case RC_OP_SOFTCAP:
      return elementwise(18, false, op_.params.softcap.cap);
    case RC_OP_MULTIPLY:
      return elementwise(19, true);
    case RC_OP_CLAMP:
      return elementwise(20, false, op_.params.clamp.limit);
    case RC_OP_ROUTE:
      return route();
    case RC_OP_SPARSE_MIX:
      return sparse_mix();
    case RC_OP_AFFINE:
      return affine();
    case RC_OP_XIELU:
      return xielu();
    case RC_OP_CHOOSE:
    case RC_OP_CHOOSE_IN_GROUPS:
      return choose();
    case RC_OP_EXPERT_SUM:
      return expert_sum();
    case RC_OP_SHORT_CONV:
      return short_conv();
    case RC_OP_SELECTIVE_SCAN:
      return selective_scan();
    case RC_OP_CHANNEL_SCAN:
      return channel_scan();
    case RC_OP_DELTA_RULE:
      return delta_rule();
    case RC_OP_FADING_STATE:
      return fading_state();
  }
  fail(RC_E_UNSUPPORTED, "op number ", op_.code, " is not known here");
}

}  // namespace rc::gpu
