// RC_FUNCTION_* of a number.
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
  }
  return x;
}
