// CONVERT to F32: a work-item decodes one chunk, or PER_ITEM elements of a
// plain type. LANES and TILE are 1.

#include "common.cl"
#include "blocks.cl"
#include "decode_chunk.cl"
#include "flat.cl"

kernel void decode(Bytes x, ulong x_at, global float* out, ulong out_at,
                   ulong elements) {
  x += x_at;
  out += out_at;
#ifdef PLAIN
  BEGIN_PART((elements + PER_ITEM - 1) / PER_ITEM)
  x = BLOCK_AT(x, part * PER_ITEM);
  out += part * PER_ITEM;
  const ulong left = elements - part * PER_ITEM;
  if (left >= PER_ITEM) {
    for (int i = 0; i < PER_ITEM; ++i) out[i] = element(BLOCK_AT(x, i));
  } else {
    for (int i = 0; i < left; ++i) out[i] = element(BLOCK_AT(x, i));
  }
#else
  BEGIN_PART(elements / BLOCK * CHUNKS)
  const ulong block = part / CHUNKS;
  decode_chunk(BLOCK_AT(x, block), part % CHUNKS, out + block * BLOCK);
#endif
}
