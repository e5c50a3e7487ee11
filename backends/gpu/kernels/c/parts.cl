// Rows of a state of which PARTS work-items have one each: an item has every
// vector of LANES elements of the row whose number is its own, modulo PARTS.
//
// Defined by the host: STATE, elements of a row; PARTS, more than 1 only if
// LANES is 1; GROUP_ITEMS, a multiple of PARTS.

// Vectors of a work-item.
#define EACH ((STATE + PARTS * LANES - 1) / (PARTS * LANES))
// The place of vector t of the item that is number `part` of its row.
#define PLACE(t) (((t) * PARTS + part) * LANES)

// The sum over the items of a row, always in one order. All items of a group
// have to get there. PARTS_ROOM stands where a kernel begins.
#if PARTS > 1
INLINE float sum_of_parts(float sum, local float* sums) {
  const int item = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0.0f;
  for (int i = 0; i < PARTS; ++i) sum += sums[item - item % PARTS + i];
  return sum;
}
#define PARTS_ROOM SHARED float sums_of_items[GROUP_ITEMS];
#define SUM_OF_PARTS(sum) sum_of_parts(sum, sums_of_items)
#else
#define PARTS_ROOM
#define SUM_OF_PARTS(sum) (sum)
#endif
