// Ops that look at one element at a time.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/ops.h"

namespace rc::reference {
namespace {

// Gives each element of the output, from its number.
template <class Function>
void each(const Call& call, Function function) {
  const Tensor& output = call.outputs[0];
  const int64_t width = output.row_size();
  for (int64_t r = 0; r < output.rows(); ++r) {
    call.check_stop();
    for (int64_t i = r * width; i < (r + 1) * width; ++i) {
      output.put(i, function(i));
    }
  }
}

// The number of the element of an input that a broadcast repeats for an
// element of the output.
class Broadcast {
 public:
  Broadcast(const Tensor& input, const Tensor& output)
      : output_(output), strides_{} {
    int64_t stride = 1;
    for (int i = 1; i <= input.rank; ++i) {
      const int64_t dimension = input.shape[input.rank - i];
      strides_[output.rank - i] = dimension == 1 ? 0 : stride;
      stride *= dimension;
    }
  }
  int64_t operator()(int64_t element) const {
    int64_t number = 0;
    for (int i = output_.rank - 1; i >= 0; --i) {
      number += element % output_.shape[i] * strides_[i];
      element /= output_.shape[i];
    }
    return number;
  }

 private:
  const Tensor& output_;
  std::array<int64_t, RC_PLUGIN_MAX_RANK> strides_;
};

}  // namespace

double apply(int32_t function, double x) {
  switch (function) {
    case RC_FUNCTION_NONE:
      return x;
    case RC_FUNCTION_RELU:
      // A NaN stays.
      return x < 0 ? 0 : x;
    case RC_FUNCTION_SIGMOID:
      return 1 / (1 + std::exp(-x));
    case RC_FUNCTION_TANH:
      return std::tanh(x);
    case RC_FUNCTION_SILU:
      return x / (1 + std::exp(-x));
    case RC_FUNCTION_GELU:
      // 1 + erf(v), which cancels far below 0.
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case RC_FUNCTION_GELU_TANH:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) *
                            (x + 0.044715 * x * x * x)));
    case RC_FUNCTION_GELU_QUICK:
      return x / (1 + std::exp(-1.702 * x));
    case RC_UNARY_EXP:
      return std::exp(x);
    case RC_UNARY_LOG:
      return std::log(x);
    case RC_UNARY_SQRT:
      return std::sqrt(x);
    case RC_UNARY_ABS:
      return std::fabs(x);
    case RC_UNARY_NEG:
      return -x;
  }
  fail(RC_E_INTERNAL, "function ", function, " passed the checks");
}

namespace {

// Rounding what is computed in double precision gives the nearest float: the
// double of a sum, a product or a quotient of floats has digits enough for it,
// and the float of one of halves for those.
double apply_to_two(int32_t function, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  switch (function) {
    case RC_BINARY_ADD:
      return a + b;
    case RC_BINARY_MUL:
      return a * b;
    case RC_BINARY_SUB:
      return a - b;
    case RC_BINARY_DIV:
      return a / b;
    case RC_BINARY_POW:
      return std::pow(a, b);
    case RC_BINARY_MINIMUM:
      return unordered ? a + b : std::min(a, b);
    case RC_BINARY_MAXIMUM:
      return unordered ? a + b : std::max(a, b);
    case RC_BINARY_EQUAL:
      return a == b;
    case RC_BINARY_LESS:
      return a < b;
    case RC_BINARY_LESS_EQUAL:
      return a <= b;
    case RC_BINARY_NOT_EQUAL:
      return a != b;
    case RC_BINARY_GREATER:
      return a > b;
    case RC_BINARY_GREATER_EQUAL:
      return a >= b;
  }
  fail(RC_E_INTERNAL, "function ", function, " passed the checks");
}

void unary(const Call& call) {
  const Tensor& x = call.inputs[0];
  const int32_t function = call.op.params.unary.function;
  each(call, [&](int64_t i) { return apply(function, x.number(i)); });
}

void binary(const Call& call) {
  const Tensor& a = call.inputs[0];
  const Tensor& b = call.inputs[1];
  const Broadcast from_a(call.inputs[0], call.outputs[0]);
  const Broadcast from_b(call.inputs[1], call.outputs[0]);
  const int32_t function = call.op.params.binary.function;
  each(call, [&](int64_t i) {
    return apply_to_two(function, a.number(from_a(i)), b.number(from_b(i)));
  });
}

void where(const Call& call) {
  const Tensor& condition = call.inputs[0];
  const Tensor& a = call.inputs[1];
  const Tensor& b = call.inputs[2];
  const Broadcast from_condition(call.inputs[0], call.outputs[0]);
  const Broadcast from_a(call.inputs[1], call.outputs[0]);
  const Broadcast from_b(call.inputs[2], call.outputs[0]);
  each(call, [&](int64_t i) {
    return condition.number(from_condition(i)) != 0 ? a.number(from_a(i))
                                                    : b.number(from_b(i));
  });
}

void glu(const Call& call) {
  const float* gate = call.inputs[0].floats();
  const float* up = call.inputs[1].floats();
  const auto params = call.op.params.glu;
  // Comparisons such that a NaN stays.
  const auto limited = [&](double x, bool from_below) {
    const double limit = params.limit;
    if (limit <= 0) return x;
    return x > limit ? limit : from_below && x < -limit ? -limit : x;
  };
  each(call, [&](int64_t i) {
    return apply(params.function, limited(gate[i], false)) *
           (limited(up[i], true) + params.offset);
  });
}

void add(const Call& call) {
  const float* a = call.inputs[0].floats();
  const float* b = call.inputs[1].floats();
  each(call, [&](int64_t i) { return a[i] + b[i]; });
}

void multiply(const Call& call) {
  const float* a = call.inputs[0].floats();
  const float* b = call.inputs[1].floats();
  each(call, [&](int64_t i) { return a[i] * b[i]; });
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

void clamp(const Call& call) {
  const float* x = call.inputs[0].floats();
  const float limit = call.op.params.clamp.limit;
  // A NaN stays.
  each(call, [&](int64_t i) {
    return x[i] > limit ? limit : x[i] < -limit ? -limit : x[i];
  });
}

void affine(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Tensor& bias = call.inputs[2];
  const int64_t width = x.row_size();
  each(call, [&](int64_t i) {
    double y = x.floats()[i];
    if (weight) y *= weight.floats()[i % width];
    if (bias) y += bias.floats()[i % width];
    return y;
  });
}

void xielu(const Call& call) {
  const float* x = call.inputs[0].floats();
  const auto params = call.op.params.xielu;
  const double epsilon = params.epsilon;
  each(call, [&](int64_t i) {
    const double v = x[i];
    const double bent =
        v > 0 ? params.alpha_p * v * v
              : params.alpha_n * (std::expm1(v < epsilon ? v : epsilon) - v);
    return bent + params.beta * v;
  });
}

}  // namespace

std::span<const OpRow> elementwise_ops() {
  static constexpr OpRow kOps[] = {
      {RC_OP_UNARY, unary}, {RC_OP_BINARY, binary},
      {RC_OP_WHERE, where}, {RC_OP_GLU, glu},
      {RC_OP_ADD, add},     {RC_OP_MULTIPLY, multiply},
      {RC_OP_SCALE, scale}, {RC_OP_SOFTCAP, softcap},
      {RC_OP_CLAMP, clamp}, {RC_OP_AFFINE, affine},
      {RC_OP_XIELU, xielu}};
  return kOps;
}

}  // namespace rc::reference
