// RC_FUNCTION_* and RC_UNARY_* of a number.
float apply(uint function, float x) {
  switch (function) {
    case 1:
      return x < 0.0 ? 0.0 : x;  // a NaN stays
    case 2:
      return 1.0 / (1.0 + exact_exp(-x));
    case 3:
      return exact_tanh(x);
    case 4:
      return x / (1.0 + exact_exp(-x));
    case 5:
      return 0.5 * x * (1.0 + exact_erf(x * 0.7071067812));
    case 6:
      return 0.5 * x *
             (1.0 + exact_tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    case 7:
      return x / (1.0 + exact_exp(-1.702 * x));
    case 32:
      return exact_exp(x);
    case 33:
      return exact_log(x);
    case 34:
      return sqrt(x);
    case 35:
      return abs(x);
    case 36:
      return -x;
  }
  return x;
}

// RC_BINARY_* of two.
float apply_to_two(uint function, float a, float b) {
  switch (function) {
    case 0:
      return a + b;
    case 1:
      return a * b;
    case 2:
      return a - b;
    case 3:
      return a / b;
    case 4:
      return exact_pow(a, b);
    case 5:  // a NaN of either stays
      return isnan(a) || a < b ? a : b;
    case 6:
      return isnan(a) || a > b ? a : b;
    case 7:
      return a == b ? 1.0 : 0.0;
    case 8:
      return a < b ? 1.0 : 0.0;
    case 9:
      return a <= b ? 1.0 : 0.0;
    case 10:
      return a == b ? 0.0 : 1.0;
    case 11:
      return a > b ? 1.0 : 0.0;
  }
  return a >= b ? 1.0 : 0.0;
}
