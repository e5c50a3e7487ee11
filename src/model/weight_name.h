// Names of the weights of a program: those of tensors, or, for some rows of a
// tensor, its name with their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/gguf/file.h"

namespace rc::model {

// "blk.0.ssm_in.weight[128:256]": the rows from `first` on, the slowest
// dimension being that of the rows.
std::string name_of_rows(const std::string& tensor, int64_t first,
                         int64_t count);

// "blk.3.attn_q.weight[0:128%256]": the first 128 of each 256 rows.
std::string name_of_pieces(const std::string& tensor, int64_t first,
                           int64_t count, int64_t step);

// The tensor that a weight's name stands for, or nullptr if the file has none.
const gguf::Tensor* tensor_of_weight(const gguf::File& file,
                                     const std::string& name);

// The tensor as if it had only the rows that the weight's name asks for. They
// must be within it, as Weights checks.
gguf::Tensor rows_of_weight(const gguf::Tensor& tensor,
                            const std::string& name);

// Where the pieces of such a weight lie within its tensor, in bytes.
struct WeightPieces {
  uint64_t first, bytes, step;
};
// Nothing for a weight whose rows follow each other; rows_of_weight() is for
// those.
std::optional<WeightPieces> pieces_of_weight(const gguf::Tensor& tensor,
                                             const std::string& name);
bool has_pieces(const std::string& name);

}  // namespace rc::model
