// What some models do to queries and keys besides rotating them.
#pragma once

#include <string>
#include <vector>

#include "model/hyper_parameters.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

// A layer norm over each head of x [rows, heads, size], with a weight
// [heads, size] of that name.
runtime::Value add_own_norms(runtime::ProgramBuilder& builder, Weights& weights,
                             float epsilon, runtime::Value x,
                             const std::string& name);

// The weight that holds scales_of_positions; no tensor of a file has this name.
inline constexpr const char* kPositionScaleWeight = "(scales of positions)";

// [context_length, 1]: see HyperParameters::position_scale.
std::vector<float> scales_of_positions(const HyperParameters& hyper);

// Queries [rows, width], multiplied by those of their positions.
runtime::Value add_position_scale(runtime::ProgramBuilder& builder,
                                  const HyperParameters& hyper,
                                  runtime::Value positions, runtime::Value q);

}  // namespace rc::model
