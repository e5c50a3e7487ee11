// The rotary embeddings of a model, as the metadata of its file gives them.
#pragma once

#include "model/hyper_parameters.h"
#include "model/metadata.h"

namespace rc::model {

// Fills hyper.ropes, and Layer::rope of each layer; sizes and windows are known
// already.
void read_ropes(const Metadata& metadata, const Architecture& architecture,
                HyperParameters& hyper);

}  // namespace rc::model
