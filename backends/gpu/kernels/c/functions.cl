// Functions of one number, by the numbers that types.h and plugin_ops.h give
// them, and of two, by those of plugin_ops.h.

INLINE floatL sigmoid(floatL x) { return 1.0f / (1.0f + exp(-x)); }

INLINE floatL gelu(floatL x) {
  return 0.5f * x * erfc(-0.70710678118f * x);
}

INLINE floatL gelu_tanh(floatL x) {
  // Some devices' tanh is not exactly -1 far out, and x would enlarge the rest.
  const floatL cubic = 0.044715f * x * x * x;
  const floatL inner = 0.7978845608f * (x + cubic);
  const floatL twice = 1.0f + tanh(inner);
  return 0.5f * x * CHOOSE(twice, (floatL)(0.0f), inner < -20.0f);
}

// RC_FUNCTION_* and RC_UNARY_*.
INLINE floatL apply(int function, floatL x) {
  // A NaN stays.
  if (function == 1) return CHOOSE(x, (floatL)(0.0f), x < 0.0f);
  if (function == 2) return sigmoid(x);
  if (function == 3) return tanh(x);
  if (function == 4) return x / (1.0f + exp(-x));
  if (function == 5) return gelu(x);
  if (function == 6) return gelu_tanh(x);
  if (function == 7) return x / (1.0f + exp(-1.702f * x));
  if (function == 32) return exp(x);
  if (function == 33) return log(x);
  if (function == 34) return sqrt(x);
  if (function == 35) return fabs(x);
  if (function == 36) return -x;
  return x;
}

// RC_BINARY_*.
INLINE floatL apply_to_two(int function, floatL a, floatL b) {
  const floatL no = (floatL)(0.0f);
  const floatL yes = (floatL)(1.0f);
  if (function == 0) return a + b;
  if (function == 1) return a * b;
  if (function == 2) return a - b;
  if (function == 3) return a / b;
  if (function == 4) return pow(a, b);
  // A NaN of b is never the larger or the smaller one, one of a stays.
  if (function == 5) return CHOOSE(CHOOSE(b, a, a < b), a, a != a);
  if (function == 6) return CHOOSE(CHOOSE(b, a, a > b), a, a != a);
  if (function == 7) return CHOOSE(no, yes, a == b);
  if (function == 8) return CHOOSE(no, yes, a < b);
  if (function == 9) return CHOOSE(no, yes, a <= b);
  if (function == 10) return CHOOSE(no, yes, a != b);
  if (function == 11) return CHOOSE(no, yes, a > b);
  return CHOOSE(no, yes, a >= b);
}
