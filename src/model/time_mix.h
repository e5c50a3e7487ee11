// The layers of RWKV: a mix over time, which carries a state from row to row,
// and a mix of channels, both of which see a row and the one before it.
#pragma once

#include <vector>

#include "model/metadata.h"
#include "model/state_space.h"

namespace rc::model {

inline bool mixes_time(Mixer mixer) {
  return mixer == Mixer::kTimeMix6 || mixer == Mixer::kTimeMix7;
}

// The weight [width, 2] of a convolution that gives the row before less a row:
// (1, -1) for each channel. No tensor of a file has this name.
inline constexpr const char* kDifferenceWeight = "(differences)";
std::vector<float> differences(int64_t width);

// Sizes of heads and ranks. Throws RC_E_FORMAT naming key, value and limit.
void read_time_mix(const Metadata& metadata, Mixer kind,
                   HyperParameters& hyper);

// The values that layers hand on next to the residual.
struct TimeMixed {
  runtime::Value x;             // [rows, width]
  runtime::Value first_values;  // of the first layer; RWKV 7
};
// A whole layer `number`: RWKV 6 (Peng et al. 2024, arXiv:2404.05892) or RWKV 7
// (Peng et al. 2025, arXiv:2503.14456). Adds the caches of layer_states(). If
// `wanted` is there, the result has these rows alone.
TimeMixed add_time_mix(const StateLayer& layer, size_t number,
                       const TimeMixed& before, runtime::Value wanted);

}  // namespace rc::model
