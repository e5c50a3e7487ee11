// Products of tensors.
#include <algorithm>

#include "gpu/loops.h"
#include "gpu/tensor_appender.h"
#include "gpu/words.h"
#include "tensor/dtype.h"

namespace rc::gpu {
namespace {

// The part of the output for a work-group of MATMUL.
struct MatmulTile {
  uint32_t lanes;
  // Of them one above the other; 1 with texels. In C 0 if nothing is brought to
  // memory that they share.
  uint32_t row_lanes;
  uint32_t rows;     // of a lane
  uint32_t columns;  // of a lane, vectors of them in C
  uint32_t vector;
  bool sum_is_shared = false;  // all lanes sum one column

  uint32_t tile_rows() const { return std::max(row_lanes, 1u) * rows; }
  uint32_t tile_columns() const {
    return sum_is_shared ? 1
                         : lanes / std::max(row_lanes, 1u) * columns * vector;
  }
};

// From so many rows and columns on tiles in shared memory are worth their
// while.
constexpr uint64_t kTiledFrom = 16;

bool is_in_c(const Tuning& tuning) { return tuning.product_rows != 0; }

MatmulTile large_c_tile(const Tuning& tuning) {
  // As many sums as there are registers for.
  const uint32_t columns = tuning.vector == 1 || tuning.vector == 16 ? 4 : 2;
  const uint32_t across = tuning.product_columns / (columns * tuning.vector);
  const uint32_t down = tuning.product_rows / 4;
  return {across * down, down, 4, columns, tuning.vector};
}

MatmulTile tile_of(const Tuning& tuning, uint64_t m, uint64_t n,
                   bool transposed) {
  if (is_in_c(tuning)) {
    if (m >= kTiledFrom && n >= kTiledFrom) return large_c_tile(tuning);
    const uint32_t rows = m > 1 ? 4 : 1;
    if (transposed) {
      return {tuning.product_lanes, 0, rows, 1, tuning.vector, true};
    }
    // Neighbouring vectors, so that less rows of the matrix are begun.
    const uint32_t vector = tuning.vector_for(n);
    return {tuning.product_lanes, 0, rows,
            vector == 16 ? 4u
            : vector > 1 ? 2u
                         : 1u,
            vector};
  }
  if (tuning.texels != 0) return {8, 1, m == 1 ? 1u : 8u, 4, 1};
  // No more lanes than every device allows.
  return {128, 8, m <= 8 ? 1u : 8u, 4, 1};
}

// Rows of it are planes of the output, columns their places.
MatmulTile conv2d_tile_of(const Tuning& tuning) {
  if (is_in_c(tuning)) return large_c_tile(tuning);
  // A lane has as many outputs as kOutputs in conv2d.comp.
  return {tuning.texels != 0 ? 8 : tuning.plain, 1, 8, 1, 1};
}

void append_matmul(TensorAppender& a) {
  const rc_plugin_value& left = a.in(0);
  const rc_plugin_value& right = a.in(1);
  const rc_plugin_value& y = a.out();
  const auto& params = a.op.params.matmul;
  const auto m = static_cast<uint64_t>(left.shape[1]);
  const auto k = static_cast<uint64_t>(left.shape[2]);
  const auto n = static_cast<uint64_t>(y.shape[2]);
  // One column lies in memory as one row does.
  const bool transposed = params.transposed != 0 || n == 1;
  const MatmulTile tile = tile_of(a.tuning, m, n, transposed);
  const uint32_t tile_rows = tile.tile_rows();
  const uint32_t tile_columns = tile.tile_columns();
  const uint32_t row_tiles = divided(m, tile_rows);
  const uint32_t column_tiles = divided(n, tile_columns);
  const uint64_t row_size = *row_bytes(right.dtype, right.shape[2]);
  const uint64_t matrix_size =
      right.shape[0] == 1 ? 0
                          : row_size * static_cast<uint64_t>(right.shape[1]);
  const bool quads = a.tuning.texels != 0 && right.dtype == RC_DTYPE_F32 &&
                     row_size % 16 == 0 && a.base(a.placed(1), 1) % 16 == 0;
  const DTypeInfo& type = *dtype_info(right.dtype);
  std::vector<uint32_t> constants = {tile.lanes,
                                     static_cast<uint32_t>(right.dtype),
                                     static_cast<uint32_t>(type.block_size),
                                     static_cast<uint32_t>(type.block_bytes),
                                     transposed,
                                     static_cast<uint32_t>(params.function),
                                     tile.rows,
                                     tile.columns,
                                     tile.row_lanes,
                                     quads,
                                     tile.vector,
                                     a.tuning.product_depth};
  // As many columns of a at a time as the loops of a device can do.
  const uint64_t at_once =
      is_in_c(a.tuning)
          ? k
          : loop_budget(a.tuning) /
                strip_loops(a.tuning, tile.lanes, tile_rows, tile_columns) *
                kStrip;
  for (uint64_t begin = 0; begin < k; begin += at_once) {
    const uint64_t end = std::min(begin + at_once, k);
    a.append(
        Kernel::kMatmul, constants,
        {{1, &a.placed(0)},
         {2, &a.placed(1)},
         {3, &a.placed(2)},
         {4, &a.placed(1), true},
         {8, &a.placed_out()}},
        {a.base(a.placed(0), 4), a.base(a.placed(1), 1), a.base(a.placed(2), 4),
         a.base(a.placed_out(), 4), static_cast<uint32_t>(m),
         static_cast<uint32_t>(n), static_cast<uint32_t>(k),
         static_cast<uint32_t>(matrix_size), static_cast<uint32_t>(row_size),
         row_tiles, column_tiles, a.has(2), static_cast<uint32_t>(begin),
         static_cast<uint32_t>(end)},
        static_cast<uint64_t>(y.shape[0]) * row_tiles * column_tiles,
        static_cast<double>(tile_rows) * tile_columns *
            static_cast<double>(end - begin));
  }
}

void append_conv2d(TensorAppender& a) {
  const rc_plugin_value& x = a.in(0);
  const rc_plugin_value& weight = a.in(1);
  const rc_plugin_value& y = a.out();
  const auto& params = a.op.params.conv2d;
  const MatmulTile tile = conv2d_tile_of(a.tuning);
  const auto places = static_cast<uint64_t>(y.shape[2] * y.shape[3]);
  const uint32_t place_blocks = divided(places, tile.tile_columns());
  const int64_t group_outputs = y.shape[1] / params.groups;
  const uint32_t output_blocks =
      divided(static_cast<uint64_t>(group_outputs), tile.tile_rows());
  const auto number = [](int32_t value) {
    return static_cast<uint32_t>(value);
  };
  // As many channels at a time as the loops of a device can do.
  const auto channels = static_cast<uint64_t>(weight.shape[1]);
  const uint64_t at_once =
      is_in_c(a.tuning)
          ? channels
          : std::min(loop_budget(a.tuning) / channel_loops(weight), channels);
  for (uint64_t begin = 0; begin < channels; begin += at_once) {
    const uint64_t end = std::min(begin + at_once, channels);
    a.append(
        Kernel::kConv2d,
        {tile.lanes, tile.columns, tile.row_lanes, a.tuning.product_depth},
        {{1, &a.placed(0)},
         {2, &a.placed(1)},
         {3, &a.placed(2)},
         {8, &a.placed_out()}},
        {a.base(a.placed(0), 4),
         a.base(a.placed(1), 4),
         a.base(a.placed(2), 4),
         a.base(a.placed_out(), 4),
         narrow(x.shape[1]),
         narrow(weight.shape[1]),
         narrow(x.shape[2]),
         narrow(x.shape[3]),
         narrow(y.shape[1]),
         narrow(group_outputs),
         narrow(weight.shape[2]),
         narrow(weight.shape[3]),
         static_cast<uint32_t>(places),
         narrow(y.shape[3]),
         place_blocks,
         output_blocks,
         number(params.stride[0]),
         number(params.stride[1]),
         number(params.padding[0]),
         number(params.padding[1]),
         number(params.dilation[0]),
         number(params.dilation[1]),
         a.has(2),
         static_cast<uint32_t>(begin),
         static_cast<uint32_t>(end)},
        static_cast<uint64_t>(y.shape[0]) * params.groups * output_blocks *
            place_blocks,
        static_cast<double>((end - begin) * weight.shape[2] * weight.shape[3]) *
            tile.tile_rows() * tile.tile_columns());
  }
}

void append_attend(TensorAppender& a) {
  const rc_plugin_value& q = a.in(0);
  const rc_plugin_value& k = a.in(1);
  const auto& params = a.op.params.attend;
  const auto d = static_cast<uint64_t>(q.shape[3]);
  const uint32_t lanes = a.tuning.attention_lanes(d);
  a.append(
      Kernel::kAttend, {lanes, static_cast<uint32_t>(d)},
      {{1, &a.placed(0)},
       {2, &a.placed(1)},
       {3, &a.placed(2)},
       {8, &a.placed_out()}},
      {a.base(a.placed(0), 4), a.base(a.placed(1), 4), a.base(a.placed(2), 4),
       a.base(a.placed_out(), 4), narrow(q.shape[1]), narrow(k.shape[1]),
       narrow(q.shape[2]), narrow(k.shape[2]), narrow(q.shape[3]),
       params.causal != 0, word(params.scale), word(params.softcap)},
      element_count(q) / d,
      2 * static_cast<double>(k.shape[1]) * static_cast<double>(d));
}

}  // namespace

std::span<const TensorOp> tensor_product_ops() {
  static constexpr TensorOp kOps[] = {{RC_OP_MATMUL, append_matmul},
                                      {RC_OP_CONV2D, append_conv2d},
                                      {RC_OP_ATTEND, append_attend}};
  return kOps;
}

}  // namespace rc::gpu
