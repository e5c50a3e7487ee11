// Products of tensors.
//
// Some tiles of 16 columns of the product are made at a time, whose part of b a
// thread packs, as weights are, and then uses for all rows. So types with
// blocks are decoded within the product. A small b, and one for few rows, is
// read as it lies: to pack it would take longer.
#include <algorithm>

#include "cpu/compiler.h"
#include "cpu/copied_view.h"
#include "cpu/direct_matmul.h"
#include "cpu/kernels.h"
#include "cpu/matmul_sizes.h"
#include "cpu/numbers.h"
#include "cpu/tiles.h"

namespace rc::cpu {
namespace {

uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// Tiles that kernels take at once, for many rows.
constexpr int64_t kPair = 2;

struct TiledSizes : MatmulSizes {
  rc_dtype b_type, tile_type;
  uint64_t b_row_bytes;  // of a row of b as it lies
  uint64_t tile_bytes;   // from tile to tile
  int64_t tiles;
  int64_t tiles_per_unit;

  TiledSizes(const Compiler& c, const Op& op) : MatmulSizes(c, op) {
    const rc_plugin_value& b = c.value(op.inputs[1]);
    b_type = b.dtype;
    tile_type = tile_dtype(b.dtype);
    b_row_bytes = *row_bytes(b_type, b.shape[2]);
    // Tiles of a power of two would fall on the same places of a cache.
    tile_bytes = product(
        cpu::tile_bytes(tile_type, k).value_or(UINT64_MAX - 64) + 64, 1);
    tiles = (n + kTileRows - 1) / kTileRows;
    tiles_per_unit = std::min(tiles, kPair);
    while (tiles_per_unit < kMostTiles &&
           tile_bytes <= kTilesBytes / (tiles_per_unit + kPair) &&
           batch * tiles / (tiles_per_unit + kPair) >=
               c.threads() * kUnitsPerThread) {
      tiles_per_unit += kPair;
    }
  }

  uint64_t tiles_bytes() const {
    return aligned(product(tile_bytes, static_cast<uint64_t>(tiles_per_unit)));
  }

  // Rows first to first + lanes of b^T as tiles. `row` is room for k floats.
  void pack(const Kernels& kernels, const uint8_t* b, int64_t first, int lanes,
            uint8_t* tile, float* row) const {
    if (transposed) {
      for (; lanes > 0; lanes -= kTileRows, first += kTileRows) {
        pack_tile(kernels, b_type, tile_type,
                  b + static_cast<uint64_t>(first) * b_row_bytes, b_row_bytes,
                  std::min(lanes, kTileRows), k, tile, row);
        tile += tile_bytes;
      }
      return;
    }
    kernels.tile_columns(reinterpret_cast<const float*>(b) + first, n, k, lanes,
                         reinterpret_cast<float*>(tile),
                         static_cast<int64_t>(tile_bytes / sizeof(float)));
  }

 private:
  // More tiles, where there is enough work to share out, read a from memory
  // less often.
  static constexpr int64_t kMostTiles = 8;
  static constexpr int64_t kUnitsPerThread = 4;
  static constexpr uint64_t kTilesBytes = 640 * 1024;  // stay in a cache
};

// A transposed view of F32 that is read as it lies: rows side by side.
struct Across {
  int32_t value;
  Strided<1> shape;  // [..., m, k]

  int64_t rows() const { return shape.sizes[shape.rank - 2]; }
  int64_t matrices() const { return shape.lines() / rows(); }
};

// Elements up to which a matrix is read across: it stays in the second-level
// cache, whose lines hold numbers of many rows. Larger ones are copied first.
constexpr int64_t kMostAcross = int64_t{1} << 18;

// function(y + bias) in place.
void add_end(Compiler& c, const Op& op, const MatmulSizes& sizes) {
  const int32_t function = op.params.matmul.function;
  const bool has_bias = op.inputs[2] >= 0;
  if (function == RC_FUNCTION_NONE && !has_bias) return;
  const int64_t rows = sizes.batch * sizes.m;
  const int64_t n = sizes.n;
  const Place bias = has_bias ? c.place(op.inputs[2]) : Place{};
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.outputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return rows * n * 2; },
      [=](const Run&) { return rows; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t r) {
          float* row = run.at<float>(y) + r * n;
          if (has_bias) {
            run.kernels.add(row, run.at<const float>(bias), n, row);
          }
          if (function != RC_FUNCTION_NONE) {
            run.kernels.unary(row, n, function, row);
          }
        });
      });
}

