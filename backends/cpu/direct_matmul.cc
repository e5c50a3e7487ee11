#include "cpu/direct_matmul.h"

#include <algorithm>

#include "cpu/units.h"

namespace rc::cpu {
namespace {

int64_t in_parts(int64_t count, int64_t size) {
  return (count + size - 1) / size;
}

}  // namespace

int64_t DirectMatmul::pieces() const {
  return batch * in_parts(m, kProductRows) * in_parts(n, kProductColumns);
}

void DirectMatmul::compute(const Kernels& kernels, const float* a,
                           const float* b, int64_t piece, float* y,
                           float* copy) const {
  const int64_t across = in_parts(n, kProductColumns);
  const int64_t down = in_parts(m, kProductRows);
  // A call with a single vector of columns would load more than it multiplies.
  const Part vectors(in_parts(n, kTileRows), static_cast<int>(piece % across),
                     static_cast<int>(across));
  const int64_t column = vectors.begin * kTileRows;
  const int64_t row = piece / across % down * kProductRows;
  const int64_t matrix = piece / across / down;
  const int64_t columns = std::min(vectors.end * kTileRows, n) - column;
  const int64_t whole = columns / kTileRows * kTileRows;
  ProductTask task;
  task.a = a + (matrix * m + row) * k;
  task.a_step = k;
  task.b = b + (b_batch == 1 ? 0 : matrix) * k * n + column;
  task.b_step = n;
  task.k = k;
  task.y = y + (matrix * m + row) * n + column;
  task.y_step = n;
  task.rows = static_cast<int>(std::min<int64_t>(kProductRows, m - row));
  task.columns = static_cast<int>(whole);
  task.more = false;
  task.bias = nullptr;
  if (whole > 0) kernels.product(task);
  if (whole == columns) return;
  kernels.tile_columns(task.b + whole, n, k, columns - whole, copy, 0);
  task.b = copy;
  task.b_step = kTileRows;
  task.y += whole;
  task.columns = static_cast<int>(columns - whole);
  kernels.product(task);
}

}  // namespace rc::cpu
