// LAYER_NORM of tensors: a group does one vector of d elements. See norm.cl.

#include "common.cl"
#include "norm.cl"

// weight and bias may be NULL.
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
layer_norm(const global float* x, ulong x_at, const global float* weight,
           ulong weight_at, const global float* bias, ulong bias_at,
           global float* out, ulong out_at, int d, float epsilon, int center) {
  NORM_ROOM
  const ulong vector = get_global_id(1);
  if (weight) weight += weight_at;
  if (bias) bias += bias_at;
  norm(x + x_at + vector * d, weight, bias, out + out_at + vector * d, d,
       epsilon, center, parts);
}
