// ROPE of rows: a group turns `group_heads` heads of a row.

#include "common.cl"
#include "turn.cl"

#define BUFFERS(INPUT, OUTPUT)                        \
  COUNTS(INPUT) INPUT(float, x) INPUT(int, positions) \
  INPUT(float, frequencies) OUTPUT(float, out)
#define PARAMETERS(P)                                                         \
  ROW_PARAMETERS(P) P(uint, d) P(uint, pairs) P(uint, halves) P(float, scale) \
  P(uint, heads) P(uint, group_heads)
KERNEL(rope) {
  OPEN
  const ulong row = get_global_id(1);
  const uint first = get_group_id(0) * group_heads;
  const ulong at = (row * heads + first) * d;
  turn(x + at, convert_float(positions[row]), frequencies, out + at,
       min(group_heads, heads - first), d, pairs, halves, scale,
       get_local_id(0), GROUP_ITEMS);
}
