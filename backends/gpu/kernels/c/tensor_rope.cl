// ROPE of tensors: a group turns `group_heads` heads of a row.

#include "common.cl"
#include "tensor.cl"
#include "turn.cl"

#define BUFFERS(INPUT, OUTPUT)                        \
  COUNTS(INPUT) INPUT(float, x) INPUT(int, positions) \
  INPUT(float, frequencies) OUTPUT(float, y)
#define PARAMETERS(P)                                            \
  GROUP_PARAMETERS(P) P(uint, x_base) P(uint, positions_base)    \
  P(uint, frequencies_base) P(uint, y_base) P(uint, heads)       \
  P(uint, group_heads) P(uint, d) P(uint, pairs) P(uint, halves) \
  P(float, scale)
KERNEL(tensor_rope) {
  OPEN
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  const uint row_groups = (heads + group_heads - 1) / group_heads;
  const uint row = group / row_groups;
  const uint first = group % row_groups * group_heads;
  const ulong at = ((ulong)row * heads + first) * d;
  turn(x + x_base + at, convert_float(positions[positions_base + row]),
       frequencies + frequencies_base, y + y_base + at,
       min(group_heads, heads - first), d, pairs, halves, scale,
       get_local_id(0), GROUP_ITEMS);
}
