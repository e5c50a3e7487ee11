/* Runcible: the ops of tensors of the plugin ABI. What words and shapes mean is
 * in plugin_ops.h, which includes this. */
#ifndef RUNCIBLE_PLUGIN_TENSOR_OPS_H
#define RUNCIBLE_PLUGIN_TENSOR_OPS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Tensor ops, for those who compute without a model. All shapes are fixed:
 * there are no symbolic dimensions; GET_ROWS and ROPE are tensor ops, too,
 * where x and ids have none, and UNARY and LAYER_NORM take symbolic rows where
 * their description says so. Values have any storage but weight; outputs have
 * any but weight and input, and share no bytes with inputs, except that, with
 * plugins of version 3 or later, the output of UNARY, BINARY or WHERE may be
 * all the bytes of an input. Every value is F32 unless said otherwise; rank is
 * 1 to RC_PLUGIN_MAX_RANK. A program may hold both kinds of ops. A backend need
 * not have any of these.
 *
 * Values "of T" are all of one type, F32, F64, F16 or BF16, and values "of D"
 * are all F32 or all F64; of GET_ROWS, CONVERT and MATMUL see there. Plugins
 * before version 4 are asked for F32 alone, and a backend need not have the
 * others. F16 and BF16 are computed in F32 or better and each result is rounded
 * once. */
enum {
  /* Makes a strided view dense, of the type of x. Element (i, j, ...) of the
   * output is element i * strides[0] + j * strides[1] + ... of x; strides are
   * at least 0. Of types with blocks the last stride is 1 and the others whole
   * blocks.
   * inputs: x [n] of any type; output [...] of any type. params.copy. */
  RC_OP_COPY = 32,
  /* The same numbers in another type, rounded to nearest; the output has the
   * shape of x. One of them is F32, the other F32 or, being x, of any type that
   * can be decoded, or, being the output, one of F16, BF16, F64, I8 to I64,
   * Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K, IQ4_NL, TQ2_0; or one of
   * them is F64 and the other of a type without blocks.
   * inputs: x [...] of any type; output [...] of any type. */
  RC_OP_CONVERT = 33,
  /* A function of each element: RC_FUNCTION_*, but NONE, or RC_UNARY_*.
   * inputs: x [R, ...]; output [R, ...]. params.unary.
   * Of tensors: inputs: x [...] of T; output [...] of T. */
  RC_OP_UNARY = 34,
  /* A function of each pair of elements. Shapes are compared from the last
   * dimension on, missing ones count as 1: a dimension of an input is that of
   * the output, which has the larger rank of both, or 1 and then repeated.
   * inputs: a [...a] of T, b [...b] of T; output [...c] of T.
   *         params.binary. */
  RC_OP_BINARY = 35,
  /* Over the last dimension, with m the mean of x if params.layer_norm.center,
   * else 0: (x - m) / sqrt(mean((x - m)^2) + epsilon) * weight + bias (Ba,
   * Kiros and Hinton 2016, arXiv:1607.06450).
   * inputs: x [R, heads?, d], weight [d] or absent, bias [d] or absent;
   *         output [R, heads?, d]. params.layer_norm.
   * Of tensors: inputs: x [..., d] of D, weight [d] of D or absent,
   *         bias [d] of D or absent; output [..., d] of D. */
  RC_OP_LAYER_NORM = 36,
  /* exp(x - max) / sum(exp(x - max)) over the middle dimension.
   * inputs: x [outer, n, inner] of D; output [outer, n, inner] of D. */
  RC_OP_SOFTMAX = 37,
  /* Sum, mean or maximum over the middle dimension; a NaN makes each NaN.
   * inputs: x [outer, n, inner] of D; output [outer, inner] of D.
   *         params.reduce. */
  RC_OP_REDUCE = 38,
  /* The place of the largest over the middle dimension, the first among equals;
   * NaN counts as larger than every number.
   * inputs: x [outer, n, inner] of D; output I32 [outer, inner]. */
  RC_OP_ARGMAX = 39,
  /* function(a b + bias), where [p, q] is [k, n], or [n, k] if
   * params.matmul.transposed, and one b of dimension 1 serves for all of a. b
   * is of T, but where T is F32 and b transposed it is of any type.
   * inputs: a [B, m, k] of T, b [B|1, p, q] of any type that can be decoded,
   *         bias [n] of T or absent; output [B, m, n] of T. */
  RC_OP_MATMUL = 40,
  /* Sums of products with a window (cross-correlation, as networks use it), x
   * counting as 0 beyond its edges by `padding`:
   * y(b, o, i, j) = bias(o) + sum over c, u, v of weight(o, c, u, v) *
   *   x(b, g * C + c, i * stride[0] + u * dilation[0] - padding[0],
   *     j * stride[1] + v * dilation[1] - padding[1])
   * with C = channels / groups and g = o / (outputs / groups).
   * inputs: x [batch, channels, height, width], weight [outputs, C, kh, kw],
   *         bias [outputs] or absent; output [batch, outputs, oh, ow].
   * oh = (height + 2 padding - dilation (kh - 1) - 1) / stride + 1, and ow
   *   alike. params.conv2d. */
  RC_OP_CONV2D = 41,
  /* Attention without a cache. Row i of r sees the positions 0 to p - 1 or, if
   * causal, 0 to p - r + i (r is at most p then): the last row sees all. Heads
   * and softcap as in RC_OP_ATTENTION.
   * inputs: q [B, r, heads, d], k [B, p, kv_heads, d],
   *         v [B, p, kv_heads, d]; output [B, r, heads, d]. params.attend. */
  RC_OP_ATTEND = 42,
  /* a where condition is not 0, b elsewhere; a NaN is not 0. Shapes as in
   * RC_OP_BINARY.
   * inputs: condition [...a] of T, a [...b] of T, b [...c] of T;
   *         output [...d] of T. */
  RC_OP_WHERE = 43,
  /* Rows one behind the other: those of b after those of a, and so on, which
   * are of one type: s = n0 + n1 + ...
   * inputs: a [outer, n0] of any type, b [outer, n1] of any type or absent,
   *         c [outer, n2] of any type or absent,
   *         d [outer, n3] of any type or absent,
   *         e [outer, n4] of any type or absent,
   *         f [outer, n5] of any type or absent,
   *         g [outer, n6] of any type or absent,
   *         h [outer, n7] of any type or absent;
   *         output [outer, s] of any type. */
  RC_OP_CONCAT = 44,
  /* x from element `before` of the middle dimension on, and `value` elsewhere.
   * inputs: x [outer, n, inner] of T; output [outer, m, inner] of T.
   *         params.pad. */
  RC_OP_PAD = 45,
  /* The sum of each element of the middle dimension and all before it, added up
   * in this order.
   * inputs: x [outer, n, inner] of D; output [outer, n, inner] of D. */
  RC_OP_CUMSUM = 46,
  /* The places of the first k elements of the middle dimension in rising or
   * falling order; NaN counts as larger than every number, and equals stay in
   * the order of their places, either way.
   * inputs: x [outer, n, inner] of D; output I32 [outer, k, inner].
   *         params.order. */
  RC_OP_ORDER = 47,
  /* The elements at these places of the middle dimension, each within 0 to
   * n - 1.
   * inputs: x [outer, n, inner] of T, places I32 [outer, k, inner];
   *         output [outer, k, inner] of T. */
  RC_OP_TAKE = 48
};

