// Rotary frequencies of a model, with the scaling that stretches its context.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rc::model {

enum class RopeScaling { kNone, kLinear, kYarn, kLlama3 };

struct RopeParameters {
  int64_t dimensions = 0;  // of a head that turn
  float base = 10000.0f;
  RopeScaling scaling = RopeScaling::kNone;
  float factor = 1.0f;
  int64_t original_context = 0;
  float yarn_beta_fast = 32.0f;
  float yarn_beta_slow = 1.0f;
  float yarn_extrapolation = 1.0f;  // share of the unscaled angles where kept
  // Yarn's own formula scales cosine and sine.
  bool yarn_scales = true;
  // The ends of yarn's ramp are rounded to whole pairs.
  bool whole_yarn_pairs = true;
  float low_frequency = 1.0f;  // of llama3, in turns per original context
  float high_frequency = 4.0f;
  // Multiplies cosine and sine, in addition to the factor of yarn's own
  // formula.
  float attention_factor = 1.0f;
};

struct Rope {
  std::vector<float> frequencies;  // [dimensions / 2], radians per position
  float scale = 1.0f;              // of cosine and sine
};

// `factors` divide the frequencies; empty: none. They stand for the llama3
// scaling where a file has them.
Rope make_rope(const RopeParameters& parameters,
               std::span<const float> factors);

}  // namespace rc::model
