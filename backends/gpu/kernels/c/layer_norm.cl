// LAYER_NORM of tensors: a group does one vector of d elements. See norm.cl.

#include "common.cl"
#include "norm.cl"
#include "tensor.cl"

KERNEL(layer_norm)
(COUNTS, INPUT(x), INPUT(weight), INPUT(bias), OUTPUT(y), GROUP_PARAMETERS,
 uint x_base, uint weight_base, uint bias_base, uint y_base, uint d,
 uint center, uint has_weight, uint has_bias, float epsilon) {
  NORM_ROOM
  OPEN_INPUT(float, x)
  OPEN_INPUT(float, weight)
  OPEN_INPUT(float, bias)
  OPEN_OUTPUT(float, y)
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  norm(x + x_base + (ulong)group * d, has_weight ? weight + weight_base : 0,
       has_bias ? bias + bias_base : 0, y + y_base + (ulong)group * d, d,
       epsilon, center, parts);
}
