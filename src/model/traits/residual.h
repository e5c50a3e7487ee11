// The residual: the values that each part of a layer adds its result to.
#pragma once

#include "model/traits/presence.h"

namespace rc::model {

struct ResidualTraits {
  // A part's result is added to the part's normed input, which files may
  // multiply by a factor.
  bool normed = false;
  // Attention and feed-forward part read the same residual, and both results
  // are added to it. If a file has only one of their norms, both use it.
  // kOptional: where use_parallel_residual says so.
  Presence parallel = Presence::kNever;
  // The residual is several streams, of which each layer computes one; see
  // alternating.h.
  bool streams = false;
  // A product of low rank is computed next to attention; see alternating.h.
  bool low_rank = false;
  // Each layer has an additional input for each token; see per_layer.h.
  // kOptional: where a key gives its size.
  Presence per_layer_inputs = Presence::kNever;
  // Files may multiply the result of each layer by a number.
  bool layer_scales = false;
  // A layer is either a mixer or a feed-forward part, never both. All layers
  // have the norm of mixers.
  bool single_parts = false;
};

}  // namespace rc::model
