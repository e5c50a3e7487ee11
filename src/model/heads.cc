#include "model/heads.h"

#include <algorithm>
#include <cmath>

namespace rc::model {

int64_t position_steps(const HyperParameters& hyper) {
  constexpr int64_t kMost = 65536;
  return std::min(kMost, kMaxContext / hyper.ropes[0].original_context + 1);
}

std::vector<float> scales_of_positions(const HyperParameters& hyper) {
  std::vector<float> scales(static_cast<size_t>(position_steps(hyper)));
  for (size_t step = 0; step < scales.size(); ++step) {
    scales[step] = static_cast<float>(
        1.0 + hyper.position_scale * std::log1p(static_cast<double>(step)));
  }
  return scales;
}

runtime::Value add_position_scale(runtime::ProgramBuilder& builder,
                                  const HyperParameters& hyper,
                                  runtime::Value steps, runtime::Value q) {
  const runtime::Value scales =
      builder.get_rows(builder.weight(kPositionScaleWeight, RC_DTYPE_F32,
                                      {position_steps(hyper), 1}, RC_USE_ROWS),
                       steps);
  // A sum over one.
  const runtime::ProgramBuilder::Shape shape = builder.shape(q);
  return builder.expert_sum(
      builder.reshape(q, {shape.front(), 1, shape.back()}), scales);
}

}  // namespace rc::model
