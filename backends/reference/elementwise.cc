// Ops that look at one element at a time.
#include <cmath>
#include <numbers>

#include "reference/ops.h"

namespace rc::reference {
namespace {

double activate(int32_t activation, double x) {
  switch (activation) {
    case RC_ACTIVATION_SILU:
      return x / (1 + std::exp(-x));
    case RC_ACTIVATION_GELU_TANH:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) *
                            (x + 0.044715 * x * x * x)));
    case RC_ACTIVATION_GELU:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case RC_ACTIVATION_RELU:
      return x > 0 ? x : 0;
  }
  fail(RC_E_INTERNAL, "activation ", activation, " passed the checks");
}

// Gives each element of the output, from its number.
template <class Function>
void each(const Call& call, Function function) {
  const Tensor& output = call.outputs[0];
  const int64_t width = output.row_size();
  for (int64_t r = 0; r < output.rows(); ++r) {
    call.check_stop();
    for (int64_t i = r * width; i < (r + 1) * width; ++i) {
      output.floats()[i] = static_cast<float>(function(i));
    }
  }
}

}  // namespace

void glu(const Call& call) {
  const float* gate = call.inputs[0].floats();
  const float* up = call.inputs[1].floats();
  each(call, [&](int64_t i) {
    return activate(call.op.params.glu.activation, gate[i]) * up[i];
  });
}

void add(const Call& call) {
  const float* a = call.inputs[0].floats();
  const float* b = call.inputs[1].floats();
  each(call, [&](int64_t i) { return a[i] + b[i]; });
}

void scale(const Call& call) {
  const float* x = call.inputs[0].floats();
  const float factor = call.op.params.scale.factor;
  each(call, [&](int64_t i) { return x[i] * factor; });
}

void softcap(const Call& call) {
  const float* x = call.inputs[0].floats();
  const double cap = call.op.params.softcap.cap;
  each(call, [&](int64_t i) { return cap * std::tanh(x[i] / cap); });
}

}  // namespace rc::reference
