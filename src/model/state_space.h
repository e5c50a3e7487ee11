// The mixer of layers that are selective state spaces.
#pragma once

#include <string>

#include "model/architecture.h"
#include "model/weights.h"
#include "runtime/program.h"

namespace rc::model {

// Inputs of the program, and how many slots there are.
struct StateInputs {
  runtime::Value sequences;
  runtime::Value slots;  // I32 [sequences, 2]
  int64_t slot_count;
};

// Mamba 2 (Dao and Gu 2024, arXiv:2405.21060) over x [rows, width] up to its
// norm: [rows, inner]. Adds the caches of layer_states(). `layer` is "blk.N.".
runtime::Value add_state_space(runtime::ProgramBuilder& builder,
                               Weights& weights, const TensorNames& names,
                               const HyperParameters& hyper,
                               const std::string& layer, runtime::Value x,
                               const StateInputs& inputs);

}  // namespace rc::model
