// EXPERT_SUM: a work-item gives LANES elements of a row of `width`.

#include "common.cl"
#include "some.cl"

KERNEL(expert_sum)
(COUNTS, INPUT(x), INPUT(weights), OUTPUT(out), ROW_PARAMETERS, uint width,
 uint chosen) {
  OPEN_INPUT(float, x)
  OPEN_INPUT(float, weights)
  OPEN_OUTPUT(float, out)
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
