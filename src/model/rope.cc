#include "model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rc::model {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

// YaRN (Peng et al. 2023, arXiv:2309.00071, section 3.2): pairs that turn often
// within the original context keep their frequency, those that turn seldom are
// interpolated, with a linear ramp over the pairs between. Its ends are whole
// pairs, as in Hugging Face transformers and ggml, unless the architecture says
// otherwise (transformers: truncate = false).
class Yarn {
 public:
  explicit Yarn(const RopeParameters& parameters) : parameters_(parameters) {
    const double last = static_cast<double>(parameters.dimensions - 1);
    const double low = pair_of(parameters.yarn_beta_fast);
    const double high = pair_of(parameters.yarn_beta_slow);
    const bool whole = parameters.whole_yarn_pairs;
    low_ = std::max(0.0, whole ? std::floor(low) : low);
    high_ = std::min(last, whole ? std::ceil(high) : high);
  }

  double operator()(double frequency, int64_t pair) const {
    const double ramp = std::clamp(
        (static_cast<double>(pair) - low_) / std::max(high_ - low_, 0.001), 0.0,
        1.0);
    const double kept = (1.0 - ramp) * parameters_.yarn_extrapolation;
    return frequency * (kept + (1.0 - kept) / parameters_.factor);
  }

  // Ibid., equation 22: makes up for the flatter attention of long contexts.
  double scale() const {
    return 1.0 + 0.1 * std::log(std::max(1.0, double{parameters_.factor}));
  }

 private:
  // The (fractional) pair that makes `turns` turns in the original context.
  double pair_of(double turns) const {
    const auto context = static_cast<double>(parameters_.original_context);
    return static_cast<double>(parameters_.dimensions) *
           std::log(context / (turns * kTurn)) /
           (2.0 * std::log(double{parameters_.base}));
  }

  const RopeParameters& parameters_;
  double low_;
  double high_;
};

// Llama 3.1 (Grattafiori et al. 2024, arXiv:2407.21783, and the configuration
// of its release): as YaRN in idea, with a ramp over the number of turns.
double llama3(const RopeParameters& parameters, double frequency) {
  const double turns =
      frequency * static_cast<double>(parameters.original_context) / kTurn;
  const double kept =
      std::clamp((turns - parameters.low_frequency) /
                     (parameters.high_frequency - parameters.low_frequency),
                 0.0, 1.0);
  return frequency * (kept + (1.0 - kept) / parameters.factor);
}

}  // namespace

Rope make_rope(const RopeParameters& parameters,
               std::span<const float> factors) {
  Rope rope;
  rope.frequencies.resize(static_cast<size_t>(parameters.dimensions / 2));
  const Yarn yarn(parameters);
  for (size_t i = 0; i < rope.frequencies.size(); ++i) {
    double frequency = std::pow(static_cast<double>(parameters.base),
                                -2.0 * static_cast<double>(i) /
                                    static_cast<double>(parameters.dimensions));
    if (!factors.empty()) frequency /= factors[i];
    switch (parameters.scaling) {
      case RopeScaling::kNone:
        break;
      case RopeScaling::kLinear:
        frequency /= parameters.factor;
        break;
      case RopeScaling::kYarn:
        frequency = yarn(frequency, static_cast<int64_t>(i));
        break;
      case RopeScaling::kLlama3:
        if (factors.empty()) frequency = llama3(parameters, frequency);
        break;
    }
    rope.frequencies[i] = static_cast<float>(frequency);
  }
  double scale = parameters.attention_factor;
  if (parameters.scaling == RopeScaling::kYarn && parameters.yarn_scales) {
    scale *= yarn.scale();
  }
  rope.scale = static_cast<float>(scale);
  return rope;
}

}  // namespace rc::model
