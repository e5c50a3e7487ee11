/* Runcible: tensors and ops, for those who compute without a model.
 *
 *     const int64_t shape[] = {2, 3};
 *     const float numbers[] = {1, 2, 3, 4, 5, 6};
 *     float product[4];
 *     rc_backend* backend = NULL;
 *     rc_tensor *a = NULL, *c = NULL;
 *     if (rc_backend_open("cpu", NULL, &backend) != RC_OK ||
 *         rc_tensor_from_data(backend, RC_DTYPE_F32, shape, 2, numbers,
 *                             sizeof numbers, &a) != RC_OK ||
 *         rc_op_matmul_transposed(a, a, &c) != RC_OK ||
 *         rc_tensor_read(c, product, sizeof product) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("%g %g %g %g\n", product[0], product[1], product[2], product[3]);
 *     rc_tensor_release(c);
 *     rc_tensor_release(a);
 *     rc_backend_release(backend);
 *
 * A tensor is a typed, shaped view of memory on a backend's device. Its numbers
 * never change: every op makes a new tensor, whose numbers stay on the device
 * until they are read. Rules that hold for all functions:
 *
 * - Shapes have rank 1 to RC_TENSOR_MAX_RANK, are written slowest dimension
 *   first, and are row-major. A dimension may be 0: the tensor is empty then.
 *   In types that store blocks the last dimension is a multiple of the block.
 * - "Numbers" are tensors of any type of rc_dtype. Ops compute in F32 with
 *   them, and results are F32, unless said otherwise. I64 and F64 are rounded
 *   first.
 * - Broadcasting, where a comment allows it: shapes are compared from the last
 *   dimension on, missing ones count as 1, and a dimension of 1 is repeated to
 *   the size of the other's. [4, 1, 3] and [5, 1] make [4, 5, 3].
 * - A dimension given as an argument may be negative: -1 is the last one.
 * - All tensors of an op live on one device; through which handle each was made
 *   does not matter. The result belongs to the first one's handle and counts
 *   within its memory_limit. rc_tensor_to moves tensors.
 * - Where the first one's handle chooses a device for each op, as one of "auto"
 *   does (see rc_backend_options.placement), they may lie anywhere. The op runs
 *   on the device that will be done first, by what was measured of each (see
 *   rc_calibrate): small ones on the CPU, large ones on a GPU. Moving the
 *   operands that lie elsewhere counts, so that what lies on a device draws the
 *   work there; an operand that was moved stays where it was, too. The result
 *   lies where it was computed (rc_tensor_device), and reading it moves it from
 *   there. New tensors lie in the memory of the CPU if it is among the devices,
 *   else on the first. Until everything was measured that has to be compared,
 *   an op runs where most bytes of its operands lie: on the CPU, unless
 *   rc_tensor_to has moved them. What else a device is busy with is not known.
 *   A device that cannot be opened, lacks the op or has no memory for it is
 *   passed over.
 * - Result tensors are the caller's; see rc_tensor_release. A tensor keeps its
 *   device, and a view the memory that it shows.
 * - Calls may come from any thread, at once and with the same tensors. A call
 *   returns when the device has done its work; a device works for one call at a
 *   time.
 * - What a device cannot do itself is done on the CPU, and the numbers are
 *   moved there and back; rc_backend_explain says which ops.
 * - On the cpu backend a large product of matrices, and a large convolution
 *   whose windows do not move on by single columns, is given to OpenBLAS if
 *   libopenblas.so.0 is on the machine. Its results may differ in their last
 *   bits with the shape and the number of threads. All other ops give the same
 *   bits whatever the number of threads.
 * - Memory of large tensors that are released is kept, within bounds, for the
 *   next results of their handle, and counts as memory in use meanwhile. It is
 *   given back when the memory_limit or the device has no more, when a model is
 *   loaded, and when the handle is released.
 *
 * Besides the statuses that a comment names, every function can return
 * RC_E_INVALID_ARGUMENT (a handle that is none, NULL where something is needed,
 * shapes or types that do not fit: the message gives them all, and what would
 * fit), RC_E_OUT_OF_MEMORY; and those that make a tensor or touch a device
 * RC_E_DEVICE_MEMORY (the device's, or the handle's memory_limit), RC_E_DEVICE,
 * RC_E_DEVICE_LOST, RC_E_TIMEOUT (the handle's timeout_ms) and RC_E_UNSUPPORTED
 * (a type that cannot be decoded or encoded). */
#ifndef RUNCIBLE_TENSOR_H
#define RUNCIBLE_TENSOR_H

#include "runcible/backend.h"
#include "runcible/base.h"
#include "runcible/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RC_TENSOR_MAX_RANK 4

typedef struct rc_tensor rc_tensor;

/* A tensor of zeros (for types with blocks: of zero bytes). `shape` has `rank`
 * dimensions. */
RC_API rc_status rc_tensor_create(rc_backend* backend, rc_dtype dtype,
                                  const int64_t* shape, int32_t rank,
                                  rc_tensor** tensor);

