// The weights of elements that follow from an importance.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "files/gguf/file.h"
#include "files/importance/read.h"

namespace rc::quantize {

class Weights {
 public:
  // Throws RC_E_FORMAT if it is of a model with other matrices.
  Weights(const importance::Importance& importance, const gguf::File& file);

  // Of a tensor: [experts, columns], all above 0, or [1, columns] for all
  // experts; empty: it has none.
  std::span<const float> of(std::string_view tensor) const;
  // Returns the number of tensors with weights.
  size_t count() const { return values_.size(); }

 private:
  std::map<std::string_view, std::vector<float>> values_;
};

}  // namespace rc::quantize
