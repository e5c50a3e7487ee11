#version 450
#extension GL_GOOGLE_include_directive : require
// CONV2D: a lane has a place of the output in kOutputs neighbouring planes, so
// that each element of x is read once for all of these.
#include "tensor.glsl"

const uint kOutputs = 8;

INPUT(1, x)
INPUT(2, weight)
INPUT(3, bias)
OUTPUT(8, float, y)

PARAMETERS_WITH_ARRAYS {
  GROUP_PARAMETERS
  uint x_base;
  uint weight_base;
  uint bias_base;
  uint y_base;
  uint channels;  // of x
  uint group_channels;
  uint height;
  uint width;
  uint outputs;
  uint group_outputs;
  uint kernel_height;
  uint kernel_width;
  uint places;  // of a plane of the output
  uint y_width;
  uint place_blocks;
  uint output_blocks;  // of a group
  uint stride[2];
  uint padding[2];
  uint dilation[2];
  uint has_bias;
  // Channels that are summed; those before them have been, in y.
  uint begin;
  uint end;
}
p;

#define EACH(step) \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint lane = gl_LocalInvocationIndex;
  // Neighbouring work-groups share weights.
  const uint place = group % p.place_blocks * kLanes + lane;
  uint rest = group / p.place_blocks;
  const uint block = rest % p.output_blocks;
  rest /= p.output_blocks;
  const uint groups = p.outputs / p.group_outputs;
  const uint of_group = rest % groups;
  const uint image = rest / groups;
  const uint first = block * kOutputs;  // plane, within the group
  const uint planes = min(kOutputs, p.group_outputs - first);
  const uint output_ = of_group * p.group_outputs + first;

  // Beyond x these are huge.
  const uint row =
      min(place, p.places - 1) / p.y_width * p.stride[0] - p.padding[0];
  const uint column =
      min(place, p.places - 1) % p.y_width * p.stride[1] - p.padding[1];
  const uint weights = p.group_channels * p.kernel_height * p.kernel_width;
  float sums[kOutputs];
  [[unroll]] for (uint o = 0; o < kOutputs; ++o) {
    sums[o] = p.has_bias != 0
                  ? NUMBER(bias, p.bias_base + output_ + min(o, planes - 1))
                  : 0.0;
  }
  const uint to = p.y_base + (image * p.outputs + output_) * p.places +
                  min(place, p.places - 1);
  if (p.begin > 0) {
    [[unroll]] for (uint o = 0; o < kOutputs; ++o) {
      sums[o] = y[to + min(o, planes - 1) * p.places];
    }
  }
#ifdef TEXELS
  // Lane l reads the weight of plane l.
  uint at = p.weight_base +
            (output_ + min(gl_SubgroupInvocationID, planes - 1)) * weights;
#else
  uint at = p.weight_base + output_ * weights;
#endif
  at += p.begin * p.kernel_height * p.kernel_width;
  uint plane = p.x_base + (image * p.channels + of_group * p.group_channels +
                           p.begin) *
                              p.height * p.width;
  for (uint c = p.begin; c < p.end; ++c) {
    for (uint u = 0; u < p.kernel_height; ++u) {
      const uint i = row + u * p.dilation[0];
      for (uint v = 0; v < p.kernel_width; ++v) {
        const uint j = column + v * p.dilation[1];
        const bool inside = i < p.height && j < p.width;
        const float value = NUMBER(x, plane + (inside ? i * p.width + j : 0));
#ifdef TEXELS
        const float one = NUMBER(weight, at);
#define STEP(o)                                     \
  {                                                 \
    const float w = subgroupShuffle(one, o);        \
    if (inside) sums[o] = fma(w, value, sums[o]);   \
  }
#else
#define STEP(o)                                                       \
  {                                                                   \
    const float w = NUMBER(weight, at + min(o, planes - 1) * weights); \
    if (inside) sums[o] = fma(w, value, sums[o]);                     \
  }
#endif
        EACH(STEP)
#undef STEP
        ++at;
      }
    }
    plane += p.height * p.width;
  }
  if (place >= p.places) return;
  [[unroll]] for (uint o = 0; o < kOutputs; ++o) {
    if (o < planes) y[to + o * p.places] = sums[o];
  }
}
