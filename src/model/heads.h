// What some models do to queries besides rotating them.
#pragma once

#include <vector>

#include "model/hyper_parameters.h"
#include "runtime/program.h"

namespace rc::model {

// The weight that holds scales_of_positions; no tensor of a file has this name.
inline constexpr const char* kPositionScaleWeight = "(scales of positions)";

// [steps, 1]: see HyperParameters::position_scale. A step is as many positions
// as the original context has.
std::vector<float> scales_of_positions(const HyperParameters& hyper);

// How many steps have a scale: all that sequences can be, unless these are very
// many.
int64_t position_steps(const HyperParameters& hyper);

// Queries [rows, width], multiplied by the scale of the step that each of them
// is in: I32 [rows].
runtime::Value add_position_scale(runtime::ProgramBuilder& builder,
                                  const HyperParameters& hyper,
                                  runtime::Value steps, runtime::Value q);

}  // namespace rc::model