// `across`: a, instead of the op's; NULL: none.
void add_matmul_tiles(Compiler& c, const Op& op, const TiledSizes& sizes,
                      const Across* across) {
  const LinearFunction function = sizes.tile_type == RC_DTYPE_F32
                                      ? c.kernels().product_of_tiles
                                      : c.kernels().linear(sizes.tile_type);
  const int32_t a_value = across != nullptr ? across->value : op.inputs[0];
  const Strided<1> view = across != nullptr ? across->shape : Strided<1>(1);
  const ActivationForm form = activation_form(sizes.tile_type);
  const bool quantized = form != ActivationForm::kFloats;
  const uint8_t* blocks =
      quantized ? c.quantized(op.inputs[0], sizes.k, form) : nullptr;
  const Place a = c.place(a_value);
  const Place b = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  const ThreadScratch scratch = c.thread_scratch();
  const int64_t groups =
      (sizes.tiles + sizes.tiles_per_unit - 1) / sizes.tiles_per_unit;
  const int threads = c.threads();
  const int64_t units = sizes.batch * groups;
  // Where columns are few, rows are shared out, too.
  const int64_t chunks = (sizes.m + kMaxChunk - 1) / kMaxChunk;
  const int64_t shares =
      std::clamp<int64_t>((threads + units - 1) / units, 1, chunks);
  c.add(
      {quantized ? c.activations_area() : c.area(a_value),
       c.area(op.inputs[1])},
      {c.area(op.outputs[0])}, [=](const Run&) { return sizes.cost(); },
      [=](const Run&) { return units * shares; },
      [=](Run& run, const Share& share) {
        auto* tiles = scratch.of<uint8_t>(share.thread);
        auto* row = reinterpret_cast<float*>(tiles + sizes.tiles_bytes());
        const float* floats = run.at<const float>(a);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
          const int64_t batch = unit / shares / groups;
          const int64_t first_tile =
              unit / shares % groups * sizes.tiles_per_unit;
          const int64_t column = first_tile * kTileRows;
          const int64_t count =
              std::min(sizes.tiles_per_unit, sizes.tiles - first_tile);
          const auto lanes = [&](int64_t from, int64_t some) {
            return static_cast<int>(std::min(
                some * kTileRows, sizes.n - column - from * kTileRows));
          };
          const uint64_t from =
              sizes.b_batch == 1 ? 0 : static_cast<uint64_t>(batch);
          const uint64_t rows_of_b =
              static_cast<uint64_t>(sizes.transposed ? sizes.n : sizes.k);
          sizes.pack(
              run.kernels,
              run.at<const uint8_t>(b) + from * rows_of_b * sizes.b_row_bytes,
              column, lanes(0, count), tiles, row);
          const void* xs[kMaxChunk];
          float* ys[kMaxChunk];
          LinearTask task;
          task.tile_bytes = static_cast<int64_t>(sizes.tile_bytes);
          task.columns = sizes.k;
          task.x = xs;
          task.y = ys;
          task.residual = nullptr;
          task.bias = nullptr;
          const Part rows(chunks, static_cast<int>(unit % shares),
                          static_cast<int>(shares));
          for (int64_t chunk = rows.begin; chunk < rows.end; ++chunk) {
            if (run.stopped(share.thread)) return;
            const int64_t first = chunk * kMaxChunk;
            task.rows =
                static_cast<int>(std::min<int64_t>(kMaxChunk, sizes.m - first));
            const bool lies_across = view.rank > 1;
            if (lies_across) {
              task.across = floats + view.offset(0, batch * sizes.m + first);
              task.across_step = view.step(0);
            }
            for (int i = 0; i < task.rows; ++i) {
              const int64_t r = batch * sizes.m + first + i;
              xs[i] = lies_across ? nullptr
                      : quantized
                          ? static_cast<const void*>(
                                blocks + activation_bytes(form, r * sizes.k))
                          : floats + r * sizes.k;
            }
            for (int64_t tile = 0; tile < count; tile += kPair) {
              task.tile = tiles + tile * sizes.tile_bytes;
              task.tiles = static_cast<int>(std::min(kPair, count - tile));
              task.lanes = lanes(tile, task.tiles);
              // After the last tiles come the first ones again, not the memory
              // of another thread.
              if (task.tiles == kPair) {
                const int64_t next = tile + kPair < count ? tile + kPair : 0;
                task.prefetch_offset = (next - tile - kPair) * task.tile_bytes;
              } else {
                task.prefetch_offset = 0;
              }
              float* to = run.at<float>(y) +
                          (batch * sizes.m + first) * sizes.n + column +
                          tile * kTileRows;
              for (int i = 0; i < task.rows; ++i) ys[i] = to + i * sizes.n;
              function(task);
            }
          }
        }
      });
  add_end(c, op, sizes);
}

