// Steps for products with weights.
//
// The unit of work is some tiles of 16 rows of the weight with a chunk of rows
// of activations that stays in the caches. Each thread begins with a contiguous
// range of units: of tiles, so that it streams through memory, or, where there
// are enough chunks, of chunks, so that it has rows to itself as the steps
// before and after have, and no results go from one processor to another.
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
  ActivationForm form;
  const uint8_t* blocks;  // NULL: floats
  Place floats;
  int64_t columns;

  int64_t row_bytes() const { return activation_bytes(form, columns); }
  // Row 0, and the bytes from row to row.
  const uint8_t* rows(const Run& run) const {
    return blocks ? blocks : run.at<const uint8_t>(floats);
  }
};

Activations activations_for(Compiler& c, const rc_plugin_weight& weight,
                            int32_t x) {
  const int64_t columns = weight.layout.columns;
  const ActivationForm form = activation_form(weight.layout.dtype);
  if (form == ActivationForm::kFloats) {
    return {form, nullptr, c.place(x), columns};
  }
  return {form, c.quantized(x, columns, form), {}, columns};
}

Area activations_area(const Compiler& c, const Activations& x, int32_t i) {
  return x.blocks ? c.activations_area() : c.area(i);
}

// Rows of results between one that is stored and one whose lines are asked for.
constexpr int kStoresAhead = 8;

// Results of a unit that others may do as well, until they are committed.
constexpr uint64_t kResultBytes =
    kMaxChunk * kTilesPerUnit * kTileRows * sizeof(float);

// The division of a product: groups of tiles times chunks of rows. The
// groups of a thread's range come one after the other for each chunk in turn.
struct Grid {
  int64_t rows, tiles_per_group, groups, chunks;
  int threads;
  bool by_chunks;  // ranges are of chunks

  struct Cell {
    int64_t group, chunk;
  };
  // Threads begin at multiples of that.
  int64_t multiple() const { return by_chunks ? 1 : chunks; }
  Cell cell(int64_t index) const {
    if (by_chunks) return {index % groups, index / groups};
    for (int i = 0;; ++i) {
      const Part part(groups, i, threads);
      if (index >= part.end * chunks && i + 1 < threads) continue;
      const int64_t count = std::max<int64_t>(part.end - part.begin, 1);
      const int64_t within = index - part.begin * chunks;
      return {part.begin + within % count, within / count};
    }
  }
};

uint64_t linear_scratch(const Compiler& c, const Op& op) {
  return product(c.matrix(op.inputs[1]).scratch_bytes(kTilesPerUnit) / 64 + 1,
                 64) +
         kResultBytes;
}

// The pieces of a LINEAR.
struct LinearPieces {
  const rc_plugin_weight* weight;
  rc_plugin_weight::Products products;
  Activations x;
  const float* bias;  // NULL: none
  bool has_residual;
  Place residual, y;
  int32_t then;  // what is made of each result, as of UNARY, or NONE
  int64_t dimension;
  ThreadScratch scratch;
  int64_t chunk;
  int threads;

  Grid grid(const Run& run) const {
    const int64_t rows = run.rows(dimension);
    const int64_t tiles = weight->layout.tiles_per_matrix;
    const bool mapped = weight->mapped != nullptr;
    // Few tiles are shared out one by one; and one that is made for few rows
    // should still be in the first-level cache when it is used.
    const bool one = tiles < kTilesPerUnit * threads || (mapped && rows < 8);
    const int64_t per_group = one ? 1 : kTilesPerUnit;
    const int64_t chunks = (rows + chunk - 1) / chunk;
    return Grid{
        rows,   per_group, (tiles + per_group - 1) / per_group,
        chunks, threads,   x.blocks == nullptr && chunks >= 2 * threads};
  }
  void work(Run& run, const Share& share) const;
};

