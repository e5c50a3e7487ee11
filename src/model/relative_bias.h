// Relative position biases of attention (Raffel et al. 2019, arXiv:1910.10683,
// section 2.1): what a score gets for the distance between two positions, by
// head. Short distances have a number each; longer ones share buckets whose
// width grows with the distance, and those from kFarthest on are alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/gguf/file.h"
#include "model/architecture.h"
#include "model/rope_weights.h"

namespace rc::model {

// No file says another number.
inline constexpr int64_t kFarthest = 128;

// Of a layer's biases. Fewer could not distinguish sides and distances; with
// more no distance below kFarthest would share a bucket.
inline constexpr int64_t kFewestBuckets = 4;
inline constexpr int64_t kMostBuckets = 2 * kFarthest - 2;

// The distances that RC_OP_GENERAL_ATTENTION is given for each head.
inline constexpr int64_t kDistanceSpan = 2 * kFarthest + 1;

// The bucket of a position that is `distance` behind that of the row, of so
// many. Half of them are for either side; where rows see only those before
// them, all are for these.
int64_t bucket_of(int64_t distance, int64_t buckets, bool causal);

// The tensor [buckets, heads] of a layer, whose name is "enc.blk.N.", which may
// be that of the first one.
std::string relative_bias_tensor(const gguf::File& file,
                                 const TensorNames& names,
                                 const std::string& layer);

// The weight that holds relative_biases; no tensor of a file has this name.
std::string distances_weight_name(const std::string& tensor);
// The tensor that such a weight is made of; nullptr for another weight.
const gguf::Tensor* tensor_of_distances(const gguf::File& file,
                                        const std::string& weight);

// Adds these weights of a model's layers, each [heads, kDistanceSpan]. Throws
// RC_E_FORMAT for a tensor that is missing or misshapen.
void make_relative_biases(const gguf::File& file,
                          const Architecture& architecture,
                          const HyperParameters& hyper, MadeWeights& made);

}  // namespace rc::model
