// COPY: a work-item copies LANES grains of a strided view at a time. A grain is
// as many bytes as make up an element, or divide one or a block.
//
// Defined by the host: GRAIN, these bytes: 1, 2 or 4.

#include "common.cl"
#include "tensor.cl"

#if GRAIN == 1
typedef uchar Grain;
#elif GRAIN == 2
typedef ushort Grain;
#else
typedef uint Grain;
#endif
#define GRAINS_OF_WORD (4 / GRAIN)

// Grains of the output are counted from the first word that it has a part in.
// Everything is in grains but `shape`, that of the output in units of so many,
// from which to which `strides` lead in x.
#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(Grain, x) OUTPUT(Grain, y)
#define PARAMETERS(P)                                                \
  GROUP_PARAMETERS(P) P(uint, x_base) P(uint, y_base) P(uint, count) \
  P(uint, unit) P(Four, shape) P(Four, strides)
KERNEL(copy) {
  OPEN
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  const uint before = y_base % GRAINS_OF_WORD;
  const uint size = GROUP_ELEMENTS * GRAINS_OF_WORD;
  const uint end = min((group + 1) * size - before, count);
  const uint begin = group == 0 ? 0 : group * size - before;
  x += x_base;
  y += y_base;
  for (uint i = begin + get_local_id(0) * LANES; i < end;
       i += GROUP_ITEMS * LANES) {
    if (i + LANES <= end && unit == 1 && strides.of[3] == 1 &&
        i % shape.of[3] + LANES <= shape.of[3]) {
      STORE(LOAD(0, x + place_of(i, &shape, &strides)), 0, y + i);
      continue;
    }
    for (uint j = i; j < min(i + LANES, end); ++j) {
      y[j] = x[place_of(j / unit, &shape, &strides) + j % unit];
    }
  }
}
