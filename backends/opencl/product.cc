#include "opencl/product.h"

#include "opencl/walk.h"
#include "tensor/dtype.h"

namespace rc::opencl {
namespace {

// Flags of product.cl.
constexpr cl_int kBiasOfColumns = 1;
constexpr cl_int kBiasOfRows = 2;

}  // namespace

std::string Product::definitions() const {
  const std::string of_function = definition("FUNCTION", function);
  if (!transposed) return of_function;
  return cat(of_function, " -DTRANSPOSED -DDENSE -DTILE=1 -DTYPE_",
             dtype_name(b_dtype));
}

void Product::set(const Kernel& kernel) const {
  const cl_int flags = bias == nullptr ? 0
                       : bias_of_rows  ? kBiasOfRows
                                       : kBiasOfColumns;
  set_arguments(kernel, 0, a, a_at, number(a_count), b, b_at, number(b_count),
                b_bytes, b_row_bytes, bias, bias_at, out, out_at, number(m),
                number(n), number(k), flags);
}

Step Product::small(Device& device) const {
  const Tuning& tuning = device.tuning();
  const int rows = m > 1 ? 4 : 1;
  const int lanes = transposed ? tuning.vector : tuning.vector_for(n);
  // Neighbouring vectors of columns, so that less rows of b are begun.
  const int vectors = lanes == 16 ? 4 : lanes > 1 ? 2 : 1;
  // On GPUs a group shares the sum of a column, if its vectors are dense.
  const int items = transposed ? tuning.linear : 1;
  const int64_t across =
      transposed ? n * items : (n + lanes * vectors - 1) / (lanes * vectors);
  const int64_t group = transposed ? items : tuning.linear;
  const std::string shape = transposed ? definition("GROUP_ITEMS", items)
                                       : definition("VECTORS", vectors);
  Step step;
  step.kernel = device.library().kernel(
      "matmul.cl", "matmul",
      cat(definitions(), shape, definition("ROWS", rows)), lanes);
  step.group[0] = static_cast<size_t>(group);
  step.items[0] = static_cast<size_t>((across + group - 1) / group * group);
  set_rows(matrices * ((m + rows - 1) / rows), &step);
  step.work.each = static_cast<double>(rows) * static_cast<double>(n) *
                   static_cast<double>(k);
  set(step.kernel);
  return step;
}

Step Product::tiled(Device& device, const std::string& further) const {
  const Tuning& tuning = device.tuning();
  constexpr int kRows = 4;
  // As many sums as there are registers for.
  const int columns = tuning.vector == 1 || tuning.vector == 16 ? 4 : 2;
  const int share = columns * tuning.vector;
  const int across = tuning.product_columns / share;
  const int down = tuning.product_rows / kRows;
  Step step;
  step.kernel = device.library().kernel(
      "tiled.cl", "tiled",
      cat(definitions(), further, definition("COLUMNS", columns),
          definition("GROUP_X", across), definition("GROUP_Y", down),
          definition("DEPTH", tuning.product_depth)));
  const int64_t tile = int64_t{across} * share;
  step.group[0] = static_cast<size_t>(across);
  step.group[1] = static_cast<size_t>(down);
  step.items[0] = static_cast<size_t>((n + tile - 1) / tile * across);
  step.items[1] = static_cast<size_t>(down);
  set_rows(matrices * ((m + tuning.product_rows - 1) / tuning.product_rows),
           &step);
  step.work.each = static_cast<double>(tuning.product_rows) *
                   static_cast<double>(n) * static_cast<double>(k);
  set(step.kernel);
  return step;
}

}  // namespace rc::opencl
