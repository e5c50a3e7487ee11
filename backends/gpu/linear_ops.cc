// The dispatches of LINEAR and EXPERT_LINEAR.
#include <algorithm>

#include "gpu/row_appender.h"
#include "gpu/words.h"

namespace rc::gpu {
namespace {

// The division of a product of so many rows or more among work-groups.
struct Division {
  uint32_t least;
  LinearWay way;
  uint32_t lanes;        // of a work-group, which has ...
  uint32_t rows, tiles;  // ... so many rows of x and tiles of the weight
  uint32_t parts;
};

std::vector<Division> divisions_of(const Tuning& tuning, uint32_t outputs,
                                   uint64_t bits, uint32_t parts) {
  const uint32_t more = tuning.batch_parts != 0 ? tuning.batch_parts : parts;
  const uint32_t lanes = tuning.tile / tuning.vector;
  std::vector<Division> all;
  // Takes the place of those that begin no earlier.
  const auto add = [&all](const Division& division) {
    while (!all.empty() && all.back().least >= division.least) all.pop_back();
    all.push_back(division);
  };
  if (tuning.few > 0) add({1, kByLanes, lanes * parts, 1, tuning.tiles, parts});
  add({tuning.few + 1, kByLanes, lanes * more, tuning.batch, tuning.batch_tiles,
       more});
  const uint32_t square = kSquareSide / tuning.tile;
  const uint32_t many = std::max(tuning.many, tuning.few + 1);
  if (tuning.many != 0) {
    add({many, kBySquares, kSquareLanes, kSquareSide, square, parts});
  }
  // Of weights that give all cores something to do.
  if (tuning.many != 0 && tuning.most != 0 && outputs >= tuning.wide) {
    add({std::max(many, tuning.most), kBySquares, kSquareLanes, 2 * kSquareSide,
         square, parts});
  }
  if (tuning.matrices != 0 && bits < 32) {
    add({tuning.matrices, kByMatrices, kMatrixLanes, kMatrixRows,
         kMatrixOutputs / tuning.tile, parts});
  }
  return all;
}

void append_linear(RowAppender& a) {
  const bool experts = a.op.code == RC_OP_EXPERT_LINEAR;
  const Placed& x = a.in(0);
  const Weight& weight = *a.in(1).weight;
  const WeightLayout& layout = weight.layout;
  const uint32_t n = narrow(layout.rows);
  const uint32_t k = narrow(layout.columns);
  const auto tiles = static_cast<uint32_t>(layout.tiles);
  const uint32_t chosen = experts ? narrow(a.in(2).value.shape[1]) : 1;
  const int bias_slot = experts ? 3 : 2;
  const bool bias = a.has(bias_slot);
  const bool residual = !experts && a.has(3);

  std::vector<RowSlice> slices;
  if (experts) {
    slices = a.row_slices(x, {&x, &a.in(2), &a.out(0)});
  } else if (residual) {
    slices = a.row_slices(x, {&x, &a.in(3), &a.out(0)});
  } else {
    slices = a.row_slices(x, {&x, &a.out(0)});
  }
  const uint32_t groups = divided(k, kGroup);
  const uint32_t parts = a.tuning.parts_for(groups);
  const uint32_t section = divided(groups, parts);
  const uint64_t bits =
      8 * layout.tile_bytes / (layout.tile_rows * uint64_t{k});
  std::vector<Division> divisions;
  if (experts) {
    divisions = {
        {1, kByLanes, a.tuning.tile / a.tuning.vector * parts, 1, 1, parts}};
  } else {
    divisions = divisions_of(a.tuning, n, bits, parts);
  }
  const auto one = [&](const RowSlice& rows, const Weight::Slice& slice,
                       const Division& division, uint32_t next) {
    const bool by_lanes = division.way == kByLanes;
    std::vector<uint32_t> constants =
        a.weight_constants(weight, division.lanes);
    constants.insert(
        constants.end(),
        {by_lanes ? division.rows : 1, by_lanes ? division.tiles : 1, experts,
         k % 4 == 0, k % kGroup != 0, division.parts, division.way, section,
         section * parts == groups,
         by_lanes ? 1 : division.rows / kSquareSide});
    Dispatch& d =
        a.append(Kernel::kLinear, std::move(constants), rows,
                 {n, k, groups, static_cast<uint32_t>(slice.first_tile),
                  static_cast<uint32_t>(slice.tiles), tiles,
                  static_cast<uint32_t>(layout.matrices), chosen,
                  x.value.rank == 3, bias, residual});
    a.bind(d, 1, x, rows);
    // An absent input is bound to another, as the kernel names it.
    a.bind(d, 2, x, rows, true);
    a.bind_weight(d, slice);
    a.bind(d, 5, bias ? a.in(bias_slot) : x, rows);
    a.bind(d, 6, residual ? a.in(3) : x, rows);
    a.bind(d, 7, experts ? a.in(2) : x, rows);
    a.bind(d, 8, a.out(0), rows);
    d.x = divided(experts ? tiles : slice.tiles, division.tiles);
    d.z = chosen;
    d.batch = division.rows;
    d.rows.at_least = division.least;
    // Of the last the work is counted: one of them is done.
    if (next <= rows.limit) d.rows.at_most = next - 1;
    d.work.each = static_cast<double>(slice.tiles) /
                  static_cast<double>(layout.matrices) * chosen *
                  static_cast<double>(a.tuning.tile) * k;
  };
  for (const RowSlice& rows : slices) {
    for (const Weight::Slice& slice : weight.slices) {
      for (size_t i = 0; i < divisions.size(); ++i) {
        if (divisions[i].least > rows.limit) break;
        one(rows, slice, divisions[i],
            i + 1 < divisions.size() ? divisions[i + 1].least : UINT32_MAX);
      }
    }
  }
}

}  // namespace

std::span<const RowOp> linear_ops() {
  static constexpr RowOp kOps[] = {{RC_OP_LINEAR, append_linear},
                                   {RC_OP_EXPERT_LINEAR, append_linear}};
  return kOps;
}

}  // namespace rc::gpu
