// Rotary frequencies of a model, with the scaling that stretches its context.
#pragma once

#include <span>
#include <vector>

#include "model/hyper_parameters.h"

namespace rc::model {

struct Rope {
  std::vector<float>
      frequencies;     // [rope_dimensions / 2], radians per position
  float scale = 1.0f;  // of cosine and sine
};

// `factors` divide the frequencies; empty: none. They stand for the llama3
// scaling where a file has them.
Rope make_rope(const HyperParameters& hyper, std::span<const float> factors);

}  // namespace rc::model
