// JOIN: a work-item gives one element of a row.

#include "common.cl"

#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(float, a) INPUT(float, b) OUTPUT(float, out)
#define PARAMETERS(P) \
  ROW_PARAMETERS(P) P(uint, width) P(uint, m) P(uint, n)
KERNEL(join) {
  OPEN
  const uint column = COLUMN;
  if (column >= width) return;
  const ulong row = get_global_id(1);
  const ulong head = row * (width / (m + n)) + column / (m + n);
  const uint i = column % (m + n);
  out[row * width + column] = i < m ? a[head * m + i] : b[head * n + i - m];
}
