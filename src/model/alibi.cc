#include "model/alibi.h"

#include <bit>
#include <cmath>

#include "base/error.h"

namespace rc::model {

std::string slopes_weight_name(int64_t heads) {
  return cat("(slopes of ", heads, " heads)");
}

std::vector<float> alibi_slopes(int64_t heads, double largest, double factor) {
  const auto below =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<float> slopes;
  const auto add = [&](int64_t i, int64_t n) {
    slopes.push_back(static_cast<float>(
        factor *
        std::exp2(-largest * static_cast<double>(i) / static_cast<double>(n))));
  };
  for (int64_t i = 1; i <= below; ++i) add(i, below);
  for (int64_t i = below; i < heads; ++i) {
    add(2 * (i - below) + 1, 2 * below);
  }
  return slopes;
}

}  // namespace rc::model
