// Changes that some models make to queries besides rotating them, and to heads
// of the result of attention.
#pragma once

#include <string>
#include <vector>

#include "model/architecture.h"
#include "model/hyper_parameters.h"
#include "model/rope_weights.h"
#include "runtime/program.h"

namespace rc::model {

// The weight that holds scales_of_positions; no tensor of a file has this name.
inline constexpr const char* kPositionScaleWeight = "(scales of positions)";

// [steps, 1]: see HyperParameters::position_scale. A step is as many positions
// as the original context has.
std::vector<float> scales_of_positions(const HyperParameters& hyper);

// Returns the number of steps with a scale: as many as a sequence can have, up
// to a limit.
int64_t position_steps(const HyperParameters& hyper);

// Queries [rows, width], multiplied by the scale of the step that each of them
// is in: I32 [rows].
runtime::Value add_position_scale(runtime::ProgramBuilder& builder,
                                  const HyperParameters& hyper,
                                  runtime::Value steps, runtime::Value q);

// The number of gates of the attention of a layer, by its number: one per head
// or one per element of a head. See AttentionGate::kSoftplus.
int64_t softplus_gates(const gguf::File& file, const Architecture& architecture,
                       const HyperParameters& hyper, size_t layer);

// Adds the weights that gates of attention need. Throws RC_E_UNSUPPORTED naming
// the file for heads that would make one of them very large.
void make_gates(const gguf::File& file, const Architecture& architecture,
                const HyperParameters& hyper, MadeWeights& made);

// Of x [rows, heads] each element `size` times: [rows, heads * size].
runtime::Value add_spread(runtime::ProgramBuilder& builder, runtime::Value x,
                          int64_t size);

}  // namespace rc::model
