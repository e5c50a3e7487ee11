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

Range shared_range(Kernel kernel, int64_t items, const Tuning& tuning) {
  int64_t across = tuning.plain;
  while (across > 1 && across / 2 >= items) across /= 2;
  const int64_t down = tuning.plain / across;
  Range range;
  range.kernel = std::move(kernel);
  range.group[0] = static_cast<size_t>(across);
  range.group[1] = static_cast<size_t>(down);
  range.items[0] = static_cast<size_t>((items + across - 1) / across * across);
  range.items[1] = static_cast<size_t>(down);
  range.rows_per_block = down;
  return range;
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
  const int64_t items = (width + lanes - 1) / lanes;
  Step step;
  step.cost = static_cast<uint64_t>(width);
  step.dimension =
      sizes_[0] * sizes_[1] * sizes_[2] * ((sizes_[3] + kRun - 1) / kRun);
  step.narrow = shared_range(std::move(kernel), items, tuning);
  return step;
}

}  // namespace rc::opencl
