// ROPE of tensors: a group turns `group_heads` heads of a row.

#include "common.cl"
#include "tensor.cl"
#include "turn.cl"

KERNEL(tensor_rope)
(COUNTS, INPUT(x), INPUT(positions), INPUT(frequencies), OUTPUT(y),
 GROUP_PARAMETERS, uint x_base, uint positions_base, uint frequencies_base,
 uint y_base, uint heads, uint group_heads, uint d, uint pairs, uint halves,
 float scale) {
  OPEN_INPUT(float, x)
  OPEN_INPUT(int, positions)
  OPEN_INPUT(float, frequencies)
  OPEN_OUTPUT(float, y)
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
