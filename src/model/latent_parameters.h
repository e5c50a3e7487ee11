// Sizes of latent attention, of a file's metadata.
#pragma once

#include "model/architecture.h"
#include "model/hyper_parameters.h"
#include "model/metadata.h"

namespace rc::model {

// Needs the heads of the layers. Files of before April 2025 call key_length and
// value_length what newer ones have under names that end in _mla. Throws
// RC_E_FORMAT naming the key, its value and the limit.
void read_latent(const Metadata& metadata, const Architecture& architecture,
                 HyperParameters& hyper);

// Needs the above and the windows, for Architecture::window_latent: layers with
// a window have another short vector and other heads; how much of each head
// rotates is the same. Throws as read_latent() does.
void read_window_latent(const Metadata& metadata, HyperParameters& hyper);

}  // namespace rc::model
