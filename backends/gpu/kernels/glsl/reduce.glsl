// Sums and maxima over the lanes of a work-group, always in the same order.
#ifdef TEXELS
float reduce_add(float x) { return subgroupAdd(x); }
float reduce_max(float x) { return subgroupMax(x); }
#else
// Some lanes take a piece of the numbers each, then every lane takes what these
// found. Between reading an area and writing it again lies the barrier of the
// other one.
shared float reduce_area[SIZE(92, kLanes)];
shared float piece_area[16];
#define kReducePieces (kLanes >= 128 ? 16 : kLanes >= 8 ? 8 : kLanes)

#define REDUCE(function, expression)                                           \
  float function(float x) {                                                    \
    const uint lane = gl_LocalInvocationIndex;                                 \
    reduce_area[lane] = x;                                                     \
    barrier();                                                                 \
    if (lane < kReducePieces) {                                                \
      float a = reduce_area[lane];                                             \
      for (uint i = lane + kReducePieces; i < kLanes; i += kReducePieces) {    \
        const float b = reduce_area[i];                                        \
        a = expression;                                                        \
      }                                                                        \
      piece_area[lane] = a;                                                    \
    }                                                                          \
    barrier();                                                                 \
    float a = piece_area[0];                                                   \
    for (uint i = 1; i < kReducePieces; ++i) {                                 \
      const float b = piece_area[i];                                           \
      a = expression;                                                          \
    }                                                                          \
    return a;                                                                  \
  }
REDUCE(reduce_add, a + b)
REDUCE(reduce_max, max(a, b))
#endif
