// Limits of the steps of state spaces: models may be computed with steps that
// are no shorter, or no longer, than some.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "model/hyper_parameters.h"
#include "runtime/program.h"

namespace rc::model {

inline constexpr const char* kStepFloorWeight = "ssm_step_floor";
inline constexpr const char* kStepDistanceWeight = "ssm_step_floor_negated";

// Whether there are any.
bool limits_steps(const StateSpace& space);

// Adds the weights that limit_steps names, if there are limits.
void make_step_weights(
    const StateSpace& space,
    std::unordered_map<std::string, std::vector<float>>& made);

// Values that a scan turns into steps by the softplus of their sum with a bias.
struct RawSteps {
  runtime::Value steps;
  runtime::Value bias;
};

// The same within the limits. `raw.bias` has a number for each head.
RawSteps limit_steps(runtime::ProgramBuilder& builder, const StateSpace& space,
                     RawSteps raw);

}  // namespace rc::model
