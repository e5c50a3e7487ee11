// The dispatches of each op on rows.
#include <algorithm>

#include "base/error.h"
#include "gpu/loops.h"
#include "gpu/row_appender.h"
#include "gpu/words.h"

namespace rc::gpu {
namespace {

void append_decoded_rows(RowAppender& a) {
  const Weight& weight = *a.in(0).weight;
  const WeightLayout& layout = weight.layout;
  const uint32_t groups =
      divided(static_cast<uint64_t>(layout.columns), kGroup);
  for (const RowSlice& rows : a.row_slices(a.out(0), {&a.in(1), &a.out(0)})) {
    for (const Weight::Slice& tiles : weight.slices) {
      Dispatch& d = a.append(Kernel::kGetRows,
                             a.weight_constants(weight, a.tuning.plain), rows,
                             {narrow(layout.rows), narrow(layout.columns),
                              groups, static_cast<uint32_t>(tiles.first_tile),
                              static_cast<uint32_t>(tiles.tiles)});
      a.bind(d, 1, a.in(1), rows);
      a.bind_weight(d, tiles);
      a.bind(d, 8, a.out(0), rows);
      a.spread(d, divided(groups, a.tuning.plain));
      d.work.each = static_cast<double>(layout.columns);
    }
  }
}

void append_copy_rows(RowAppender& a) {
  const uint32_t width = narrow(width_of(a.out(0).value));
  for (const RowSlice& rows : a.row_slices(a.out(0), {&a.in(1), &a.out(0)})) {
    for (const RowSlice& table : a.row_slices(a.in(0), {&a.in(0)})) {
      Dispatch& d = a.append(Kernel::kCopyRows, {a.tuning.plain}, rows,
                             {width, table.symbol, table.first, table.limit});
      a.bind(d, 1, a.in(1), rows);
      a.bind(d, 2, a.in(0), table);
      a.bind(d, 8, a.out(0), rows);
      a.spread(d, divided(width, uint64_t{a.tuning.plain} * a.tuning.vector));
      d.work.each = width;
    }
  }
}

void append_get_rows(RowAppender& a) {
  a.in(0).weight != nullptr ? append_decoded_rows(a) : append_copy_rows(a);
}

// RMS_NORM, GROUP_NORM and LAYER_NORM.
void append_norm(RowAppender& a) {
  const rc_plugin_value& x = a.in(0).value;
  const bool layer = a.op.code == RC_OP_LAYER_NORM;
  const auto& params = a.op.params.layer_norm;
  const bool bias = layer && a.has(2);
  const uint32_t columns = narrow(x.shape[x.rank - 1]);
  for (const RowSlice& rows : a.row_slices(a.in(0), {&a.in(0), &a.out(0)})) {
    Dispatch& d = a.append(
        Kernel::kRowNorm, {a.tuning.reduce, layer && params.center != 0}, rows,
        {columns, a.has(1), bias,
         word(layer ? params.epsilon : a.op.params.norm.epsilon),
         a.op.code == RC_OP_GROUP_NORM ? columns : 0});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 2, a.in(a.has(1) ? 1 : 0), rows);
    a.bind(d, 3, a.in(bias ? 2 : 0), rows);
    a.bind(d, 8, a.out(0), rows);
    d.x = x.rank == 3 ? narrow(x.shape[1]) : 1;
    d.work.each = static_cast<double>(width_of(x));
  }
}

void append_rope(RowAppender& a) {
  const rc_plugin_value& x = a.in(0).value;
  const uint32_t heads = narrow(x.shape[1]);
  const uint32_t group_heads = std::min(heads, a.tuning.rope_heads);
  for (const RowSlice& rows :
       a.row_slices(a.in(0), {&a.in(0), &a.in(1), &a.out(0)})) {
    Dispatch& d = a.append(Kernel::kRope, {std::min(32u, a.tuning.plain)}, rows,
                           {narrow(x.shape[2]), narrow(a.in(2).value.shape[0]),
                            a.op.params.rope.style == RC_ROPE_HALVES,
                            word(a.op.params.rope.scale), heads, group_heads});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 2, a.in(1), rows);
    a.bind(d, 3, a.in(2), rows);
    a.bind(d, 8, a.out(0), rows);
    d.x = divided(heads, group_heads);
    d.work.each = static_cast<double>(width_of(x));
  }
}

