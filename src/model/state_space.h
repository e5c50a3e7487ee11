// The mixers of layers that carry a state from row to row.
#pragma once

#include <optional>
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

// The context in which a mixer is described.
struct StateLayer {
  runtime::ProgramBuilder& builder;
  Weights& weights;
  const Architecture& architecture;
  const HyperParameters& hyper;
  std::string prefix;  // of the layer's tensors: "blk.N."
  StateInputs inputs;
};

// The result of such a mixer, and the product that leads back to the width,
// which is not yet taken.
struct Recurrent {
  runtime::Value y;
  const char* back;
};
// Of x [rows, width]; adds the caches of layer_states(). Nothing for a mixer
// that carries no state.
std::optional<Recurrent> add_recurrent(const StateLayer& layer, Mixer mixer,
                                       runtime::Value x);

}  // namespace rc::model
