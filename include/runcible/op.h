/* Runcible: ops of tensors. The rules of tensor.h hold for all of them.
 * `result` is a new tensor, unless rc_op_into says that it is another. */
#ifndef RUNCIBLE_OP_H
#define RUNCIBLE_OP_H

#include "runcible/base.h"
#include "runcible/tensor.h"
#include "runcible/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operand, for an op whose result is to go into a tensor of the caller's:
 * an op that has `result` as its first operand writes what it computes into
 * `target` instead of a new tensor, and gives `target`, with one more
 * reference, as its result. It may do so for any number of ops.
 *
 * The result must have the type and the shape of `target`, whose elements lie
 * in order (a view may be, but no transposed one), on the device where the
 * operands lie; where the handle chooses devices, the op runs where `target`
 * lies. Functions of each element, of pairs, and rc_op_where may be computed in
 * place: `target` may be any of their operands. Otherwise no operand may share
 * memory with it. The message of an RC_E_INVALID_ARGUMENT names the op, shapes
 * and types.
 *
 * `result` is a view of `x` in every other respect, and keeps both; views of it
 * are plain ones. Tensors that share memory with `target` change with it: its
 * views, what rc_tensor_to did not have to copy, and what rc_op_quantize and
 * rc_op_dequantize gave of the same type. Graphs read it again at each run
 * where it is a constant, and record no op that writes into a tensor. Nothing
 * else may work with it meanwhile, and after a failure its numbers are
 * undefined. */
RC_API rc_status rc_op_into(rc_tensor* x, rc_tensor* target,
                            rc_tensor** result);

/* Where the op that gave the outline would run, and what that is expected to
 * take on each candidate: a JSON object of "op" and "values" (in the words of
 * plugin.h: an op here may be several there, of which this is the last),
 * "device", and "candidates", an array of "device", "seconds", and its parts
 * "compute_seconds" and "transfer_seconds" (moving the operands there), null
 * where unknown, and "reason", why that is so, else null. *json is
 * NUL-terminated and the caller's, to be freed with rc_free.
 * RC_E_INVALID_ARGUMENT: it is no outline, or none that an op gave. */
RC_API rc_status rc_op_choose(rc_tensor* outline, char** json);

/* a b for a [..., m, k] and b [..., k, n]: [..., m, n]. The dimensions before
 * the last two are broadcast. */
RC_API rc_status rc_op_matmul(rc_tensor* a, rc_tensor* b, rc_tensor** result);

/* a b^T for a [..., m, k] and b [..., n, k]: [..., m, n], broadcast alike. */
RC_API rc_status rc_op_matmul_transposed(rc_tensor* a, rc_tensor* b,
                                         rc_tensor** result);

/* The same with a weight [..., n, k] of a type with blocks, which are decoded
 * within the product: no decoded copy of the weight is made. It computes in
 * F32. The device may quantize rows of a to 8 bits for it (a mean square error
 * of some 5e-5 of the terms'). RC_E_INVALID_ARGUMENT: the weight's type has no
 * blocks. */
RC_API rc_status rc_op_matmul_quantized(rc_tensor* a, rc_tensor* weight,
                                        rc_tensor** result);

/* function(x weight^T + bias) for x [..., k], weight [n, k] of numbers, bias
 * [n] or NULL: [..., n]. Types with blocks as in rc_op_matmul_quantized. In F16
 * and BF16 it is rounded once, at its end. */
RC_API rc_status rc_op_fused_linear(rc_tensor* x, rc_tensor* weight,
                                    rc_tensor* bias, rc_function function,
                                    rc_tensor** result);

/* Functions of each pair of elements, broadcast: a + b, a - b, a * b, a / b and
 * a to the power of b. */
