// Rows of a state of which PARTS work-items have one each: an item has every
// vector of LANES elements of the row whose number is its own, modulo PARTS.
//
// Defined by the host: STATE, elements of a row; PARTS, more than 1 only if
// LANES is 1; GROUP_ITEMS, a multiple of PARTS.

#ifndef STATE_ROOM
#define STATE_ROOM STATE
#endif

// Vectors of a work-item for so many elements of a row.
#define EACH_OF(elements) \
  (((elements) + PARTS * LANES - 1) / (PARTS * LANES))
#define EACH EACH_OF(STATE)
#define EACH_ROOM EACH_OF(STATE_ROOM)
// The place of vector t of the item that is number `part` of its row.
#define PLACE(t) (((t) * PARTS + part) * LANES)

// The sum over the items of a row, always in one order. All items of a group
// have to get there. PARTS_ROOM stands where a kernel begins.
#if PARTS > 1
#include "group.cl"
#define PARTS_ROOM SHARED float sums_of_items[GROUP_ROOM];
#define SUM_OF_PARTS(sum) \
  neighbour_sum(sum, PARTS, get_local_id(0), sums_of_items)
#else
#define PARTS_ROOM
#define SUM_OF_PARTS(sum) (sum)
#endif
