// Steps for products with weights.
//
// The unit of work is some tiles of 16 rows of the weight with a chunk of rows
// of activations that stays in the caches. Each thread begins with a contiguous
// range of tiles, so that it streams through memory, and no cache line of the
// output belongs to two units.
#include <algorithm>

#include "cpu/compiler.h"
#include "cpu/kernels.h"
#include "cpu/tiles.h"

namespace rc::cpu {
namespace {

// Tiles that are done together: they share the reading of the activations.
constexpr int64_t kTilesPerUnit = 2;

// Rows of activations per chunk.
int64_t chunk_rows(int64_t row_bytes) {
  constexpr int64_t kCache = 2048 * 1024;
  return std::clamp<int64_t>(kCache / row_bytes / 8 * 8, 8, kMaxChunk);
}

// Rows of x as the kernels take them.
struct Activations {
  const ActivationBlock* blocks;  // NULL: floats
  Place floats;
  int64_t columns;

  int64_t row_bytes() const { return blocks ? columns * 2 : columns * 4; }
  const void* row(const Run& run, int64_t r) const {
    if (blocks) return blocks + r * (columns / 32);
    return run.at<const float>(floats) + r * columns;
  }
};

Activations activations_for(Compiler& c, const rc_plugin_weight& weight,
                            int32_t x) {
  const int64_t columns = weight.layout.columns;
  if (takes_quantized(weight.layout.dtype)) {
    return {c.quantized(x, columns), {}, columns};
  }
  return {nullptr, c.place(x), columns};
}

Area activations_area(const Compiler& c, const Activations& x, int32_t i) {
  return x.blocks ? c.activations_area() : c.area(i);
}

}  // namespace

uint64_t linear_scratch(const Compiler& c, const rc_plugin_op& op) {
  return c.matrix(op.inputs[1]).scratch_bytes(kTilesPerUnit);
}

void compile_linear(Compiler& c, const rc_plugin_op& op) {
  const rc_plugin_weight* weight = &c.matrix(op.inputs[1]);
  const WeightLayout layout = weight->layout;
  const LinearFunction function = c.kernels().linear(layout.dtype);
  const Activations x = activations_for(c, *weight, op.inputs[0]);
  const float* bias = op.inputs[2] < 0 ? nullptr : c.elements(op.inputs[2]);
  const bool has_residual = op.inputs[3] >= 0;
  const Place residual = has_residual ? c.place(op.inputs[3]) : Place{};
  const Place y = c.place(op.outputs[0]);
  const int64_t dimension = c.value(op.inputs[0]).shape[0];
  const int64_t n = layout.rows;
  const Compiler::ThreadScratch scratch = c.thread_scratch();
  const int64_t chunk = chunk_rows(x.row_bytes());

  Shares* shares = c.shares();
  std::vector<Area> reads = {activations_area(c, x, op.inputs[0])};
  if (has_residual) reads.push_back(c.area(op.inputs[3]));
  c.add(
      std::move(reads), {c.area(op.outputs[0])},
      [=](const Run& run) {
        return run.rows(dimension) * n * (x.columns / 16 + 1);
      },
      [=](Run& run, int thread, int threads) {
        const int64_t rows = run.rows(dimension);
        const int64_t tiles = layout.tiles_per_matrix;
        // Few tiles are shared out one by one; and one that is made for few
        // rows should still be in the first-level cache when it is used.
        const bool one =
            tiles < kTilesPerUnit * threads || (weight->mapped && rows < 8);
        const int64_t per_unit = one ? 1 : kTilesPerUnit;
        const int64_t groups = (tiles + per_unit - 1) / per_unit;
        const int64_t chunks = (rows + chunk - 1) / chunk;
        float* to = run.at<float>(y);
        const float* added =
            has_residual ? run.at<const float>(residual) : nullptr;
        const Part own(groups, thread, threads);
        const auto part_of = [&](int i) {
          return i == thread ? own : Part(groups, i, threads);
        };
        const void* xs[kMaxChunk];
        float* ys[kMaxChunk];
        const float* residuals[kMaxChunk];
        LinearTask task;
        task.tile_bytes = static_cast<int64_t>(layout.tile_bytes);
        task.columns = x.columns;
        task.x = xs;
        task.y = ys;
        task.residual = added ? residuals : nullptr;
        task.bias = bias;
        int64_t rows_of = -1;  // the chunk that the rows are of
        for (;;) {
          const Shares::Unit unit = shares->take(thread, threads, [&](int i) {
            const Part part = part_of(i);
            return (part.end - part.begin) * chunks;
          });
          if (unit.part < 0) return;
          // A look at the clock for every unit would be felt.
          if (unit.index % 8 == 0 && run.stopped(thread)) return;
          const Part part = part_of(unit.part);
          const int64_t part_groups = part.end - part.begin;
          const int64_t tile =
              (part.begin + unit.index % part_groups) * per_unit;
          if (rows_of != unit.index / part_groups) {
            rows_of = unit.index / part_groups;
            const int64_t first = rows_of * chunk;
            task.rows = static_cast<int>(std::min(chunk, rows - first));
            for (int i = 0; i < task.rows; ++i) {
              xs[i] = x.row(run, first + i);
              ys[i] = to + (first + i) * n;
              residuals[i] = added + (added ? (first + i) * n : 0);
            }
          }
          task.tiles = static_cast<int>(std::min(per_unit, tiles - tile));
          task.tile = weight->tiles(run.kernels, 0, tile, task.tiles,
                                    scratch.of<uint8_t>(thread));
          task.elsewhere = weight->elsewhere(task.tile, 0, tile, task.tiles);
          task.at = tile * kTileRows;
          task.lanes = static_cast<int>(
              std::min<int64_t>(task.tiles * kTileRows, n - task.at));
          function(task);
        }
      });
}

namespace {

// Bytes for each choice's place, sorted by expert, and where experts begin; a
// tile comes behind them.
uint64_t sorting_bytes(const Compiler& c, const rc_plugin_op& op) {
  const auto& ids = c.value(op.inputs[2]);
  const uint64_t numbers =
      product(static_cast<uint64_t>(c.max_rows(ids.shape[0])), ids.shape[1]) +
      c.value(op.inputs[1]).shape[0] + 1;
  return product(numbers / 16 + 1, 64);
}

}  // namespace

uint64_t expert_scratch(const Compiler& c, const rc_plugin_op& op) {
  return sorting_bytes(c, op) + c.matrix(op.inputs[1]).scratch_bytes(1);
}

void compile_expert_linear(Compiler& c, const rc_plugin_op& op) {
  const rc_plugin_weight* weight = &c.matrix(op.inputs[1]);
  const WeightLayout& layout = weight->layout;
  const LinearFunction function = c.kernels().linear(layout.dtype);
  const Activations x = activations_for(c, *weight, op.inputs[0]);
  const bool shared = c.value(op.inputs[0]).rank == 2;  // x by all choices
  const Place ids = c.place(op.inputs[2]);
  const Place y = c.place(op.outputs[0]);
  const int64_t dimension = c.value(op.inputs[2]).shape[0];
  const int64_t k = c.columns(op.inputs[2]);
  const int64_t n = layout.rows;
  const int64_t experts = layout.matrices;
  const Compiler::ThreadScratch scratch = c.thread_scratch();
  const uint64_t tile_at = sorting_bytes(c, op);
  const int64_t chunk = chunk_rows(x.row_bytes());

  c.add(
      {activations_area(c, x, op.inputs[0]), c.area(op.inputs[2])},
      {c.area(op.outputs[0])},
      [=](const Run& run) {
        return run.rows(dimension) * k * n * (x.columns / 16 + 1);
      },
      [=](Run& run, int thread, int threads) {
        const int64_t choices = run.rows(dimension) * k;
        const int32_t* id = run.at<const int32_t>(ids);
        float* to = run.at<float>(y);
        // Counting sort of the choices by expert; each thread for itself.
        int32_t* begins = scratch.of<int32_t>(thread);  // [experts + 1]
        int32_t* sorted = begins + experts + 1;
        std::fill_n(begins, experts + 1, 0);
        for (int64_t i = 0; i < choices; ++i) {
          if (id[i] < 0 || id[i] >= experts) {
            run.fail(RC_E_INVALID_ARGUMENT,
                     "EXPERT_LINEAR: expert %d of %lld is asked for", id[i],
                     static_cast<long long>(experts));
            return;
          }
          ++begins[id[i]];
        }
        int64_t active = 0;
        int32_t end = 0;
        for (int64_t e = 0; e < experts; ++e) {
          active += begins[e] > 0;
          end += begins[e];
          begins[e] = end;
        }
        begins[experts] = end;
        for (int64_t i = choices; i-- > 0;) {
          sorted[--begins[id[i]]] = static_cast<int32_t>(i);
        }

        // Units are the tiles of the experts that have work.
        const int64_t tiles = weight->layout.tiles_per_matrix;
        const Part part(active * tiles, thread, threads);
        int64_t first_unit = 0;
        for (int64_t e = 0; e < experts; ++e) {
          if (begins[e] == begins[e + 1]) continue;
          const int64_t from = std::max<int64_t>(part.begin - first_unit, 0);
          const int64_t until = std::min(part.end - first_unit, tiles);
          first_unit += tiles;
          for (int64_t first = begins[e]; first < begins[e + 1];
               first += chunk) {
            for (int64_t tile = from; tile < until; ++tile) {
              if (run.stopped(thread)) return;
              const void* xs[kMaxChunk];
              float* ys[kMaxChunk];
              LinearTask task;
              task.rows = static_cast<int>(
                  std::min<int64_t>(chunk, begins[e + 1] - first));
              for (int i = 0; i < task.rows; ++i) {
                const int64_t choice = sorted[first + i];
                xs[i] = x.row(run, shared ? choice / k : choice);
                ys[i] = to + choice * n + tile * kTileRows;
              }
              task.tile = weight->tiles(run.kernels, e, tile, 1,
                                        scratch.of<uint8_t>(thread) + tile_at);
              task.tile_bytes = 0;
              task.elsewhere = weight->elsewhere(task.tile, e, tile, 1);
              task.tiles = 1;
              task.columns = x.columns;
              task.x = xs;
              task.y = ys;
              task.residual = nullptr;
              task.bias = nullptr;
              task.lanes = static_cast<int>(
                  std::min<int64_t>(kTileRows, n - tile * kTileRows));
              function(task);
            }
          }
        }
      });
}

}  // namespace rc::cpu
