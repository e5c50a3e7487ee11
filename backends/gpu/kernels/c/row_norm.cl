// RMS_NORM, and LAYER_NORM of rows: a group does one vector of d elements. See
// norm.cl.
//
// Defined by the host: CENTER, 1 if the mean is taken away.

#include "common.cl"
#include "norm.cl"

KERNEL(row_norm)
(COUNTS, INPUT(x), INPUT(weight), INPUT(bias), OUTPUT(out), ROW_PARAMETERS,
 uint d, uint has_weight, uint has_bias, float epsilon) {
  NORM_ROOM
  OPEN_INPUT(float, x)
  OPEN_INPUT(float, weight)
  OPEN_INPUT(float, bias)
  OPEN_OUTPUT(float, out)
  const ulong vector = get_global_id(1) * get_num_groups(0) + get_group_id(0);
  norm(x + vector * d, has_weight ? weight : 0, has_bias ? bias : 0,
       out + vector * d, d, epsilon, CENTER, parts);
}
