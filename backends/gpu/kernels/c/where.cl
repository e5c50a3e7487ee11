// WHERE: a work-item gives LANES elements at a time.
//
// Defined by the host: BROADCAST.

#include "common.cl"
#include "some.cl"
#include "tensor.cl"
#include "operand.cl"

// The shape is that of the output.
#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT)                \
  INPUT(float, c) INPUT(float, a) INPUT(float, b) OUTPUT(float, y)
#define PARAMETERS(P)                                                  \
  GROUP_PARAMETERS(P) P(uint, c_base) P(uint, a_base) P(uint, b_base)  \
  P(uint, y_base) P(uint, count) P(Four, shape) P(Four, c_strides)     \
  P(Four, a_strides) P(Four, b_strides)
KERNEL(where) {
  OPEN
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  const uint begin = group * GROUP_ELEMENTS;
  const uint end = min(begin + GROUP_ELEMENTS, count);
  for (uint i = begin + get_local_id(0) * LANES; i < end;
       i += GROUP_ITEMS * LANES) {
    const int some = min((uint)LANES, end - i);
    const floatL chosen = operand(c + c_base, i, some, &shape, &c_strides);
    const floatL u = operand(a + a_base, i, some, &shape, &a_strides);
    const floatL v = operand(b + b_base, i, some, &shape, &b_strides);
    // A NaN is not 0.
    store_some(CHOOSE(u, v, chosen == 0.0f), y + y_base + i, some);
  }
}
