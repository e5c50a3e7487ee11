// Work-items that each take the next part of something that lies in one piece.
//
// Defined by the host: WIDTH, the work-items of a row of the range.

// What follows is done by work-item `part` of `parts`.
#define BEGIN_PART(parts)                                           \
  const ulong part = get_global_id(1) * WIDTH + get_global_id(0);    \
  if (get_global_id(0) >= WIDTH || part >= parts) return;