void LinearPieces::work(Run& run, const Share& share) const {
  const Grid g = grid(run);
  const int64_t n = weight->layout.rows;
  const int64_t tiles = weight->layout.tiles_per_matrix;
  const void* xs[kMaxChunk];
  float* ys[kMaxChunk];
  const float* residuals[kMaxChunk];
  LinearTask task;
  task.tile_bytes = static_cast<int64_t>(weight->layout.tile_bytes);
  task.columns = x.columns;
  task.x = xs;
  task.y = ys;
  task.residual = has_residual ? residuals : nullptr;
  auto* results = scratch.of<float>(share.thread);
  auto* unpacked = reinterpret_cast<uint8_t*>(results) + kResultBytes;
  for (int64_t i = share.begin; i < share.end; ++i) {
    // A look at the clock for every piece would be felt.
    if (share.units == nullptr && (i - share.begin) % 8 == 0 &&
        run.stopped(share.thread)) {
      return;
    }
    const Grid::Cell cell = g.cell(i);
    const int64_t tile = cell.group * g.tiles_per_group;
    const int64_t first = cell.chunk * chunk;
    // Neither unless the piece is one of a run that is over.
    if (first >= g.rows || tile >= tiles) return;
    task.rows = static_cast<int>(std::min(chunk, g.rows - first));
    task.tiles = static_cast<int>(std::min(g.tiles_per_group, tiles - tile));
    const int64_t at = tile * kTileRows;
    const int64_t width = task.tiles * kTileRows;
    task.lanes = static_cast<int>(std::min(width, n - at));
    task.bias = bias == nullptr ? nullptr : bias + at;
    const uint8_t* from = x.rows(run) + first * x.row_bytes();
    // Where the caller's results are is looked up while the run lasts.
    const auto results_at = [&] { return run.at<float>(y) + first * n + at; };
    float* to = results;
    int64_t step = width;
    task.target = nullptr;
    if (share.units == nullptr) {
      to = results_at();
      step = n;
    } else if (y.storage == RC_STORAGE_SCRATCH) {
      task.target = results_at();
      task.target_step = n;
    }
    for (int k = 0; k < task.rows; ++k) {
      xs[k] = from + k * x.row_bytes();
      ys[k] = to + k * step;
    }
    if (has_residual) {
      const float* more = run.at<const float>(residual) + first * n + at;
      for (int k = 0; k < task.rows; ++k) residuals[k] = more + k * n;
    }
    if (!share.wanted()) return;
    weight->multiply(run.kernels, products, 0, tile, task, unpacked);
    if (then != RC_FUNCTION_NONE) {
      const bool dense = step == task.lanes;
      const int64_t calls = dense ? 1 : task.rows;
      const int64_t count = dense ? task.rows * step : task.lanes;
      for (int64_t k = 0; k < calls; ++k) {
        run.kernels.unary(ys[k], count, then, ys[k]);
      }
    }
    share.commit([&] {
      if (share.units == nullptr) return;
      float* at_last = results_at();
      for (int k = 0; k < task.rows; ++k) {
        // Lines that are asked for one by one, as they are stored to, come one
        // after the other.
        if (k + kStoresAhead < task.rows) {
          const float* later = at_last + (k + kStoresAhead) * n;
          for (int lane = 0; lane < task.lanes; lane += kTileRows) {
            __builtin_prefetch(later + lane, 1);
          }
        }
        copy_lanes(ys[k], task.lanes, at_last + k * n);
      }
    });
  }
}

// The UNARY that is done with LINEAR `first`: the next op, if no other op reads
// its input, and its results do not lie where the product reads. NULL: none.
const Op* function_after(Compiler& c, size_t first) {
  if (first + 1 >= c.ops().size()) return nullptr;
  const Op& op = c.ops()[first];
  const Op& next = c.ops()[first + 1];
  if (next.code != RC_OP_UNARY || c.of_tensors(next) ||
      c.value(op.outputs[0]).storage != RC_STORAGE_SCRATCH) {
    return nullptr;
  }
  const Flow::Source& source = c.flow().source(first + 1, 0);
  if (source.op != first || !source.whole ||
      c.flow().last_reader(first) != first + 1) {
    return nullptr;
  }
  const Area results = c.area(next.outputs[0]);
  const bool in_the_way =
      results.overlaps(c.area(op.inputs[0])) ||
      (op.inputs[3] >= 0 && results.overlaps(c.area(op.inputs[3])));
  return in_the_way ? nullptr : &next;
}

