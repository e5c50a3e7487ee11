// Products of F32 tensors that are large enough for packing both sides: some
// rows of a, which all threads read, and of b panels, one for each thread.
#include <algorithm>

#include "cpu/kernels.h"
#include "cpu/matmul_sizes.h"
#include "cpu/packed_rows.h"
#include "cpu/panels.h"

namespace rc::cpu {
namespace {

// Numbers of a that are packed at a time.
constexpr int64_t kPackedNumbers = int64_t{1} << 22;
constexpr int64_t kMostDepth = kPackedNumbers / kProductRows;
constexpr int64_t kLeastRows = 16;
// Smaller ones find what they need in a cache.
constexpr int64_t kLeastProducts = (int64_t{1} << 30) + 1;

// Rows first to first + count of b^T, columns `depth` to depth + k, as a panel.
void pack_panel(const Kernels& kernels, const MatmulSizes& sizes,
                const float* b, int64_t first, int count, int64_t depth,
                int64_t k, float* panel) {
  if (sizes.transposed) {
    if (count % 16 != 0) std::fill_n(panel, k * kProductColumns, 0.0f);
    kernels.transpose(b + first * sizes.k + depth, sizes.k, count, k, panel,
                      kProductColumns);
    return;
  }
  PanelPiece pieces[kProductColumns / 16];
  PanelTask task;
  task.x = b + depth * sizes.n + first;
  task.end = b + sizes.k * sizes.n;
  task.offsets = nullptr;
  task.step = sizes.n;
  task.k = k;
  task.pieces = pieces;
  task.count = 0;
  for (int p = 0; p < count; p += 16) {
    pieces[task.count++] = {p, p, std::min(16, count - p)};
  }
  task.columns = count;
  task.panel = panel;
  kernels.panel(task);
}

// Of rows `row` to row + packed.rows of matrices `matrix` and following ones.
void add_block(Compiler& c, const Op& op, const MatmulSizes& sizes,
               int64_t matrix, int64_t row, const PackedRows& packed,
               float* rows_of_a) {
  add_packed_rows(c, op.inputs[0], (matrix * sizes.m + row) * sizes.k,
                  sizes.m * sizes.k, packed, rows_of_a);
  const int64_t panels = panels_of(sizes.n);
  const int64_t units = packed.matrices * panels;
  const int64_t shares = shares_of(c, units, packed.tiles());
  const ThreadScratch scratch = c.thread_scratch();
  const Place b = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.own_area(op.inputs[0]), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run&) { return units * 3 * (packed.rows + 4) * sizes.k; },
      [=](const Run&) { return units * shares; },
      [=](Run& run, const Share& share) {
        auto* panel = scratch.of<float>(share.thread);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
          const int64_t item = unit / shares / panels;
          const int64_t column = unit / shares % panels * kProductColumns;
          const Part tiles(packed.tiles(), static_cast<int>(unit % shares),
                           static_cast<int>(shares));
          const float* right =
              run.at<const float>(b) +
              (sizes.b_batch == 1 ? 0 : matrix + item) * sizes.k * sizes.n;
          float* to = run.at<float>(y) +
                      ((matrix + item) * sizes.m + row) * sizes.n + column;
          ProductTask task;
          task.b = panel;
          task.y_step = sizes.n;
          task.columns = static_cast<int>(
              std::min<int64_t>(kProductColumns, sizes.n - column));
          task.bias = nullptr;
          for (int64_t depth = 0; depth < sizes.k; depth += kProductDepth) {
            task.k = std::min(kProductDepth, sizes.k - depth);
            task.more = depth > 0;
            pack_panel(run.kernels, sizes, right, column, task.columns, depth,
                       task.k, panel);
            for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
              if (run.stopped(share.thread)) return;
              const int64_t first = tile * kProductRows;
              task.a = rows_of_a +
                       (item * packed.tiles() + tile) * packed.tile_floats() +
                       depth * kProductRows;
              task.rows = static_cast<int>(
                  std::min<int64_t>(kProductRows, packed.rows - first));
              task.y = to + first * sizes.n;
              run.kernels.product(task);
            }
          }
        }
      });
}

}  // namespace

bool suits_packing(const MatmulSizes& sizes) {
  return sizes.m >= kLeastRows && sizes.n >= 16 && sizes.k > 0 &&
         sizes.k <= kMostDepth && sizes.m * sizes.n >= kLeastProducts / sizes.k;
}

void add_matmul_packed(Compiler& c, const Op& op, const MatmulSizes& sizes) {
  const PackedRows whole = {1, sizes.m, sizes.k};
  const int64_t floats = whole.tiles() * whole.tile_floats();
  // Some matrices, or some rows of one.
  const int64_t matrices =
      std::clamp<int64_t>(kPackedNumbers / floats, 1, sizes.batch);
  const int64_t rows =
      std::min(sizes.m, kPackedNumbers / whole.tile_floats() * kProductRows);
  auto* rows_of_a = reinterpret_cast<float*>(
      c.area_of(PackedRows{matrices, rows, sizes.k}.bytes()));
  for (int64_t matrix = 0; matrix < sizes.batch; matrix += matrices) {
    for (int64_t row = 0; row < sizes.m; row += rows) {
      add_block(c, op, sizes, matrix, row,
                {std::min(matrices, sizes.batch - matrix),
                 std::min(rows, sizes.m - row), sizes.k},
                rows_of_a);
    }
  }
}

}  // namespace rc::cpu
