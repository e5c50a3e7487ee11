// The mixers of layers that carry a state from row to row.
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

// What the mixers are described with.
struct StateLayer {
  runtime::ProgramBuilder& builder;
  Weights& weights;
  const Architecture& architecture;
  const HyperParameters& hyper;
  std::string prefix;  // of the layer's tensors: "blk.N."
  StateInputs inputs;
};

// Each of x [rows, width], up to the product that leads back to the width. They
// add the caches of layer_states().

// Mamba 2 (Dao and Gu 2024, arXiv:2405.21060): [rows, inner].
runtime::Value add_state_space(const StateLayer& layer, runtime::Value x);
// Mamba (Gu and Dao 2023, arXiv:2312.00752): [rows, inner].
runtime::Value add_channel_space(const StateLayer& layer, runtime::Value x);
// The gated delta rule (Yang, Kautz and Hatamizadeh 2024, arXiv:2412.06464)
// over keys and queries of length 1: [rows, inner].
runtime::Value add_delta_rule(const StateLayer& layer, runtime::Value x);
// A convolution between two gates (Liquid AI 2025, arXiv:2511.23404): [rows,
// width].
runtime::Value add_short_conv(const StateLayer& layer, runtime::Value x);

}  // namespace rc::model
