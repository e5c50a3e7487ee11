// Products of F32 of which one side is packed, or used a few times only: as
// many sums at once as there are registers for.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// Rows and vectors of columns whose sums stay in registers.
constexpr int kMostVectors = kParts == 1 ? kProductColumns / kLanes : 1;
#if defined(__AVX512F__)
constexpr int kMostRows = 8;
#elif defined(__AVX2__) || defined(__aarch64__)
constexpr int kMostRows = 4;
#else
constexpr int kMostRows = 2;
#endif

// Products that all sums of a call take before the next ones: few registers
// make a call go often over what it multiplies, which the first-level cache
// then has.
constexpr int64_t kDepth = kParts == 1 ? 1024 : kSumBlock;

template <int rows, int vectors>
RC_SIMD void add_products(const float* const (&a)[rows], int64_t i,
                          const float* b, Vf (&sums)[rows][vectors]) {
  Vf columns[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) columns[v] = load(b + v * kLanes);
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    const Vf x = splat(a[r][i]);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      sums[r][v] = fma(columns[v], x, sums[r][v]);
    }
  }
}

// Adds `k` products to each of the totals, which are kProductColumns apart from
// row to row: registers are for those of a block.
template <int rows, int vectors>
void some_products(const float* a, int64_t a_step, const float* b,
                   int64_t b_step, int64_t k, float* totals) {
  const float* from[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) from[r] = a + r * a_step;
  for (int64_t i = 0; i < k;) {
    Vf sums[rows][vectors];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = splat(0);
    }
    const int64_t end = k - i < kSumBlock ? k : i + kSumBlock;
    for (; i < end; ++i, b += b_step) {
      add_products<rows, vectors>(from, i, b, sums);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        float* total = totals + r * kProductColumns + v * kLanes;
        store(total, add(load(total), sums[r][v]));
      }
    }
  }
}

template <int rows>
void some_rows(const float* a, int64_t a_step, const float* b, int64_t b_step,
               int64_t k, int columns, float* totals) {
  int column = 0;
  if constexpr (kMostVectors > 1) {
    for (; columns - column > 2 * kLanes; column += 3 * kLanes) {
      some_products<rows, 3>(a, a_step, b + column, b_step, k, totals + column);
    }
    for (; columns - column > kLanes; column += 2 * kLanes) {
      some_products<rows, 2>(a, a_step, b + column, b_step, k, totals + column);
    }
  }
  for (; column < columns; column += kLanes) {
    some_products<rows, 1>(a, a_step, b + column, b_step, k, totals + column);
  }
}

#if defined(__AVX512BW__)

// `loads` of each vector; 0: task.loads.
template <int loads>
void some_taps(const TapTask& task) {
  const int count = loads > 0 ? loads : task.loads;
  const float* x = task.x + task.first / task.taps * task.plane;
  int tap = (int)(task.first % task.taps);
  const TapLoad* which = task.which + tap * task.vectors * count;
  float* to = task.panel;
  for (int64_t i = 0; i < task.k; ++i, to += kProductColumns) {
    for (int v = 0; v < task.vectors; ++v, which += count) {
      F y = f_set(0);
#pragma GCC unroll 2
      for (int l = 0; l < count; ++l) {
        y = f_load_lanes(y, x + which[l].from, which[l].lanes);
      }
      f_store(to + v * kLanes, y);
    }
    if (++tap == task.taps) {
      tap = 0;
      which = task.which;
      x += task.plane;
    }
  }
}

#endif

}  // namespace

void product(const ProductTask& task) {
  alignas(64) float totals[kProductRows * kProductColumns];
  for (int r = 0; r < task.rows; ++r) {
    const Vf all = splat(task.bias != nullptr ? task.bias[r] : 0);
    for (int c = 0; c < task.columns; c += kLanes) {
      store(totals + r * kProductColumns + c,
            task.more
                ? load_some(task.y + r * task.y_step + c, task.columns - c)
                : all);
    }
  }
  for (int64_t first = 0; first < task.k; first += kDepth) {
    const float* a = task.a + first;
    const float* b = task.b + first * task.b_step;
    const int64_t k = task.k - first < kDepth ? task.k - first : kDepth;
    const auto some = [&]<int rows>(int row) __attribute__((always_inline)) {
      some_rows<rows>(a + row * task.a_step, task.a_step, b, task.b_step, k,
                      task.columns, totals + row * kProductColumns);
    };
    int row = 0;
    for (; row + kMostRows <= task.rows; row += kMostRows) {
      some.template operator()<kMostRows>(row);
    }
    if constexpr (kMostRows > 4) {
      for (; row + 4 <= task.rows; row += 4) some.template operator()<4>(row);
    }
    if constexpr (kMostRows > 2) {
      for (; row + 2 <= task.rows; row += 2) some.template operator()<2>(row);
    }
    if (row < task.rows) some.template operator()<1>(row);
  }
  for (int r = 0; r < task.rows; ++r) {
    for (int c = 0; c < task.columns; c += kLanes) {
      store_some(task.y + r * task.y_step + c,
                 load(totals + r * kProductColumns + c), task.columns - c);
    }
  }
}

// Pieces are written as whole vectors, one after the other: what one has too
// much is where the next one, or the next row, comes.
void panel(const PanelTask& task) {
  float* to = task.panel;
  const bool whole = task.columns % kLanes == 0;
  for (int64_t i = 0; i < task.k; ++i, to += kProductColumns) {
    const float* row = task.x + task.offsets[i];
    // The last piece is the farthest.
    if (task.end - row >= task.pieces[task.count - 1].from + kLanes) {
      for (int p = 0; p < task.count; ++p) {
        store(to + task.pieces[p].to, load(row + task.pieces[p].from));
      }
    } else {
      for (int p = 0; p < task.count; ++p) {
        const PanelPiece& piece = task.pieces[p];
        for (int k = 0; k < piece.count; ++k) {
          to[piece.to + k] = row[piece.from + k];
        }
      }
    }
    if (!whole) store(to + task.columns, splat(0));
  }
}

void taps([[maybe_unused]] const TapTask& task) {
#if defined(__AVX512BW__)
  switch (task.loads) {
    case 1:
      return some_taps<1>(task);
    case 2:
      return some_taps<2>(task);
    default:
      return some_taps<0>(task);
  }
#endif
}

}  // namespace rc::cpu::RC_CPU_LEVEL
