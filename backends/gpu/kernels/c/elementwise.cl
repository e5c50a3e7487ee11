// Ops that look at one element at a time: GLU, UNARY, ADD, SCALE, SOFTCAP,
// MULTIPLY, CLAMP. A work-item gives LANES elements of a row of `width`.
//
// Defined by the host: KIND, one of the numbers below; from UNARY on UNARY with
// RC_FUNCTION_* KIND - UNARY; else GLU with this RC_FUNCTION_*.

#include "common.cl"
#include "some.cl"
#include "functions.cl"

#define ADD 16
#define SCALE 17
#define SOFTCAP 18
#define MULTIPLY 19
#define CLAMP 20
#define UNARY 32

#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(float, a) INPUT(float, b) OUTPUT(float, out)
#define PARAMETERS(P) \
  ROW_PARAMETERS(P) P(uint, width) P(float, factor) P(float, offset)
KERNEL(elementwise) {
  OPEN
  const int column = COLUMN;
  if (column >= (int)width) return;
  const int count = width - column;
  const ulong at = get_global_id(1) * width + column;
  const floatL x = load_some(a + at, count);
  floatL y;
  if (KIND == ADD) {
    y = x + load_some(b + at, count);
  } else if (KIND == MULTIPLY) {
    y = x * load_some(b + at, count);
  } else if (KIND == SCALE) {
    y = x * factor;
  } else if (KIND == SOFTCAP) {
    y = factor * tanh(x / factor);
  } else if (KIND == CLAMP) {
    // A NaN stays.
    y = CHOOSE(x, (floatL)(factor), x > factor);
    y = CHOOSE(y, (floatL)(-factor), x < -factor);
  } else if (KIND >= UNARY) {
    y = apply(KIND - UNARY, x);
  } else {
    floatL gate = x;
    floatL up = load_some(b + at, count);
    if (factor > 0.0f) {
      // The limit. A NaN stays.
      gate = CHOOSE(gate, (floatL)(factor), gate > factor);
      up = CHOOSE(up, (floatL)(factor), up > factor);
      up = CHOOSE(up, (floatL)(-factor), up < -factor);
    }
    y = apply(KIND, gate) * (up + offset);
  }
  store_some(y, out + at, count);
}
