// The elements of a dense output of up to four dimensions, and those of
// operands that belong to them.
//
// Defined by the host: RUN. A row of the range is a run of at most RUN elements
// of the last dimension, sizes.w; there may be more rows than that makes. A
// work-item takes LANES elements of it.

// What follows is done by work-items that have elements: `count` of them, the
// first with the indices `at` and the number `first` of the output.
#define BEGIN_WALK                                                          \
  const long runs = (sizes.w + RUN - 1) / RUN;                              \
  const long line = get_global_id(1) / runs;                                \
  const long within = get_global_id(0) * LANES;                             \
  const long column = get_global_id(1) % runs * RUN + within;               \
  if (line >= sizes.x * sizes.y * sizes.z || within >= RUN ||               \
      column >= sizes.w) {                                                  \
    return;                                                                 \
  }                                                                         \
  const long4 at = (long4)(line / (sizes.y * sizes.z),                      \
                           line / sizes.z % sizes.y, line % sizes.z, column); \
  const long first = line * sizes.w + column;                               \
  const int count = (int)min(sizes.w - column, (long)LANES);

// The place in an operand.
INLINE long operand_place(long4 at, long4 strides) {
  const long4 parts = at * strides;
  return parts.x + parts.y + parts.z + parts.w;
}