/* A tensor of the caller's numbers: `bytes` bytes at `data`, row-major and
 * dense in the layout of the type, exactly as many as the shape takes. They are
 * copied. */
RC_API rc_status rc_tensor_from_data(rc_backend* backend, rc_dtype dtype,
                                     const int64_t* shape, int32_t rank,
                                     const void* data, size_t bytes,
                                     rc_tensor** tensor);

/* A tensor of ones. RC_E_UNSUPPORTED: the type cannot be encoded. */
RC_API rc_status rc_tensor_ones(rc_backend* backend, rc_dtype dtype,
                                const int64_t* shape, int32_t rank,
                                rc_tensor** tensor);

enum {
  /* With `mean` and `deviation`. */
  RC_RANDOM_NORMAL = 0,
  /* At least `low`, below `high`. */
  RC_RANDOM_UNIFORM = 1
};

/* What rc_tensor_random makes; see there. */
typedef struct rc_random_options {
  size_t struct_size;
  uint64_t seed; /* the same seed gives the same numbers on every device */
  int32_t distribution; /* RC_RANDOM_NORMAL or RC_RANDOM_UNIFORM */
  float mean;           /* of a normal distribution */
  float deviation;      /* of a normal distribution; at least 0 */
  float low;            /* of a uniform distribution: at least this */
  float high; /* of a uniform distribution: below this; at least low */
} rc_random_options;

#define RC_RANDOM_OPTIONS_INIT \
  { sizeof(rc_random_options), 0, RC_RANDOM_NORMAL, 0, 1, 0, 1 }
/* The same as a function; see base.h. */
RC_API void rc_random_options_init(rc_random_options* options, size_t size);

/* A tensor of random F32 numbers. Not for secrets. */
RC_API rc_status rc_tensor_random(rc_backend* backend, const int64_t* shape,
                                  int32_t rank,
                                  const rc_random_options* options,
                                  rc_tensor** tensor);

/* A tensor without numbers or memory, to ask about ops before computing: an op
 * with an outline among its tensors runs nothing, and its result is an outline
 * too, of which rc_op_choose tells. An outline cannot be read. */
RC_API rc_status rc_tensor_outline(rc_backend* backend, rc_dtype dtype,
                                   const int64_t* shape, int32_t rank,
                                   rc_tensor** tensor);

/* References; see base.h. */
RC_API rc_tensor* rc_tensor_retain(rc_tensor* tensor);
RC_API void rc_tensor_release(rc_tensor* tensor);

/* The type of the elements. */
RC_API rc_status rc_tensor_dtype(rc_tensor* tensor, rc_dtype* dtype);

/* Writes the dimensions to `shape`, which has room for RC_TENSOR_MAX_RANK, 0
 * beyond the rank, and the rank to `rank`. Either may be NULL. */
RC_API rc_status rc_tensor_shape(rc_tensor* tensor, int64_t* shape,
                                 int32_t* rank);

/* The number of elements, and the bytes that rc_tensor_read writes. Either may
 * be NULL. */
RC_API rc_status rc_tensor_size(rc_tensor* tensor, int64_t* elements,
                                size_t* bytes);

/* The device on which the tensor lies, "vulkan:0"; of an outline, on which it
 * would. The text is the tensor's. */
RC_API rc_status rc_tensor_device(rc_tensor* tensor, const char** device);

/* The same numbers on another device, or of another handle: `backend`, NULL for
 * the tensor's own. `device_id` is one of those that the handle chooses among,
 * "vulkan:0" or "vulkan" for the first of them; NULL or "": where its new
 * tensors lie. Views become dense. What is there already is not copied, and
 * shares the memory. RC_E_BACKEND_UNAVAILABLE: the device cannot be
 * opened. */
RC_API rc_status rc_tensor_to(rc_tensor* tensor, rc_backend* backend,
                              const char* device_id, rc_tensor** moved);

/* The end of rc_tensor_to_async, on the loop's thread, exactly once. On success
 * `moved` is the receiver's to release. On failure it is NULL and `message`
 * (valid during the call) says why. */
typedef void (*rc_tensor_callback)(void* user, rc_status status,
                                   const char* message, rc_tensor* moved);

/* Moves in a thread of the library; `loop` NULL: the callback runs on the
 * library's own loop thread. Closing the loop does not cut the moving short.
 * RC_E_INVALID_ARGUMENT of handles and `callback`, and RC_E_CLOSED, are
 * returned at once, everything else goes to the callback. */
RC_API rc_status rc_tensor_to_async(rc_tensor* tensor, rc_backend* backend,
                                    const char* device_id, rc_loop* loop,
                                    rc_tensor_callback callback, void* user);

/* Copies the numbers to host memory, row-major and dense in the layout of the
 * tensor's type. `bytes` is the room at `data`: exactly what rc_tensor_size
 * says. */
RC_API rc_status rc_tensor_read(rc_tensor* tensor, void* data, size_t bytes);

/* Views. They share the memory of their tensor. */

