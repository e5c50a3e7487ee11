// RMS_NORM, GROUP_NORM, and LAYER_NORM of rows: a group does one vector of d
// elements; from one vector of a row to the next, weights are weight_step apart.
// See norm.cl.
//
// Defined by the host: CENTER, 1 if the mean is taken away.

#include "common.cl"
#include "norm.cl"

#define BUFFERS(INPUT, OUTPUT)                                          \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, weight) INPUT(float, bias) \
  OUTPUT(float, out)
#define PARAMETERS(P)                                                \
  ROW_PARAMETERS(P) P(uint, d) P(uint, has_weight) P(uint, has_bias) \
  P(float, epsilon) P(uint, weight_step)
KERNEL(row_norm) {
  OPEN
  NORM_ROOM
  const ulong vector = get_global_id(1) * get_num_groups(0) + get_group_id(0);
  weight += get_group_id(0) * weight_step;
  norm(x + vector * d, has_weight ? weight : 0, has_bias ? bias : 0,
       out + vector * d, d, epsilon, CENTER, parts);
}
