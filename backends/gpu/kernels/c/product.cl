// The common part of products of tensors: out = function(a b + bias) for
// matrices a [m, k], b [k, n] or, TRANSPOSED, [n, k], and out [m, n].
//
// Defined by the host: FUNCTION, RC_FUNCTION_*.

#include "common.cl"
#include "some.cl"
#include "functions.cl"
#include "tensor.cl"

typedef const global float* Floats;

// `count` elements of a row of out from `column` on. The bias is of columns or
// of rows; either may be NULL.
INLINE void give(floatL y, int count, int row, int column, int n,
                 Floats column_bias, Floats row_bias, global float* out) {
  if (column_bias) y += load_some(column_bias + column, count);
  if (row_bias) y += row_bias[row];
  store_some(apply(FUNCTION, y), out + (ulong)row * n + column, count);
}