size_t compile_linear(Compiler& c, size_t first) {
  const Op& op = c.ops()[first];
  const Op* function = function_after(c, first);
  const int32_t y = function ? function->outputs[0] : op.outputs[0];
  const rc_plugin_weight* weight = &c.matrix(op.inputs[1]);
  const Activations x = activations_for(c, *weight, op.inputs[0]);
  const bool has_residual = op.inputs[3] >= 0;
  const int64_t dimension = c.value(op.inputs[0]).shape[0];
  const int64_t chunk = chunk_rows(x.row_bytes());
  const LinearPieces pieces = {
      weight,
      weight->products(c.kernels()),
      x,
      op.inputs[2] < 0 ? nullptr : c.elements(op.inputs[2]),
      has_residual,
      has_residual ? c.place(op.inputs[3]) : Place{},
      c.place(y),
      function ? function->params.unary.function : RC_FUNCTION_NONE,
      dimension,
      c.thread_scratch(),
      chunk,
      c.threads()};
  std::vector<Area> reads = {activations_area(c, x, op.inputs[0])};
  if (has_residual) reads.push_back(c.area(op.inputs[3]));
  const int64_t n = weight->layout.rows;
  c.add_repeatable(
      std::move(reads), {c.area(y)},
      [=](const Run& run) {
        return run.rows(dimension) * n * (x.columns / 16 + 1);
      },
      [=](const Run& run) {
        const Grid g = pieces.grid(run);
        return g.groups * g.chunks;
      },
      [=](const Run& run) { return pieces.grid(run).multiple(); },
      weight->layout.tiles_per_matrix *
          ((c.max_rows(dimension) + chunk - 1) / chunk),
      [=](Run& run, const Share& share) { pieces.work(run, share); });
  return function ? 2 : 1;
}

uint64_t expert_scratch(const Compiler& c, const Op& op) {
  return linear_scratch(c, op);
}

// Adds the steps that choose the experts of which there are copies, and make
// those that are missing. `rows` gives how many choices there are at a run.
template <class Rows>
void compile_hot_experts(Compiler& c, const rc_plugin_weight& weight,
                         const Choices& choices, const Area& area, Rows rows) {
  HotExperts* const hot = weight.hot.get();
  const int64_t tiles = weight.layout.tiles_per_matrix;
  const int64_t tile_cost = kTileRows * (weight.layout.columns / 16 + 1);
  const ThreadScratch scratch = c.thread_scratch();
  const auto one = [](const Run&) { return int64_t{1}; };
  c.add({choices.area()}, {area}, rows, one,
        [hot, &choices](Run&, const Share&) { hot->choose(choices); });
  c.add(
      {area}, {area},
      [=](const Run& run) { return rows(run) * tiles * tile_cost; },
      [=](const Run&) { return std::max<int64_t>(hot->missing() * tiles, 1); },
      [=, &weight](Run& run, const Share& share) {
        if (hot->missing() == 0) return;
        auto* row = scratch.of<uint8_t>(share.thread) + kResultBytes;
        for (int64_t i = share.begin; i < share.end; ++i) {
          if (run.stopped(share.thread)) return;
          weight.fill(run.kernels, hot->missing(i / tiles), i % tiles, row);
        }
      });
  // Not after a run that was stopped.
  c.add({area}, {area}, one, one, [hot](Run&, const Share&) { hot->made(); });
}

