// Sums and maxima over the lanes of a work-group, always in the same order.
#ifdef TEXELS
float reduce_add(float x) { return subgroupAdd(x); }
float reduce_max(float x) { return subgroupMax(x); }
#else
shared float reduce_area[SIZE(92, kLanes)];

// The number of lanes is a power of two.
#define REDUCE(function, expression)                               \
  float function(float x) {                                        \
    const uint lane = gl_LocalInvocationIndex;                     \
    barrier();                                                     \
    reduce_area[lane] = x;                                         \
    for (uint half_ = kLanes / 2; half_ > 0; half_ /= 2) {         \
      barrier();                                                   \
      if (lane < half_) {                                          \
        const float a = reduce_area[lane];                         \
        const float b = reduce_area[lane + half_];                 \
        reduce_area[lane] = expression;                            \
      }                                                            \
    }                                                              \
    barrier();                                                     \
    return reduce_area[0];                                         \
  }
REDUCE(reduce_add, a + b)
REDUCE(reduce_max, max(a, b))
#endif
