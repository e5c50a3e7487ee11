#include "model/step_limits.h"

#include <cmath>

namespace rc::model {
namespace {

// A lower limit that is below every step that matters, for models with an upper
// one alone.
constexpr float kNoFloor = -30.0f;

// Of what the softplus is.
float before_softplus(float step) {
  // ln(exp(step) - 1), without overflow.
  return static_cast<float>(double{step} +
                            std::log(-std::expm1(-double{step})));
}

float floor_of(const StateSpace& space) {
  return space.least_step > 0.0f ? before_softplus(space.least_step) : kNoFloor;
}

}  // namespace

bool limits_steps(const StateSpace& space) {
  return space.least_step > 0.0f || !std::isinf(space.most_step);
}

void make_step_weights(
    const StateSpace& space,
    std::unordered_map<std::string, std::vector<float>>& made) {
  if (!limits_steps(space)) return;
  const auto heads = static_cast<size_t>(space.heads);
  const float floor = floor_of(space);
  made.emplace(kStepFloorWeight, std::vector<float>(heads, floor));
  made.emplace(kStepDistanceWeight, std::vector<float>(heads, -floor));
}

RawSteps limit_steps(runtime::ProgramBuilder& builder, const StateSpace& space,
                     RawSteps raw) {
  if (!limits_steps(space)) return raw;
  const auto weight = [&](const char* name) {
    return builder.weight(name, RC_DTYPE_F32, {space.heads}, RC_USE_ELEMENTS);
  };
  // The distance of the sum above the lower limit, at least 0.
  runtime::Value above = builder.affine(raw.steps, runtime::kAbsent, raw.bias);
  above = builder.unary(
      builder.affine(above, runtime::kAbsent, weight(kStepDistanceWeight)),
      RC_FUNCTION_RELU);
  if (!std::isinf(space.most_step)) {
    above = builder.clamp(above,
                          before_softplus(space.most_step) - floor_of(space));
  }
  return {above, weight(kStepFloorWeight)};
}

}  // namespace rc::model
