// XIELU: a work-item gives LANES elements of a row of `width`.

#include "common.cl"
#include "some.cl"
#include "functions.cl"

#define BUFFERS(INPUT, OUTPUT) COUNTS(INPUT) INPUT(float, x) OUTPUT(float, out)
#define PARAMETERS(P)                                                 \
  ROW_PARAMETERS(P) P(uint, width) P(float, alpha_p) P(float, alpha_n) \
  P(float, beta) P(float, epsilon)
KERNEL(xielu) {
  OPEN
  const int column = COLUMN;
  if (column >= (int)width) return;
  const int count = width - column;
  const ulong at = get_global_id(1) * width + column;
  const floatL v = load_some(x + at, count);
  // Not above epsilon, nor above 1, where only the other branch counts: there
  // exp(v) - 1 is 2 t / (1 - t) with t = tanh(v / 2) and loses no digits.
  const floatL low = CHOOSE((floatL)(fmin(epsilon, 1.0f)), v, v < epsilon);
  const floatL t = tanh(0.5f * low);
  const floatL below = alpha_n * (2.0f * t / (1.0f - t) - v);
  const floatL above = alpha_p * v * v;
  store_some(CHOOSE(below, above, v > 0.0f) + beta * v, out + at, count);
}
