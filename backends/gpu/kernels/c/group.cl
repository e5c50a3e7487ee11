// Sums over the work-items of a group, always in one order. All items of a group
// have to call them together.
//
// A prelude for devices that run neighbouring items at once defines SHUFFLED, a
// power of two, and SHUFFLE_XOR(v, mask): the float `v` of the item whose number
// differs from that of the caller in the bit `mask`, below SHUFFLED.

// The sum over all items. `room` has a number for each.
INLINE float group_sum(float sum, int item, local float* room) {
#if GROUP_ROOM > 1
  int together = 1;
#ifdef SHUFFLED
  if (GROUP_ITEMS % SHUFFLED == 0) {
    together = SHUFFLED;
    for (int mask = 1; mask < SHUFFLED; mask *= 2) {
      sum += SHUFFLE_XOR(sum, mask);
    }
    if (GROUP_ITEMS == SHUFFLED) return sum;
  }
#endif
  if (item % together == 0) room[item / together] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0.0f;
  for (int i = 0; i < GROUP_ITEMS / together; ++i) sum += room[i];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  return sum;
}

// The sum over each `count` neighbouring items, which divide the group; a power
// of two. `room` has a number for each item.
INLINE float neighbour_sum(float sum, int count, int item, local float* room) {
#ifdef SHUFFLED
  if (count <= SHUFFLED) {
    for (int mask = 1; mask < count; mask *= 2) sum += SHUFFLE_XOR(sum, mask);
    return sum;
  }
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  room[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += room[item - item % count + i];
  return sum;
}
