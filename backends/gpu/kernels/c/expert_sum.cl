// EXPERT_SUM: a work-item gives LANES elements of a row of `width`.

#include "common.cl"
#include "some.cl"

#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, weights) OUTPUT(float, out)
#define PARAMETERS(P) \
  ROW_PARAMETERS(P) P(uint, width) P(uint, chosen)
KERNEL(expert_sum) {
  OPEN
  const int column = COLUMN;
  if (column >= (int)width) return;
  const int count = width - column;
  const ulong row = get_global_id(1);
  floatL sum = 0.0f;
  for (uint c = 0; c < chosen; ++c) {
    const ulong choice = row * chosen + c;
    sum = MULTIPLY_ADD((floatL)(weights[choice]),
                       load_some(x + choice * width + column, count), sum);
  }
  store_some(sum, out + row * width + column, count);
}
