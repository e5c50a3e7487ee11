// Products of tensors of F64, F16 or BF16: a panel of 16 columns of b at a
// time, which is packed for some rows of a, so that everything stays in a
// cache.
//
// F64 has a separate kernel. Halves are decoded into the panel and into rows,
// use the kernel of F32, and are rounded once, after bias and function.
#include <algorithm>
#include <type_traits>

#include "cpu/compiler.h"
#include "cpu/matmul_sizes.h"
#include "cpu/numbers.h"
#include "tensor/dtype.h"

namespace rc::cpu::numbers {
namespace {

constexpr int64_t kColumns = kPanelColumns;
static_assert(kPanelColumns == kTileRows);
// Numbers of rows of a that are decoded at once.
constexpr int64_t kRowNumbers = int64_t{1} << 16;

struct Sizes : MatmulSizes {
  rc_dtype type;
  int64_t panels;
  int64_t rows;  // of a unit
  int64_t chunks;

  Sizes(const Compiler& c, const Op& op) : MatmulSizes(c, op) {
    type = c.value(op.inputs[0]).dtype;
    panels = (n + kColumns - 1) / kColumns;
    rows = std::clamp<int64_t>(kRowNumbers / k, 8, kMaxChunk);
    chunks = (m + rows - 1) / rows;
  }
  bool wide() const { return type == RC_DTYPE_F64; }
  uint64_t panel_bytes() const {
    return product(static_cast<uint64_t>(k),
                   kColumns * (wide() ? sizeof(double) : sizeof(float)));
  }
};

void load(const Kernels&, rc_dtype, const double* from, int64_t count,
          double* to) {
  std::copy_n(from, count, to);
}
void load(const Kernels& kernels, rc_dtype type, const uint16_t* from,
          int64_t count, float* to) {
  kernels.widen(from, count, type, to);
}

// Columns from `first` on, [k][16]; `row` is room for k numbers.
template <class Stored, class Number>
void pack(const Kernels& kernels, const Sizes& sizes, const Stored* b,
          int64_t first, int64_t lanes, Number* panel, Number* row) {
  if (lanes < kColumns) std::fill_n(panel, sizes.k * kColumns, Number{0});
  if (!sizes.transposed) {
    for (int64_t i = 0; i < sizes.k; ++i) {
      load(kernels, sizes.type, b + i * sizes.n + first, lanes,
           panel + i * kColumns);
    }
    return;
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    load(kernels, sizes.type, b + (first + lane) * sizes.k, sizes.k, row);
    for (int64_t i = 0; i < sizes.k; ++i) panel[i * kColumns + lane] = row[i];
  }
}

void multiply(const Kernels& kernels, const double* a, int64_t rows,
              const Sizes& sizes, const double* panel, double* y) {
  kernels.product_f64(a, sizes.k, rows, panel, sizes.k, y);
}
void multiply(const Kernels& kernels, const float* a, int64_t rows,
              const Sizes& sizes, const float* panel, float* y) {
  const void* xs[kMaxChunk];
  float* ys[kMaxChunk];
  for (int64_t i = 0; i < rows; ++i) {
    xs[i] = a + i * sizes.k;
    ys[i] = y + i * kColumns;
  }
  LinearTask task = {};
  task.tile = reinterpret_cast<const uint8_t*>(panel);
  task.tiles = 1;
  task.columns = sizes.k;
  task.x = xs;
  task.y = ys;
  task.rows = static_cast<int>(rows);
  task.lanes = kTileRows;
  kernels.linear(RC_DTYPE_F32)(task);
}

void apply(const Kernels&, double* y, int64_t count, int32_t function) {
  compute_unary(y, count, function, y);
}
void apply(const Kernels& kernels, float* y, int64_t count, int32_t function) {
  kernels.unary(y, count, function, y);
}

void store(rc_dtype, const double* from, int64_t count, double* to) {
  std::copy_n(from, count, to);
}
void store(rc_dtype type, const float* from, int64_t count, uint16_t* to) {
  encode_row(type, from, to, count);
}

template <class Stored, class Number>
void add_product(Compiler& c, const Op& op, const Sizes& sizes) {
  const int32_t function = op.params.matmul.function;
  const bool has_bias = op.inputs[2] >= 0;
  const Place a = c.place(op.inputs[0]);
  const Place b = c.place(op.inputs[1]);
  const Place bias = has_bias ? c.place(op.inputs[2]) : Place{};
  const Place y = c.place(op.outputs[0]);
  std::vector<Area> reads = {c.area(op.inputs[0]), c.area(op.inputs[1])};
  if (has_bias) reads.push_back(c.area(op.inputs[2]));
  const ThreadScratch scratch = c.thread_scratch();
  c.add(
      std::move(reads), {c.area(op.outputs[0])},
      [=](const Run&) {
        return sizes.batch * sizes.n * (sizes.m + 4) * (sizes.k / 8 + 1);
      },
      [=](const Run&) { return sizes.batch * sizes.panels * sizes.chunks; },
      [=](Run& run, const Share& share) {
        auto* panel = scratch.of<Number>(share.thread);
        Number* rows = panel + sizes.k * kColumns;
        int64_t packed = -1;
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
          if (run.stopped(share.thread)) return;
          const int64_t batch = unit / sizes.chunks / sizes.panels;
          const int64_t first = unit / sizes.chunks % sizes.panels * kColumns;
          const int64_t lanes = std::min(kColumns, sizes.n - first);
          if (packed != unit / sizes.chunks) {
            packed = unit / sizes.chunks;
            pack(run.kernels, sizes,
                 run.at<const Stored>(b) +
                     (sizes.b_batch == 1 ? 0 : batch) * sizes.n * sizes.k,
                 first, lanes, panel, rows);
          }
          const int64_t row =
              batch * sizes.m + unit % sizes.chunks * sizes.rows;
          const int64_t count =
              std::min(sizes.rows, (batch + 1) * sizes.m - row);
          const Stored* from = run.at<const Stored>(a) + row * sizes.k;
          const Number* left = rows;
          if constexpr (std::is_same_v<Stored, Number>) {
            left = from;
          } else {
            load(run.kernels, sizes.type, from, count * sizes.k, rows);
          }
          alignas(64) Number made[kMaxChunk * kColumns];
          multiply(run.kernels, left, count, sizes, panel, made);
          Number added[kColumns] = {};
          if (has_bias) {
            load(run.kernels, sizes.type, run.at<const Stored>(bias) + first,
                 lanes, added);
          }
          for (int64_t i = 0; i < count; ++i) {
            Number* line = made + i * kColumns;
            for (int64_t j = 0; has_bias && j < lanes; ++j) {
              line[j] += added[j];
            }
            if (function != RC_FUNCTION_NONE) {
              apply(run.kernels, line, lanes, function);
            }
            store(sizes.type, line, lanes,
                  run.at<Stored>(y) + (row + i) * sizes.n + first);
          }
        }
      });
}

}  // namespace

void compile_matmul(Compiler& c, const Op& op) {
  const Sizes sizes(c, op);
  if (sizes.wide()) {
    add_product<double, double>(c, op, sizes);
  } else {
    add_product<uint16_t, float>(c, op, sizes);
  }
}

uint64_t matmul_scratch(const Compiler& c, const Op& op) {
  const Sizes sizes(c, op);
  const uint64_t number = sizes.wide() ? sizeof(double) : sizeof(float);
  const uint64_t rows = sizes.wide() ? 1 : static_cast<uint64_t>(sizes.rows);
  return sizes.panel_bytes() +
         product(product(rows, static_cast<uint64_t>(sizes.k)), number);
}

}  // namespace rc::cpu::numbers
