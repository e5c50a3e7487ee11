// Chooses what engine options leave open, and says what the result takes.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace rc::engine {

struct Resolved {
  EngineOptions options;
  model::ResidentOptions resident;
  Plan plan;
  model::Placement placement;
};

// With options.fit what fit.h says. Throws RC_E_INVALID_ARGUMENT for an option
// out of range. That it does not fit is no error here.
Resolved resolve(const model::ModelFile& file,
                 const runtime::DeviceChain& chain,
                 const EngineOptions& options);

// The context that is given up before layers go to another device, tokens.
int64_t enough_context(const model::ModelFile& file,
                       const EngineOptions& options);

// Where the options put experts; nullptr: where their layers are. Throws
// RC_E_INVALID_ARGUMENT for a device that is not one of the chain.
std::shared_ptr<runtime::Device> experts_device(
    const runtime::DeviceChain& chain, const EngineOptions& options);

// A line in the log if more context is asked for than the model was trained
// for.
void warn_beyond_training(const model::ModelFile& file, int64_t context);

}  // namespace rc::engine
