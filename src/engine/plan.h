// Chooses what engine options leave open, and says what the result takes.
#pragma once

#include "engine/engine.h"

namespace rc::engine {

struct Resolved {
  EngineOptions options;
  model::ResidentOptions resident;
  Plan plan;
  model::Placement placement;
};

// Throws RC_E_INVALID_ARGUMENT for an option out of range. That it does not fit
// is no error here.
Resolved resolve(const model::ModelFile& file,
                 const runtime::DeviceChain& chain,
                 const EngineOptions& options);

}  // namespace rc::engine
