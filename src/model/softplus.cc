#include "model/softplus.h"

#include <iterator>
#include <numbers>
#include <string>

#include "base/cat.h"

namespace rc::model {
namespace {

using runtime::Value;

// With u = exp(-|x|), softplus(x) = max(x, 0) + ln(1 + u), and
// ln(1 + u) = 2 atanh(s) where s = u / (2 + u) = sigmoid(-|x| - ln 2), which is
// at most 1/3. That is s times a polynomial of s * s, here interpolated at the
// Chebyshev nodes of 0 to 1/9 (relative error 4e-9). The first factor is that
// of the highest power.
constexpr float kSoftplusFactors[] = {0.28157778f, 0.27965158f, 0.40024595f,
                                      0.66666322f, 2.00000001f};
constexpr auto kMinusLogarithm = static_cast<float>(-std::numbers::ln2);
constexpr float kMinusTwo = -2.0f;

// The name of the weight that holds `value` so many times; no tensor of a file
// has it.
std::string constant_weight_name(float value, int64_t size) {
  return cat("(", size, " times ", value, ")");
}

}  // namespace

void make_softplus(int64_t size, MadeWeights& made) {
  const auto make = [&](float value) {
    made.try_emplace(constant_weight_name(value, size),
                     std::vector<float>(static_cast<size_t>(size), value));
  };
  for (const float factor : kSoftplusFactors) make(factor);
  make(kMinusLogarithm);
  make(kMinusTwo);
}

Value add_softplus(runtime::ProgramBuilder& builder, Value x) {
  const int64_t size = builder.shape(x).back();
  const auto constant = [&](float value) {
    return builder.weight(constant_weight_name(value, size), RC_DTYPE_F32,
                          {size}, RC_USE_ELEMENTS);
  };
  const Value above = builder.unary(x, RC_FUNCTION_RELU);
  // -|x| - ln 2
  const Value below = builder.add(
      x, builder.affine(above, constant(kMinusTwo), constant(kMinusLogarithm)));
  const Value s = builder.unary(below, RC_FUNCTION_SIGMOID);
  const Value square = builder.multiply(s, s);
  Value sum = builder.affine(square, constant(kSoftplusFactors[0]),
                             constant(kSoftplusFactors[1]));
  for (size_t i = 2; i < std::size(kSoftplusFactors); ++i) {
    sum = builder.affine(builder.multiply(sum, square), runtime::kAbsent,
                         constant(kSoftplusFactors[i]));
  }
  return builder.add(above, builder.multiply(s, sum));
}

}  // namespace rc::model
