// CONVERT to F32, and GET_ROWS of tensors: a work-item decodes chunks, or
// elements of a plain type. LANES and TILE are 1.
//
// Defined by the host: GATHER, 1 if the rows of the output are those with the
// numbers `ids`, of which one that the table does not have is put into `fault`
// (see Slots in gpu/kernel.h) and gives nothing; PER_ITEM, the elements of a work-item, whole chunks.

#include "common.cl"
#define TILE 1
#include "blocks.cl"
#include "decode_chunk.cl"
#include "tensor.cl"

#ifdef PLAIN
#define PART 1
#else
#define PART (BLOCK / CHUNKS)
#endif
#define PARTS (PER_ITEM / PART * GROUP_ITEMS)

// x_base is in bytes, and `op` the place of the op in the program.
#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(uchar, x) INPUT(uint, ids) OUTPUT(float, y) \
  OUTPUT(uint, fault)
#define PARAMETERS(P)                                                   \
  GROUP_PARAMETERS(P) P(uint, x_base) P(uint, ids_base) P(uint, y_base) \
  P(uint, count) P(uint, columns) P(uint, row_bytes) P(uint, rows)      \
  P(uint, op)
KERNEL(decode) {
  OPEN
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  x += x_base;
  y += y_base;
  const uint begin = group * PARTS;
  const uint end = min(begin + PARTS, count / PART);
  const uint row_parts = columns / PART;
  for (uint i = begin + get_local_id(0); i < end; i += GROUP_ITEMS) {
    uint row = i / row_parts;
    const uint part = i % row_parts;
    uint from = row;
    if (GATHER) {
      from = ids[ids_base + row];
      if (from >= rows) {
        if (CLAIM(fault, op + 1)) {
          fault[1] = row;
          fault[2] = from;
        }
        continue;
      }
    }
    Bytes p = x + from * row_bytes;
#ifdef PLAIN
    y[i] = element(BLOCK_AT(p, part));
#else
    decode_chunk(BLOCK_AT(p, part / CHUNKS), part % CHUNKS,
                 y + (ulong)row * columns + part / CHUNKS * BLOCK);
#endif
  }
}
