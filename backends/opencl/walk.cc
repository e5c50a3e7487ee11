#include "opencl/walk.h"

#include <algorithm>

#include "opencl/arguments.h"

namespace rc::opencl {
namespace {

// Elements of a row of the range. Longer rows of a tensor are cut, so that a
// run can be stopped within them.
constexpr int64_t kRun = 4096;

}  // namespace

Strides broadcast_strides(const rc_plugin_value& operand,
                          const rc_plugin_value& output) {
  Strides strides = {};
  int64_t stride = 1;
  for (int i = 1; i <= operand.rank; ++i) {
    const int64_t dimension = operand.shape[operand.rank - i];
    if (dimension > 1) strides[output.rank - i] = stride;
    stride *= dimension;
  }
  return strides;
}

void set_rows(int64_t rows, Step* step) {
  if (rows > UINT32_MAX) {
    fail(RC_E_UNSUPPORTED, "an op of ", rows, " rows; kernels count them to ",
         UINT32_MAX);
  }
  step->rows.symbol = gpu::kFixedRows;
  step->rows.limit = static_cast<uint32_t>(rows);
}

Step shared_step(Kernel kernel, int64_t rows, int64_t items, double work,
                 const Tuning& tuning) {
  uint32_t across = tuning.plain;
  while (across > 1 && across / 2 >= items) across /= 2;
  const uint32_t down = tuning.plain / across;
  Step step;
  step.kernel = std::move(kernel);
  set_rows(rows, &step);
  step.group[0] = across;
  step.group[1] = down;
  step.items[0] = (static_cast<size_t>(items) + across - 1) / across * across;
  step.items[1] = down;
  step.batch = down;
  step.work.each = work;
  return step;
}

Walk::Walk(const int64_t* shape, int rank, std::vector<Strides> strides)
    : strides_(strides.size(), Strides{}) {
  // Filled from the last place on.
  int place = RC_PLUGIN_MAX_RANK;
  for (int i = rank - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    bool joined = place < RC_PLUGIN_MAX_RANK;
    for (size_t k = 0; joined && k < strides.size(); ++k) {
      joined = strides[k][i] == strides_[k][place] * sizes_[place];
    }
    if (joined) {
      sizes_[place] *= shape[i];
      continue;
    }
    sizes_[--place] = shape[i];
    for (size_t k = 0; k < strides.size(); ++k) {
      strides_[k][place] = strides[k][i];
    }
  }
}

cl_long4 Walk::four(const Strides& numbers) {
  cl_long4 result;
  std::copy(numbers.begin(), numbers.end(), result.s);
  return result;
}

std::string Walk::definitions() { return definition("RUN", kRun); }

Step Walk::step(Kernel kernel, const Tuning& tuning, int lanes) const {
  const int64_t width = std::min(sizes_[3], kRun);
  return shared_step(
      std::move(kernel),
      sizes_[0] * sizes_[1] * sizes_[2] * ((sizes_[3] + kRun - 1) / kRun),
      (width + lanes - 1) / lanes, static_cast<double>(width), tuning);
}

}  // namespace rc::opencl
