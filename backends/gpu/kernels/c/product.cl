// What products of tensors have in common: out = function(a b + bias) for
// matrices a [m, k], b [k, n] or, TRANSPOSED, [n, k], and out [m, n], one after
// the other. Of a and b there are a_count and b_count matrices, which divide
// the number of those of out, and are repeated.
//
// Defined by the host: FUNCTION (not an argument, because compilers take seconds
// for all of them); if b is transposed, TRANSPOSED, DENSE, TILE 1 and what
// blocks.cl needs. Else b is F32.

#include "some.cl"
#include "functions.cl"

#ifdef TRANSPOSED
#include "blocks.cl"
#else
typedef const global uchar* Bytes;
#endif

typedef const global float* Floats;

// Bits of flags.
#define BIAS_OF_COLUMNS 1
#define BIAS_OF_ROWS 2

// b_at and b_bytes, those of a matrix, count bytes, as do those of a row.
#define PRODUCT_PARAMETERS                                                 \
  Floats a, ulong a_at, int a_count, Bytes b, ulong b_at, int b_count,     \
      ulong b_bytes, ulong b_row_bytes, Floats bias, ulong bias_at,        \
      global float *out, ulong out_at, int m, int n, int k, int flags

// Turns to matrix number `matrix` of out.
#define BEGIN_PRODUCT(matrix)                                              \
  a += a_at + (ulong)((matrix) % a_count) * m * k;                         \
  b += b_at + (ulong)((matrix) % b_count) * b_bytes;                       \
  bias += bias_at;                                                         \
  if (flags & BIAS_OF_ROWS) bias += (ulong)((matrix) % a_count) * m;       \
  out += out_at + (ulong)(matrix) * m * n;

// `count` elements of a row of out from `column` on.
INLINE void give(floatL y, int count, int row, int column, int n, Floats bias,
                 global float* out, int flags) {
  if (flags & BIAS_OF_COLUMNS) y += load_some(bias + column, count);
  if (flags & BIAS_OF_ROWS) y += bias[row];
  store_some(apply(FUNCTION, y), out + (ulong)row * n + column, count);
}
