// LAYER_NORM of tensors: a group does one vector of d elements. See norm.cl.

#include "common.cl"
#include "norm.cl"
#include "tensor.cl"

#define BUFFERS(INPUT, OUTPUT)                                          \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, weight) INPUT(float, bias) \
  OUTPUT(float, y)
#define PARAMETERS(P)                                                         \
  GROUP_PARAMETERS(P) P(uint, x_base) P(uint, weight_base) P(uint, bias_base) \
  P(uint, y_base) P(uint, d) P(uint, center) P(uint, has_weight)              \
  P(uint, has_bias) P(float, epsilon)
KERNEL(layer_norm) {
  OPEN
  NORM_ROOM
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  norm(x + x_base + (ulong)group * d, has_weight ? weight + weight_base : 0,
       has_bias ? bias + bias_base : 0, y + y_base + (ulong)group * d, d,
       epsilon, center, parts);
}
