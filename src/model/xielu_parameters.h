// Parameters of xIELU of each layer, of a file's metadata.
#pragma once

#include "files/gguf/file.h"
#include "model/hyper_parameters.h"

namespace rc::model {

// Reads Layer::xielu of all layers: the keys hold what was learned, of which
// the function takes the softplus (Huang and Schlag 2024, arXiv:2411.13010).
// Throws RC_E_FORMAT naming the key, its value and the limit.
void read_xielu(const gguf::File& file, HyperParameters& hyper);

}  // namespace rc::model