void append_join(RowAppender& a) {
  const uint32_t width = narrow(width_of(a.out(0).value));
  for (const RowSlice& rows :
       a.row_slices(a.in(0), {&a.in(0), &a.in(1), &a.out(0)})) {
    Dispatch& d = a.append(Kernel::kJoin, {a.tuning.plain}, rows,
                           {width, narrow(a.in(0).value.shape[2]),
                            narrow(a.in(1).value.shape[2])});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 2, a.in(1), rows);
    a.bind(d, 8, a.out(0), rows);
    a.spread(d, divided(width, a.tuning.plain));
    d.work.each = width;
  }
}

// The kinds are those of the kernel elementwise.
void append_elementwise(RowAppender& a, uint32_t kind, bool two,
                        float factor = 0, float offset = 0) {
  const Placed& b = a.in(two ? 1 : 0);
  const uint32_t width = narrow(width_of(a.in(0).value));
  for (const RowSlice& rows :
       a.row_slices(a.in(0), {&a.in(0), &b, &a.out(0)})) {
    Dispatch& d =
        a.append(Kernel::kElementwise, {a.tuning.plain, kind, a.tuning.each},
                 rows, {width, word(factor), word(offset)});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 2, b, rows);
    a.bind(d, 8, a.out(0), rows);
    a.spread(d, divided(width, uint64_t{a.tuning.plain} * a.tuning.each));
    d.work.each = width;
  }
}

void append_glu(RowAppender& a) {
  const auto& params = a.op.params.glu;
  append_elementwise(a, static_cast<uint32_t>(params.function), true,
                     params.limit, params.offset);
}

void append_unary(RowAppender& a) {
  append_elementwise(a, 32 + static_cast<uint32_t>(a.op.params.unary.function),
                     false);
}

void append_add(RowAppender& a) { append_elementwise(a, 16, true); }

void append_scale(RowAppender& a) {
  append_elementwise(a, 17, false, a.op.params.scale.factor);
}

void append_softcap(RowAppender& a) {
  append_elementwise(a, 18, false, a.op.params.softcap.cap);
}

void append_multiply(RowAppender& a) { append_elementwise(a, 19, true); }

void append_clamp(RowAppender& a) {
  append_elementwise(a, 20, false, a.op.params.clamp.limit);
}

void append_route(RowAppender& a) {
  for (const RowSlice& rows :
       a.row_slices(a.in(0), {&a.in(0), &a.out(0), &a.out(1)})) {
    Dispatch& d = a.append(
        Kernel::kRoute, {a.tuning.route}, rows,
        {narrow(a.in(0).value.shape[1]), narrow(a.out(0).value.shape[1]),
         a.op.params.route.normalize != 0});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 8, a.out(0), rows);
    a.bind(d, 9, a.out(1), rows);
    d.work.each = static_cast<double>(width_of(a.in(0).value)) *
                  static_cast<double>(width_of(a.out(0).value));
  }
}

// CHOOSE and CHOOSE_IN_GROUPS.
void append_choose(RowAppender& a) {
  const bool in_groups = a.op.code == RC_OP_CHOOSE_IN_GROUPS;
  const auto& plain = a.op.params.choose;
  const auto& grouped = a.op.params.choose_in_groups;
  const uint32_t groups = in_groups ? narrow(grouped.groups) : 1;
  const uint32_t used = in_groups ? narrow(grouped.groups_used) : 1;
  for (const RowSlice& rows :
       a.row_slices(a.in(0), {&a.in(0), &a.out(0), &a.out(1)})) {
    Dispatch& d = a.append(
        Kernel::kChoose, {a.tuning.route, used < groups ? groups : 1}, rows,
        {narrow(a.in(0).value.shape[1]), narrow(a.out(0).value.shape[1]),
         (in_groups ? grouped.score : plain.score) == RC_SCORE_SIGMOID,
         (in_groups ? grouped.normalize : plain.normalize) != 0, a.has(1), used,
         in_groups ? static_cast<uint32_t>(grouped.best) : 1});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 2, a.has(1) ? a.in(1) : a.in(0), rows);
    a.bind(d, 8, a.out(0), rows);
    a.bind(d, 9, a.out(1), rows);
    d.work.each = static_cast<double>(width_of(a.in(0).value)) *
                  static_cast<double>(width_of(a.out(0).value));
  }
}

