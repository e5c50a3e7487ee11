// Names of the weights of a program: those of tensors, or, for some rows of a
// tensor, its name with their numbers.
#pragma once

#include <cstdint>
#include <string>

#include "files/gguf/file.h"

namespace rc::model {

// "blk.0.ssm_in.weight[128:256]": the rows from `first` on, the slowest
// dimension being that of the rows.
std::string name_of_rows(const std::string& tensor, int64_t first,
                         int64_t count);

// The tensor that a weight's name stands for, or nullptr if the file has none.
const gguf::Tensor* tensor_of_weight(const gguf::File& file,
                                     const std::string& name);

// The tensor as if it had only the rows that the weight's name asks for. They
// must be within it, as Weights checks.
gguf::Tensor rows_of_weight(const gguf::Tensor& tensor,
                            const std::string& name);

}  // namespace rc::model
