// The rotary frequencies of a model, as weights that no tensor of a file holds.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "files/gguf/file.h"
#include "model/architecture.h"
#include "model/layer_state.h"

namespace rc::model {

// Weights that are not in a file as they are needed, by name.
using MadeWeights = std::unordered_map<std::string, std::vector<float>>;

// The weight that holds Rope::frequencies of a number in
// HyperParameters::ropes.
std::string rope_weight_name(size_t number);

// The one that stands for the first of them in sequences of more tokens than
// short_context says.
inline constexpr const char* kLongRopeWeight = "(long rotary frequencies)";

// The original context, where a file has factors for sequences that are longer,
// and the layout allows such; 0: all rotate alike.
int64_t short_context(const gguf::File& file, const Architecture& architecture,
                      const HyperParameters& hyper, const CacheLayout& layout);

// Makes all these weights, and Rotation's; gives Rope::scale of each number.
// The factors of a file are of the first. Throws RC_E_FORMAT naming a tensor
// whose factors are out of range or misshapen.
std::vector<float> make_ropes(const gguf::File& file,
                              const Architecture& architecture,
                              const HyperParameters& hyper, MadeWeights& made);

}  // namespace rc::model
