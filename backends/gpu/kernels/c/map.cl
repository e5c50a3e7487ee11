// UNARY and BINARY: a work-item gives LANES elements at a time.
//
// Defined by the host: FUNCTION, of one number RC_FUNCTION_* or RC_UNARY_*, of
// two OF_TWO more than RC_BINARY_*; BROADCAST, 0 if the elements of the operands are those of the
// output in order.

#include "common.cl"
#include "some.cl"
#include "functions.cl"
#include "tensor.cl"
#include "operand.cl"

#define OF_TWO 16

// The shape is that of the output.
#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(float, a) INPUT(float, b) OUTPUT(float, y)
#define PARAMETERS(P)                                                 \
  GROUP_PARAMETERS(P) P(uint, a_base) P(uint, b_base) P(uint, y_base) \
  P(uint, count) P(Four, shape) P(Four, a_strides) P(Four, b_strides)
KERNEL(map) {
  OPEN
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  const uint begin = group * GROUP_ELEMENTS;
  const uint end = min(begin + GROUP_ELEMENTS, count);
  for (uint i = begin + get_local_id(0) * LANES; i < end;
       i += GROUP_ITEMS * LANES) {
    const int some = min((uint)LANES, end - i);
    const floatL u = operand(a + a_base, i, some, &shape, &a_strides);
    floatL v;
    if (FUNCTION >= OF_TWO && FUNCTION < 32) {
      v = apply_to_two(FUNCTION - OF_TWO, u,
                       operand(b + b_base, i, some, &shape, &b_strides));
    } else {
      v = apply(FUNCTION, u);
    }
    store_some(v, y + y_base + i, some);
  }
}
