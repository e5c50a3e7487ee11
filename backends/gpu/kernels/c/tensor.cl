// What the kernels of ops on tensors begin with. Their shapes are fixed: the
// groups of an op are numbered, and a dispatch has those from first_group to
// before end_group, in as many rows as the limits of the device want.
//
// Every operand has a base: the distance from where it is bound to where it
// begins, in elements if not said otherwise.

#define GROUP_PARAMETERS uint first_group, uint end_group
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
#define FOUR_PARAMETERS(name) \
  uint name##_0, uint name##_1, uint name##_2, uint name##_3
#define OPEN_FOUR(name) \
  const Four name = {{name##_0, name##_1, name##_2, name##_3}};

// The place in an operand of element i of a tensor of that shape.
INLINE uint place_of(uint i, const Four* shape, const Four* strides) {
  uint place = 0;
  for (int d = 3; d > 0; --d) {
    place += i % shape->of[d] * strides->of[d];
    i /= shape->of[d];
  }
  return place + i * strides->of[0];
}