void append_sparse_mix(RowAppender& a) {
  for (const RowSlice& rows :
       a.row_slices(a.in(0), {&a.in(0), &a.out(0), &a.out(1)})) {
    Dispatch& d = a.append(
        Kernel::kSparseMix, {a.tuning.route}, rows,
        {narrow(a.in(0).value.shape[1]), narrow(a.out(0).value.shape[1]),
         word(a.op.params.sparse_mix.margin)});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 8, a.out(0), rows);
    a.bind(d, 9, a.out(1), rows);
    d.work.each = static_cast<double>(width_of(a.in(0).value)) *
                  static_cast<double>(width_of(a.out(0).value));
  }
}

void append_affine(RowAppender& a) {
  const uint32_t width = narrow(width_of(a.in(0).value));
  for (const RowSlice& rows : a.row_slices(a.in(0), {&a.in(0), &a.out(0)})) {
    Dispatch& d = a.append(Kernel::kAffine, {a.tuning.plain, a.tuning.each},
                           rows, {width, a.has(1), a.has(2)});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 2, a.in(a.has(1) ? 1 : 0), rows);
    a.bind(d, 3, a.in(a.has(2) ? 2 : 0), rows);
    a.bind(d, 8, a.out(0), rows);
    a.spread(d, divided(width, uint64_t{a.tuning.plain} * a.tuning.each));
    d.work.each = width;
  }
}

void append_xielu(RowAppender& a) {
  const auto& params = a.op.params.xielu;
  const uint32_t width = narrow(width_of(a.in(0).value));
  for (const RowSlice& rows : a.row_slices(a.in(0), {&a.in(0), &a.out(0)})) {
    Dispatch& d =
        a.append(Kernel::kXielu, {a.tuning.plain, a.tuning.each}, rows,
                 {width, word(params.alpha_p), word(params.alpha_n),
                  word(params.beta), word(params.epsilon)});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 8, a.out(0), rows);
    a.spread(d, divided(width, uint64_t{a.tuning.plain} * a.tuning.each));
    d.work.each = width;
  }
}

void append_expert_sum(RowAppender& a) {
  const rc_plugin_value& x = a.in(0).value;
  for (const RowSlice& rows :
       a.row_slices(a.in(0), {&a.in(0), &a.in(1), &a.out(0)})) {
    Dispatch& d = a.append(Kernel::kExpertSum, {a.tuning.plain}, rows,
                           {narrow(x.shape[2]), narrow(x.shape[1])});
    a.bind(d, 1, a.in(0), rows);
    a.bind(d, 2, a.in(1), rows);
    a.bind(d, 8, a.out(0), rows);
    a.spread(d, divided(static_cast<uint64_t>(x.shape[2]),
                        uint64_t{a.tuning.plain} * a.tuning.vector));
    d.work.each = static_cast<double>(width_of(x));
  }
}

}  // namespace

std::span<const RowOp> row_ops() {
  static constexpr RowOp kOps[] = {{RC_OP_GET_ROWS, append_get_rows},
                                   {RC_OP_RMS_NORM, append_norm},
                                   {RC_OP_GROUP_NORM, append_norm},
                                   {RC_OP_LAYER_NORM, append_norm},
                                   {RC_OP_ROPE, append_rope},
                                   {RC_OP_JOIN, append_join},
                                   {RC_OP_GLU, append_glu},
                                   {RC_OP_UNARY, append_unary},
                                   {RC_OP_ADD, append_add},
                                   {RC_OP_SCALE, append_scale},
                                   {RC_OP_SOFTCAP, append_softcap},
                                   {RC_OP_MULTIPLY, append_multiply},
                                   {RC_OP_CLAMP, append_clamp},
                                   {RC_OP_ROUTE, append_route},
                                   {RC_OP_CHOOSE, append_choose},
                                   {RC_OP_CHOOSE_IN_GROUPS, append_choose},
                                   {RC_OP_SPARSE_MIX, append_sparse_mix},
                                   {RC_OP_AFFINE, append_affine},
                                   {RC_OP_XIELU, append_xielu},
                                   {RC_OP_EXPERT_SUM, append_expert_sum}};
  return kOps;
}

}  // namespace rc::gpu