bool is_direct(const Kernels& kernels, const TiledSizes& sizes) {
  return sizes.b_type == RC_DTYPE_F32 && DirectMatmul(sizes).pays(kernels);
}

void add_direct_matmul(Compiler& c, const Op& op, const DirectMatmul& product) {
  const Place a = c.place(op.inputs[0]);
  const Place b = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  const ThreadScratch scratch = c.thread_scratch();
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run&) { return product.cost(); },
      [=](const Run&) { return product.pieces(); },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t piece) {
          product.compute(run.kernels, run.at<const float>(a),
                          run.at<const float>(b), piece, run.at<float>(y),
                          scratch.of<float>(share.thread));
        });
      });
  add_end(c, op, product);
}

void compile_matmul(Compiler& c, const Op& op) {
  if (c.value(op.inputs[0]).dtype != RC_DTYPE_F32) {
    return numbers::compile_matmul(c, op);
  }
  const TiledSizes sizes(c, op);
  if (is_direct(c.kernels(), sizes))
    return add_direct_matmul(c, op, DirectMatmul(sizes));
  add_matmul_tiles(c, op, sizes, nullptr);
}

uint64_t matmul_scratch(const Compiler& c, const Op& op) {
  if (c.value(op.inputs[0]).dtype != RC_DTYPE_F32) {
    return numbers::matmul_scratch(c, op);
  }
  const TiledSizes sizes(c, op);
  // That of tiles, too, since a view of a may be taken so: it is never less.
  return product(sizes.tiles_bytes(), 1) +
         product(static_cast<uint64_t>(sizes.k), sizeof(float));
}

}  // namespace

bool compile_across(Compiler& c, size_t first) {
  if (first + 1 >= c.ops().size()) return false;
  const Op& copy = c.ops()[first];
  const Op& op = c.ops()[first + 1];
  const rc_plugin_value& copied = c.value(copy.outputs[0]);
  if (op.code != RC_OP_MATMUL || copied.dtype != RC_DTYPE_F32 ||
      copied.storage != RC_STORAGE_SCRATCH || op.inputs[0] < 0) {
    return false;
  }
  Across across = {copy.inputs[0], copied_view(copied, copy)};
  TiledSizes sizes(c, op);
  if (!is_transposed(across.shape) || sizes.tile_type != RC_DTYPE_F32 ||
      c.value(op.inputs[0]).dtype != RC_DTYPE_F32 ||
      across.shape.columns() != sizes.k ||
      sizes.k > kMostAcross / across.rows()) {
    return false;
  }
  if (sizes.b_batch == 1 &&
      across.rows() * across.matrices() == sizes.batch * sizes.m) {
    sizes.batch = across.matrices();
    sizes.m = across.rows();
  } else if (sizes.m != across.rows() || sizes.batch != across.matrices()) {
    return false;
  }
  const Flow::Source& source = c.flow().source(first + 1, 0);
  if (source.op != first || !source.whole ||
      c.flow().last_reader(first) != first + 1 ||
      c.area(op.outputs[0]).overlaps(c.area(copy.inputs[0]))) {
    return false;
  }
  add_matmul_tiles(c, op, sizes, &across);
  return true;
}

std::span<const OpRow> matmul_ops() {
  static constexpr OpRow kOps[] = {{.code = RC_OP_MATMUL,
                                    .form = OpRow::kOnTensors,
                                    .compile = compile_matmul,
                                    .scratch = matmul_scratch}};
  return kOps;
}

}  // namespace rc::cpu
