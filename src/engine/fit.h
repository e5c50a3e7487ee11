// Chooses what the caller of rc_model_load has left open so that the model
// fits; see rc_model_options.fit.
#pragma once

#include "engine/plan.h"

namespace rc::engine {

// Returns the first of these placements that fits with enough of a context
// (enough_context), with as long a one as fits:
//
//  1. on the devices of the chain other than its CPU, if it has others;
//  2. on all of them: with layers on the CPU, or, of a mixture, the experts of
//     as few layers as possible, or both; of these the one whose CPU has the
//     least to read for a token.
//
// If there is none, and `options.fits_cache_dtype`, the same with a KV cache of
// Q8_0, the only choice that makes results less exact. If there is none then,
// the one that fits with the longest context; if nothing fits, the options as
// given. Throws what resolve() throws for these.
Resolved fit(const model::ModelFile& file, const runtime::DeviceChain& chain,
             const EngineOptions& options);

}  // namespace rc::engine
