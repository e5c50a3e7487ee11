// The common beginning of kernels of tensor ops. Their shapes are fixed: the
// groups of an op are numbered, and a dispatch has those from first_group to
// before end_group, in as many rows as the limits of the device want.
//
// Every operand has a base: the distance from where it is bound to where it
// begins, in elements if not said otherwise.

#define GROUP_PARAMETERS(P) P(uint, first_group) P(uint, end_group)
#define GROUP_NUMBER \
  (first_group + (uint)get_global_id(1) * (uint)get_num_groups(0) + \
   (uint)get_group_id(0))
#define NOTHING_TO_DO(group) ((group) >= end_group)

// Vectors of LANES elements that a work-item has one after the other, and the
// elements of a group.
#define EACH 8
#define GROUP_ELEMENTS (GROUP_ITEMS * EACH * LANES)

// A number for each of four dimensions, the slowest first.
typedef struct {
  uint of[4];
} Four;

// The place in an operand of element i of a tensor of that shape.
INLINE uint place_of(uint i, const Four* shape, const Four* strides) {
  uint place = 0;
  for (int d = 3; d > 0; --d) {
    place += i % shape->of[d] * strides->of[d];
    i /= shape->of[d];
  }
  return place + i * strides->of[0];
}
