// ROPE of rows: a group turns `group_heads` heads of a row.

#include "common.cl"
#include "turn.cl"

KERNEL(rope)
(COUNTS, INPUT(x), INPUT(positions), INPUT(frequencies), OUTPUT(out),
 ROW_PARAMETERS, uint d, uint pairs, uint halves, float scale, uint heads,
 uint group_heads) {
  OPEN_INPUT(float, x)
  OPEN_INPUT(int, positions)
  OPEN_INPUT(float, frequencies)
  OPEN_OUTPUT(float, out)
  const ulong row = get_global_id(1);
  const uint first = get_group_id(0) * group_heads;
  const ulong at = (row * heads + first) * d;
  turn(x + at, convert_float(positions[row]), frequencies, out + at,
       min(group_heads, heads - first), d, pairs, halves, scale,
       get_local_id(0), GROUP_ITEMS);
}