void compile_expert_linear(Compiler& c, const Op& op) {
  const rc_plugin_weight* weight = &c.matrix(op.inputs[1]);
  const WeightLayout layout = weight->layout;
  const rc_plugin_weight::Products products = weight->products(c.kernels());
  const Activations x = activations_for(c, *weight, op.inputs[0]);
  const bool shared = c.value(op.inputs[0]).rank == 2;  // x by all choices
  const Place y = c.place(op.outputs[0]);
  const int64_t dimension = c.value(op.inputs[2]).shape[0];
  const int64_t k = c.columns(op.inputs[2]);
  const int64_t n = layout.rows;
  const float* bias = op.inputs[3] < 0 ? nullptr : c.elements(op.inputs[3]);
  const ThreadScratch scratch = c.thread_scratch();
  const int64_t tiles = layout.tiles_per_matrix;
  const Choices* choices =
      c.choices(op.inputs[2], layout.matrices, chunk_rows(x.row_bytes()));
  const auto rows = [=](const Run& run) { return run.rows(dimension) * k; };
  std::vector<Area> reads = {activations_area(c, x, op.inputs[0]),
                             choices->area()};
  if (weight->hot) {
    const Area copies = {Area::kHotExperts, op.inputs[1], 0, UINT64_MAX};
    compile_hot_experts(c, *weight, *choices, copies, rows);
    reads.push_back(copies);
  }
  const auto cost = [=](const Run& run) {
    return rows(run) * n * (x.columns / 16 + 1);
  };
  // The tiles of the experts that have work.
  const auto pieces = [=](const Run&) { return choices->groups() * tiles; };
  const auto work = [=](Run& run, const Share& share) {
    const void* xs[kMaxChunk];
    float* ys[kMaxChunk];
    int64_t made[kMaxChunk];  // the numbers of the choices
    LinearTask task;
    task.tile_bytes = 0;
    task.tiles = 1;
    task.columns = x.columns;
    task.x = xs;
    task.y = ys;
    task.residual = nullptr;
    auto* results = scratch.of<float>(share.thread);
    auto* unpacked = reinterpret_cast<uint8_t*>(results) + kResultBytes;
    const uint8_t* first_row = x.rows(run);
    for (int64_t i = share.begin; i < share.end; ++i) {
      if (share.units == nullptr && run.stopped(share.thread)) return;
      const Choices::Group group = choices->group(i / tiles);
      const int64_t tile = i % tiles;
      task.rows = group.count;
      task.lanes =
          static_cast<int>(std::min<int64_t>(kTileRows, n - tile * kTileRows));
      task.bias = bias == nullptr ? nullptr
                                  : bias + group.expert * n + tile * kTileRows;
      const auto result = [&](int64_t choice) {
        return run.at<float>(y) + choice * n + tile * kTileRows;
      };
      for (int r = 0; r < task.rows; ++r) {
        const int64_t choice = made[r] = choices->at(group.first + r);
        xs[r] = first_row + (shared ? choice / k : choice) * x.row_bytes();
        ys[r] =
            share.units != nullptr ? results + r * kTileRows : result(choice);
      }
      if (!share.wanted()) return;
      weight->multiply(run.kernels, products, group.expert, tile, task,
                       unpacked);
      share.commit([&] {
        if (share.units == nullptr) return;
        for (int r = 0; r < task.rows; ++r) {
          copy_lanes(ys[r], task.lanes, result(made[r]));
        }
      });
    }
  };
  if (weight->hot) {
    // Copies are made again: no thread may come late.
    c.add(std::move(reads), {c.area(op.outputs[0])}, cost, pieces, work);
  } else {
    c.add_repeatable(
        std::move(reads), {c.area(op.outputs[0])}, cost, pieces,
        [](const Run&) { return int64_t{1}; }, choices->most_groups() * tiles,
        work);
  }
}

}  // namespace

std::span<const OpRow> linear_ops() {
  static constexpr OpRow kOps[] = {{.code = RC_OP_LINEAR,
                                    .form = OpRow::kOnRows,
                                    .compile_several = compile_linear,
                                    .scratch = linear_scratch},
                                   {.code = RC_OP_EXPERT_LINEAR,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_expert_linear,
                                    .scratch = expert_scratch}};
  return kOps;
}

}  // namespace rc::cpu
