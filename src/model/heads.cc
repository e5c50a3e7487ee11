#include "model/heads.h"

#include <cmath>

namespace rc::model {

std::vector<float> scales_of_positions(const HyperParameters& hyper) {
  std::vector<float> scales(static_cast<size_t>(hyper.context_length));
  const int64_t step = hyper.ropes[0].original_context;
  for (size_t p = 0; p < scales.size(); ++p) {
    const auto beyond = static_cast<double>(static_cast<int64_t>(p) / step);
    scales[p] =
        static_cast<float>(1.0 + hyper.position_scale * std::log1p(beyond));
  }
  return scales;
}

runtime::Value add_position_scale(runtime::ProgramBuilder& builder,
                                  const HyperParameters& hyper,
                                  runtime::Value positions, runtime::Value q) {
  const runtime::Value scales =
      builder.get_rows(builder.weight(kPositionScaleWeight, RC_DTYPE_F32,
                                      {hyper.context_length, 1}, RC_USE_ROWS),
                       positions);
  // A sum over one.
  const runtime::ProgramBuilder::Shape shape = builder.shape(q);
  return builder.expert_sum(
      builder.reshape(q, {shape.front(), 1, shape.back()}), scales);
}

}  // namespace rc::model