RC_API rc_status rc_op_add(rc_tensor* a, rc_tensor* b, rc_tensor** result);
RC_API rc_status rc_op_sub(rc_tensor* a, rc_tensor* b, rc_tensor** result);
RC_API rc_status rc_op_mul(rc_tensor* a, rc_tensor* b, rc_tensor** result);
RC_API rc_status rc_op_div(rc_tensor* a, rc_tensor* b, rc_tensor** result);
RC_API rc_status rc_op_pow(rc_tensor* a, rc_tensor* b, rc_tensor** result);

/* The smaller and the larger of each pair, broadcast; NaN if either is. */
RC_API rc_status rc_op_minimum(rc_tensor* a, rc_tensor* b, rc_tensor** result);
RC_API rc_status rc_op_maximum(rc_tensor* a, rc_tensor* b, rc_tensor** result);

/* Comparisons of each pair, broadcast: 1 where they hold, else 0, of the type
 * in which they are compared. Nothing compares with a NaN, but that it is not
 * equal. */
RC_API rc_status rc_op_equal(rc_tensor* a, rc_tensor* b, rc_tensor** result);
RC_API rc_status rc_op_not_equal(rc_tensor* a, rc_tensor* b,
                                 rc_tensor** result);
RC_API rc_status rc_op_less(rc_tensor* a, rc_tensor* b, rc_tensor** result);
RC_API rc_status rc_op_less_equal(rc_tensor* a, rc_tensor* b,
                                  rc_tensor** result);
RC_API rc_status rc_op_greater(rc_tensor* a, rc_tensor* b, rc_tensor** result);
RC_API rc_status rc_op_greater_equal(rc_tensor* a, rc_tensor* b,
                                     rc_tensor** result);

/* Elements of a where those of `condition` are not 0, and of b elsewhere, all
 * three broadcast. A NaN is not 0. The type of the result is that of a and b;
 * `condition` is looked at in its own. */
RC_API rc_status rc_op_where(rc_tensor* condition, rc_tensor* a, rc_tensor* b,
                             rc_tensor** result);

