// The hyper-parameters of experts.
#pragma once

#include "model/architecture.h"
#include "model/metadata.h"

namespace rc::model {

// Reads the number of experts and of those in use, their size, and their
// choice. HyperParameters::experts is at least 1.
void read_experts(const Metadata& metadata, const Architecture& architecture,
                  HyperParameters& hyper);

// Which layers have experts: all next to a dense part, or of each so many the
// last, but not the first ones.
void place_experts(const Metadata& metadata, const Architecture& architecture,
                   HyperParameters& hyper);

}  // namespace rc::model
