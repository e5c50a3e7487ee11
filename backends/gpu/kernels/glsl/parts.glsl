// Rows of a state of which kParts lanes have one each.
//
// Shaders that include this define kParts.

// The sum over the lanes that have the same element, always in one order.
#ifdef TEXELS
float sum_of_parts(float part) { return subgroupAdd(part); }
#else
shared float part_area[SIZE(91, kLanes)];

float sum_of_parts(float part) {
  const uint lane = gl_LocalInvocationIndex;
  barrier();
  part_area[lane] = part;
  barrier();
  float sum = 0.0;
  [[unroll]] for (uint i = 0; i < kParts; ++i) {
    sum += part_area[lane / kParts * kParts + i];
  }
  return sum;
}
#endif
