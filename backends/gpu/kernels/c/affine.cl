// AFFINE: a work-item gives LANES elements of a row of `width`.

#include "common.cl"
#include "some.cl"
#include "functions.cl"

#define BUFFERS(INPUT, OUTPUT)                                          \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, weight) INPUT(float, bias) \
  OUTPUT(float, out)
#define PARAMETERS(P) \
  ROW_PARAMETERS(P) P(uint, width) P(uint, has_weight) P(uint, has_bias)
KERNEL(affine) {
  OPEN
  const int column = COLUMN;
  if (column >= (int)width) return;
  const int count = width - column;
  const ulong at = get_global_id(1) * width + column;
  floatL y = load_some(x + at, count);
  if (has_weight) y = y * load_some(weight + column, count);
  if (has_bias) y = y + load_some(bias + column, count);
  store_some(y, out + at, count);
}
