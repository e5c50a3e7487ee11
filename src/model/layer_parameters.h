// Properties of some layers besides heads, windows and experts.
#pragma once

#include "model/architecture.h"
#include "model/metadata.h"

namespace rc::model {

// Sizes of heads, shared caches, inputs of layers, streams of the residual,
// cut-offs of gates and factors. Heads and windows are read before. Throws as
// read_hyper_parameters() does.
void read_layer_parameters(const Metadata& metadata,
                           const Architecture& architecture,
                           HyperParameters& hyper);

}  // namespace rc::model
