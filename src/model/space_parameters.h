// Sizes of the layers that carry a state from row to row, of a file's metadata.
#pragma once

#include "model/architecture.h"
#include "model/hyper_parameters.h"
#include "model/metadata.h"

namespace rc::model {

// Needs the layers' kinds; does nothing where no layer has a state. Throws
// RC_E_FORMAT naming the key, its value and the limit.
void read_state_space(const Metadata& metadata,
                      const Architecture& architecture, HyperParameters& hyper);

}  // namespace rc::model
