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

// Rows `first` to `first` + `count` - 1 of each `period` rows, which belong to
// a head. Turned: as F32, and for each head the rows become columns.
struct RowsOfHeads {
  int64_t first = 0;
  int64_t count = 0;
  int64_t period = 0;
  bool turned = false;
};
// "blk.0.attn_q_b.weight[0:128 of 192]", "[0:128 of 192, turned]".
std::string name_of_rows(const std::string& tensor, const RowsOfHeads& rows);
// Nothing for another name.
std::optional<RowsOfHeads> rows_of_heads(const std::string& weight);

// The tensor that a weight's name stands for, or nullptr if the file has none.
const gguf::Tensor* tensor_of_weight(const gguf::File& file,
                                     const std::string& name);

// The tensor as if it had only the rows that the weight's name asks for. They
// must be within it, as Weights checks. Of rows of heads type, shape and size
// are right, and the place is that of the whole tensor.
gguf::Tensor rows_of_weight(const gguf::Tensor& tensor,
                            const std::string& name);

}  // namespace rc::model
