// Which tensors the files of an architecture have, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/architecture.h"

namespace rc::model {

struct ReadTensor {
  std::string stem;  // "attn_q": see stem_of
  bool always;       // in every file, and of layers in at least one
};

// All that the forward pass of the architecture may read.
std::vector<ReadTensor> tensors_of(const Architecture& architecture);

// "blk.3.attn_q.bias" -> "attn_q", "enc.blk.3.attn_q.weight" -> "enc.attn_q"
std::string stem_of(std::string_view tensor);

// Of `known` those that have the tensors of the file, by their names: all of
// the file's, and none more that is always there. Of these those that may have
// the fewest others. Empty if the file fits none.
std::vector<std::string_view> nearest_architectures(
    const gguf::File& file, std::span<const Architecture* const> known);

}  // namespace rc::model