/* Functions of one number, of UNARY, in addition to RC_FUNCTION_*. */
enum {
  RC_UNARY_EXP = 32,  /* e^x */
  RC_UNARY_LOG = 33,  /* the natural logarithm; NaN below 0 */
  RC_UNARY_SQRT = 34, /* NaN below 0 */
  RC_UNARY_ABS = 35,
  RC_UNARY_NEG = 36 /* -x */
};

/* Functions of two numbers, of BINARY. Comparisons are 1 where they hold and
 * else 0, for NaN as in C. */
enum {
  RC_BINARY_ADD = 0,
  RC_BINARY_MUL = 1,
  RC_BINARY_SUB = 2,
  RC_BINARY_DIV = 3,
  RC_BINARY_POW = 4,     /* a^b, as pow of C */
  RC_BINARY_MINIMUM = 5, /* NaN if either is */
  RC_BINARY_MAXIMUM = 6, /* NaN if either is */
  RC_BINARY_EQUAL = 7,
  RC_BINARY_LESS = 8,
  RC_BINARY_LESS_EQUAL = 9,
  RC_BINARY_NOT_EQUAL = 10,
  RC_BINARY_GREATER = 11,
  RC_BINARY_GREATER_EQUAL = 12
};

/* Of REDUCE. */
enum { RC_REDUCE_SUM = 0, RC_REDUCE_MEAN = 1, RC_REDUCE_MAX = 2 };

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_PLUGIN_TENSOR_OPS_H */
