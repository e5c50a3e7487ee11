// What some models do to queries besides rotating them.
#pragma once

#include <vector>

#include "model/hyper_parameters.h"
#include "runtime/program.h"

namespace rc::model {

// The weight that holds scales_of_positions; no tensor of a file has this name.
inline constexpr const char* kPositionScaleWeight = "(scales of positions)";

// [context_length, 1]: see HyperParameters::position_scale.
std::vector<float> scales_of_positions(const HyperParameters& hyper);

// Queries [rows, width], multiplied by those of their positions.
runtime::Value add_position_scale(runtime::ProgramBuilder& builder,
                                  const HyperParameters& hyper,
                                  runtime::Value positions, runtime::Value q);

}  // namespace rc::model
