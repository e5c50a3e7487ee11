// Functions of one number, by the numbers that types.h gives them.

INLINE floatL sigmoid(floatL x) { return 1.0f / (1.0f + exp(-x)); }

INLINE floatL gelu(floatL x) {
  return 0.5f * x * erfc(-0.70710678118f * x);
}

INLINE floatL gelu_tanh(floatL x) {
  const floatL cubic = 0.044715f * x * x * x;
  return 0.5f * x * (1.0f + tanh(0.7978845608f * (x + cubic)));
}

// RC_FUNCTION_*.
INLINE floatL apply(int function, floatL x) {
  // A NaN stays.
  if (function == 1) return CHOOSE(x, (floatL)(0.0f), x < 0.0f);
  if (function == 2) return sigmoid(x);
  if (function == 3) return tanh(x);
  if (function == 4) return x / (1.0f + exp(-x));
  if (function == 5) return gelu(x);
  if (function == 6) return gelu_tanh(x);
  if (function == 7) return x / (1.0f + exp(-1.702f * x));
  return x;
}