/* The same elements, in order, under another shape. One dimension may be -1:
 * what is left for it. A tensor whose elements do not lie in order, such as a
 * transposed one, is copied. In types with blocks the last dimension stays. */
RC_API rc_status rc_tensor_reshape(rc_tensor* tensor, const int64_t* shape,
                                   int32_t rank, rc_tensor** view);

/* Every `step`-th index from `begin` to before `end` of one dimension; step is
 * at least 1, 0 <= begin <= end <= size. In types with blocks the last
 * dimension can only be cut at blocks, with step 1. */
RC_API rc_status rc_tensor_slice(rc_tensor* tensor, int32_t dimension,
                                 int64_t begin, int64_t end, int64_t step,
                                 rc_tensor** view);

/* Two dimensions exchanged; of types with blocks not the last. */
RC_API rc_status rc_tensor_transpose(rc_tensor* tensor, int32_t dimension,
                                     int32_t other, rc_tensor** view);

/* Ops. `result` is a new tensor. */

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
 * within the product: no decoded copy of the weight is made. The device may
 * quantize rows of a to 8 bits for it (a mean square error of some 5e-5 of the
 * terms'). RC_E_INVALID_ARGUMENT: the weight's type has no blocks. */
RC_API rc_status rc_op_matmul_quantized(rc_tensor* a, rc_tensor* weight,
                                        rc_tensor** result);

/* function(x weight^T + bias) for x [..., k], weight [n, k] of numbers, bias
 * [n] or NULL: [..., n]. Types with blocks as in rc_op_matmul_quantized. */
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

/* Comparisons of each pair, broadcast: 1 where they hold, else 0. Nothing
 * compares with a NaN, but that it is not equal. */
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
 * three broadcast. A NaN is not 0. */
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

#define RC_ROPE_OPTIONS_INIT \
  { sizeof(rc_rope_options), RC_ROPE_ADJACENT, 0, 10000, 1 }
/* The same as a function; see base.h. */
RC_API void rc_rope_options_init(rc_rope_options* options, size_t size);

/* Rotary position embedding (arXiv:2104.09864) of x [..., rows, heads, d] with
 * I32 positions [rows]. `frequencies` [pairs] replaces theta and dimensions:
 * the pairs turn by position * frequency; NULL: none. */
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

#define RC_ATTENTION_OPTIONS_INIT \
  { sizeof(rc_attention_options), 0, 0, 0 }
/* The same as a function; see base.h. */
RC_API void rc_attention_options_init(rc_attention_options* options,
                                      size_t size);

/* softmax(scale q k^T) v for each head of q [..., R, heads, d], k and v
 * [..., P, kv_heads, d]: shape of q. Head h reads key/value head
 * h / (heads / kv_heads); heads is a multiple of kv_heads. Dimensions before
 * the last three are equal. */
RC_API rc_status rc_op_attention(rc_tensor* q, rc_tensor* k, rc_tensor* v,
                                 const rc_attention_options* options,
                                 rc_tensor** result);

/* As `dimension`: all of them; the result has shape [1]. */
#define RC_ALL_DIMENSIONS INT32_MIN

/* Sum, mean and maximum over one dimension, which the result lacks or, if
 * `keep` is 1, has with size 1; of a tensor of rank 1 the result has shape [1].
 * Of an empty dimension the sum is 0, the mean NaN, and the maximum
 * RC_E_INVALID_ARGUMENT. */
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

#define RC_CONV2D_OPTIONS_INIT \
  { sizeof(rc_conv2d_options), {1, 1}, {0, 0}, {1, 1}, 1 }
/* The same as a function; see base.h. */
RC_API void rc_conv2d_options_init(rc_conv2d_options* options, size_t size);

/* Cross-correlation of x [batch, channels, height, width] with weight
 * [outputs, channels / groups, kh, kw], plus bias [outputs] or NULL:
 * [batch, outputs, oh, ow] with oh = (height + 2 padding - dilation (kh - 1)
 * - 1) / stride + 1, rounded down, and ow alike. */
RC_API rc_status rc_op_conv2d(rc_tensor* x, rc_tensor* weight, rc_tensor* bias,
                              const rc_conv2d_options* options,
                              rc_tensor** result);

/* Rows ids[i] of table [n, d] for I32 ids of any shape within 0 to n - 1: the
 * shape of ids, which has rank 3 at most, with d after it. */
RC_API rc_status rc_op_gather_rows(rc_tensor* table, rc_tensor* ids,
                                   rc_tensor** result);

/* The numbers of x in another type, rounded to nearest: F32, F16, BF16, F64, I8
 * to I64 (saturating), Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K, IQ4_NL
 * or TQ2_0. RC_E_UNSUPPORTED: no such type. */
RC_API rc_status rc_op_quantize(rc_tensor* x, rc_dtype dtype,
                                rc_tensor** result);

/* The numbers of x as F32. */
RC_API rc_status rc_op_dequantize(rc_tensor* x, rc_tensor** result);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_TENSOR_H */