/* Functions of each element; see rc_function. */
RC_API rc_status rc_op_relu(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_sigmoid(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_silu(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_gelu(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_gelu_tanh(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_gelu_quick(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_tanh(rc_tensor* x, rc_tensor** result);

/* e^x, the natural logarithm, the square root (both NaN below 0), |x| and -x of
 * each element. */
RC_API rc_status rc_op_exp(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_log(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_sqrt(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_abs(rc_tensor* x, rc_tensor** result);
RC_API rc_status rc_op_neg(rc_tensor* x, rc_tensor** result);

/* exp(x) / sum(exp(x)) over one dimension. */
RC_API rc_status rc_op_softmax(rc_tensor* x, int32_t dimension,
                               rc_tensor** result);

/* x / sqrt(mean(x^2) + epsilon) * weight over the last dimension of x [..., d];
 * weight [d] or NULL; epsilon is at least 0. */
RC_API rc_status rc_op_rms_norm(rc_tensor* x, rc_tensor* weight, float epsilon,
                                rc_tensor** result);

/* (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimension
 * of x [..., d]; weight and bias [d] or NULL; epsilon is at least 0. */
RC_API rc_status rc_op_layer_norm(rc_tensor* x, rc_tensor* weight,
                                  rc_tensor* bias, float epsilon,
                                  rc_tensor** result);

/* How rc_op_rope turns. */
typedef struct rc_rope_options {
  size_t struct_size;
  rc_rope_style style; /* how the elements of a head are paired */
  /* Elements of each head that turn: even, at most the head's; 0: all. */
  int32_t dimensions;
  /* Pair i turns by position * theta^(-2 i / dimensions). */
  float theta;
  float scale; /* of the elements that turn */
} rc_rope_options;

#define RC_ROPE_OPTIONS_INIT                                            \
  {                                                                     \
    RC_INITIAL(struct_size, sizeof(rc_rope_options)),                   \
        RC_INITIAL(style, RC_ROPE_ADJACENT), RC_INITIAL(dimensions, 0), \
        RC_INITIAL(theta, 10000), RC_INITIAL(scale, 1)                  \
  }
/* The same as a function; see base.h. */
RC_API void rc_rope_options_init(rc_rope_options* options, size_t size);

/* Rotary position embedding (arXiv:2104.09864) of x [..., rows, heads, d] with
 * I32 positions [rows], in F32. `frequencies` [pairs] replaces theta and
 * dimensions: the pairs turn by position * frequency; NULL: none. */
RC_API rc_status rc_op_rope(rc_tensor* x, rc_tensor* positions,
                            rc_tensor* frequencies,
                            const rc_rope_options* options, rc_tensor** result);

/* How rc_op_attention weighs. */
typedef struct rc_attention_options {
  size_t struct_size;
  float scale;    /* of q . k; 0: 1 / sqrt(d) */
  float softcap;  /* scores s become softcap * tanh(s / softcap); 0: not */
  int32_t causal; /* 1: row r sees the positions 0 to P - R + r */
} rc_attention_options;

#define RC_ATTENTION_OPTIONS_INIT                                           \
  {                                                                         \
    RC_INITIAL(struct_size, sizeof(rc_attention_options)),                  \
        RC_INITIAL(scale, 0), RC_INITIAL(softcap, 0), RC_INITIAL(causal, 0) \
  }
/* The same as a function; see base.h. */
RC_API void rc_attention_options_init(rc_attention_options* options,
                                      size_t size);

/* softmax(scale q k^T) v for each head of q [..., R, heads, d], k and v
 * [..., P, kv_heads, d], in F32: shape of q. Head h reads key/value head
 * h / (heads / kv_heads); heads is a multiple of kv_heads. Dimensions before
 * the last three are equal. */
RC_API rc_status rc_op_attention(rc_tensor* q, rc_tensor* k, rc_tensor* v,
                                 const rc_attention_options* options,
                                 rc_tensor** result);

/* As `dimension`: all of them; the result has shape [1]. */
#define RC_ALL_DIMENSIONS INT32_MIN

/* Sum, mean and maximum over one dimension. The result is without it or,
 * if `keep` is 1, has it with size 1; of a tensor of rank 1 the result has
 * shape [1]. Of an empty dimension the sum is 0, the mean NaN, and the maximum
 * RC_E_INVALID_ARGUMENT.
 *
 * Sums of n numbers in F64 are added up as if in twice the precision and
 * rounded once: with u = 2^-53 the error is at most u |sum| + (n u)^2 sum of
 * |x| (Ogita, Rump and Oishi 2005, "Accurate sum and dot product", Sum2). */
RC_API rc_status rc_op_reduce_sum(rc_tensor* x, int32_t dimension, int32_t keep,
                                  rc_tensor** result);
RC_API rc_status rc_op_reduce_mean(rc_tensor* x, int32_t dimension,
                                   int32_t keep, rc_tensor** result);
RC_API rc_status rc_op_reduce_max(rc_tensor* x, int32_t dimension, int32_t keep,
                                  rc_tensor** result);

/* The index of the largest number over one dimension, as I32; shapes as of
 * rc_op_reduce_max. The first of equals; NaN counts as the largest. */
RC_API rc_status rc_op_argmax(rc_tensor* x, int32_t dimension, int32_t keep,
                              rc_tensor** result);

/* How rc_op_conv2d moves its window. */
typedef struct rc_conv2d_options {
  size_t struct_size;
  int32_t stride[2];   /* down and across; at least 1 */
  int32_t padding[2];  /* zeros on each side */
  int32_t dilation[2]; /* distance between elements of the window; at least 1 */
  int32_t groups;      /* each with its own channels and outputs */
} rc_conv2d_options;

#define RC_CONV2D_OPTIONS_INIT                                   \
  {                                                              \
    RC_INITIAL(struct_size, sizeof(rc_conv2d_options)),          \
        RC_INITIAL(stride, {1, 1}), RC_INITIAL(padding, {0, 0}), \
        RC_INITIAL(dilation, {1, 1}), RC_INITIAL(groups, 1)      \
  }
/* The same as a function; see base.h. */
RC_API void rc_conv2d_options_init(rc_conv2d_options* options, size_t size);

/* Cross-correlation of x [batch, channels, height, width] with weight
 * [outputs, channels / groups, kh, kw], plus bias [outputs] or NULL, in F32:
 * [batch, outputs, oh, ow] with oh = (height + 2 padding - dilation (kh - 1)
 * - 1) / stride + 1, rounded down, and ow alike. */
RC_API rc_status rc_op_conv2d(rc_tensor* x, rc_tensor* weight, rc_tensor* bias,
                              const rc_conv2d_options* options,
                              rc_tensor** result);

/* Rows ids[i] of table [n, d] for I32 ids of any shape within 0 to n - 1: the
 * shape of ids, which has rank 3 at most, with d after it. An id outside is
 * RC_E_INVALID_ARGUMENT; in a graph, of the run. */
RC_API rc_status rc_op_gather_rows(rc_tensor* table, rc_tensor* ids,
                                   rc_tensor** result);

/* Tensors one behind the other along one dimension: at least one, all of the
 * same type, which the result has, too, and with the same other dimensions. */
RC_API rc_status rc_op_concat(rc_tensor* const* tensors, size_t count,
                              int32_t dimension, rc_tensor** result);

/* x with `before` elements of `value` before its own along one dimension, and
 * `after` behind them; both are at least 0. */
RC_API rc_status rc_op_pad(rc_tensor* x, int32_t dimension, int64_t before,
                           int64_t after, float value, rc_tensor** result);

/* The sums of each element and all before it along one dimension. They are
 * added up in this order: on CPUs in double precision, F32 rounded once. */
RC_API rc_status rc_op_cumsum(rc_tensor* x, int32_t dimension,
                              rc_tensor** result);

/* Sorting along one dimension: rising or, if `descending` is 1, falling. NaN
 * counts as larger than every number, so that rising it comes last and falling
 * first. Equal numbers (0 and -0 are, and so are NaNs) stay in the order in
 * which they were, either way. */
RC_API rc_status rc_op_sort(rc_tensor* x, int32_t dimension, int32_t descending,
                            rc_tensor** result);

/* The indices of the elements along the dimension in the order of rc_op_sort,
 * as I32. */
RC_API rc_status rc_op_argsort(rc_tensor* x, int32_t dimension,
                               int32_t descending, rc_tensor** result);

/* The k largest along one dimension, the first k of rc_op_sort falling: NaNs
 * first. k is at most the size of the dimension; k of the result. */
RC_API rc_status rc_op_topk(rc_tensor* x, int64_t k, int32_t dimension,
                            rc_tensor** result);

/* The indices of the k largest, as I32. For both, give rc_op_take_along these
 * rather than asking rc_op_topk, which would look for them once more. */
RC_API rc_status rc_op_argtopk(rc_tensor* x, int64_t k, int32_t dimension,
                               rc_tensor** result);

/* The elements of x with these indices along one dimension: I32 indices of the
 * same rank and the same other dimensions, each within 0 to the size of the
 * dimension - 1. The shape is that of the indices. An index outside is
 * RC_E_INVALID_ARGUMENT; in a graph, of the run. */
RC_API rc_status rc_op_take_along(rc_tensor* x, rc_tensor* indices,
                                  int32_t dimension, rc_tensor** result);

/* The numbers of x in another type, rounded to nearest: F32, F16, BF16, F64, I8
 * to I64 (saturating; NaN becomes 0), Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K,
 * Q6_K, IQ4_NL or TQ2_0. Between types without blocks they are rounded once,
 * but for I64 beyond 2^53, which becomes F64 first; to and from types with
 * blocks they go through F32. RC_E_UNSUPPORTED: no such type. */
RC_API rc_status rc_op_quantize(rc_tensor* x, rc_dtype dtype,
                                rc_tensor** result);

/* The numbers of x as F32. */
RC_API rc_status rc_op_dequantize(rc_tensor* x, rc_tensor** result);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_OP_H */
