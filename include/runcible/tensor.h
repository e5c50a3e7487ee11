/* Runcible: tensors, for those who compute without a model; their ops are in
 * op.h, which this includes.
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
 * A tensor is a typed, shaped view of memory on a backend's device. Every op
 * makes a new tensor, whose numbers stay on the device until they are read.
 * Numbers change only where the caller says so: by rc_op_into, and in memory
 * that was borrowed. Rules that hold for all functions:
 *
 * - Shapes have rank 1 to RC_TENSOR_MAX_RANK, are written slowest dimension
 *   first, and are row-major. A dimension may be 0: the tensor is empty then.
 *   In types that store blocks the last dimension is a multiple of the block.
 * - "Numbers" are tensors of any type of rc_dtype. An op computes in F64 if any
 *   of its numbers is F64; in F16 or BF16 if all of them are of that type; and
 *   else in F32. Its result has the type in which it computes, unless said
 *   otherwise. Numbers of other types are converted first: exactly, except that
 *   integers which the type cannot hold are rounded to nearest.
 * - In F16 and BF16 what an op computes is what it computes in F32 of the same
 *   numbers, rounded once more to nearest, ties to even; beyond the largest
 *   number that is infinity. Sums, differences, products, quotients and square
 *   roots of one or two numbers are correctly rounded by that, and long sums
 *   are added up in F32 or better and rounded at their end.
 * - F64 is computed by cpu and reference, by IEEE 754, with the functions of
 *   the C library. GPUs leave it to the CPU, as every op that they do not
 *   support, also those whose rc_device_report.fp64 is 1.
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
 *   A device that cannot be opened, does not support the op or has no memory
 *   for it is passed over.
 * - Result tensors are the caller's; see rc_tensor_release. A tensor keeps its
 *   device, and a view the memory that it shows.
 * - Calls may come from any thread, at once and with the same tensors. A call
 *   returns when the device has done its work; a device works for one call at a
 *   time.
 * - What a device cannot do itself is done on the CPU, and the numbers are
 *   moved there and back; rc_backend_explain says which ops.
 * - On the cpu backend ops give the same bits whatever the number of threads.
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

/* The end of borrowing; see rc_tensor_borrow. */
typedef void (*rc_tensor_borrow_callback)(void* user);

/* A tensor of the caller's memory, which is not copied: `bytes` bytes at
 * `data`, row-major and dense in the layout of the type, exactly as many as the
 * shape takes. The address is a multiple of the largest power of two that
 * divides the bytes of an element, or of a block: 4 for F32. The memory takes
 * nothing of memory_limit.
 *
 * The caller keeps it until `ended` is called, with `user`, which happens
 * exactly once after a success: when the tensor, its views, graphs that have it
 * as a constant, and runs that read it are gone; if it has no elements, at
 * once. The thread is the one that gives up the last of them, the caller's or
 * the library's; `ended` must return soon, and not call the library. After a
 * failure it is not called, nor ever if the device is lost in the middle of a
 * run, which may still read. NULL: the memory is never taken away.
 *
 * The library writes to it only what rc_op_into says. What the caller writes
 * there is what later ops read; not while a call works with the tensor.
 * RC_E_UNSUPPORTED: the device has separate memory, as GPUs do;
 * rc_tensor_from_data copies. Of devices of the library cpu and reference can,
 * and of a handle that chooses among several the CPU borrows. */
RC_API rc_status rc_tensor_borrow(rc_backend* backend, rc_dtype dtype,
                                  const int64_t* shape, int32_t rank,
                                  void* data, size_t bytes,
                                  rc_tensor_borrow_callback ended, void* user,
                                  rc_tensor** tensor);

/* The numbers start, start + step, start + 2 step, ... before `stop`, in one
 * dimension: (stop - start) / step of them, rounded up, or none if that is
 * negative. Each is start + i * step, computed in double precision and rounded
 * once; the type is F32, F16, BF16, F64, or I8 to I64 (saturating).
 * RC_E_INVALID_ARGUMENT: a step of 0, or a number that is not finite. */
RC_API rc_status rc_tensor_arange(rc_backend* backend, rc_dtype dtype,
                                  double start, double stop, double step,
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

/* Options of rc_tensor_random; see there. */
typedef struct rc_random_options {
  size_t struct_size;
  uint64_t seed; /* the same seed gives the same numbers on every device */
  int32_t distribution; /* RC_RANDOM_NORMAL or RC_RANDOM_UNIFORM */
  float mean;           /* of a normal distribution */
  float deviation;      /* of a normal distribution; at least 0 */
  float low;            /* of a uniform distribution: at least this */
  float high; /* of a uniform distribution: below this; at least low */
} rc_random_options;

#define RC_RANDOM_OPTIONS_INIT                                               \
  {                                                                          \
    RC_INITIAL(struct_size, sizeof(rc_random_options)), RC_INITIAL(seed, 0), \
        RC_INITIAL(distribution, RC_RANDOM_NORMAL), RC_INITIAL(mean, 0),     \
        RC_INITIAL(deviation, 1), RC_INITIAL(low, 0), RC_INITIAL(high, 1)    \
  }
/* The same as a function; see base.h. */
RC_API void rc_random_options_init(rc_random_options* options, size_t size);

/* A tensor of random F32 numbers. Not for secrets. */
RC_API rc_status rc_tensor_random(rc_backend* backend, const int64_t* shape,
                                  int32_t rank,
                                  const rc_random_options* options,
                                  rc_tensor** tensor);

/* A tensor without numbers or memory, to ask about ops before computing: an op
 * with an outline among its tensors runs nothing, and its result is an outline
 * too, which rc_op_choose describes. An outline cannot be read. */
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

/* Where the numbers lie, if that is memory of the host's, as on cpu and
 * reference: dense, in the layout of the type; NULL if there are none. The
 * address is good as long as the tensor, which is not kept, or a view of it. It
 * may be read and written as memory that was borrowed; what shares it (see
 * rc_op_into) changes, too. RC_E_UNSUPPORTED: the device has separate memory.
 * RC_E_INVALID_ARGUMENT: elements that do not lie in order, or tensors without
 * numbers. */
RC_API rc_status rc_tensor_memory(rc_tensor* tensor, void** data);

/* Memory of the host's that a device moves numbers from and to by itself,
 * without a copy in between ("pinned" memory). */
typedef struct rc_pinned rc_pinned;

/* At least `bytes` bytes of such memory, at least 1, zero at first, at a
 * multiple of 64. `device_id` is one of those that the handle chooses among, as
 * in rc_tensor_to; NULL or "": where its new tensors lie. It counts within the
 * handle's memory_limit, and as memory in use.
 *
 * The program reads and writes it as it likes. Where the `data` of
 * rc_tensor_from_data or rc_tensor_read lies within it, whole and for a tensor
 * of this device, opened through this handle or another that shares it, the
 * device takes the numbers from there or puts them there; for other devices it
 * is memory as any. On cpu and reference it is plain memory, which a tensor can
 * also be of (rc_tensor_borrow). RC_E_UNSUPPORTED: the device has none, as
 * those of webgpu; rc_tensor_from_data takes any memory. */
RC_API rc_status rc_pinned_create(rc_backend* backend, const char* device_id,
                                  size_t bytes, rc_pinned** pinned);

/* References; see base.h. With the last one the memory is gone; no call may
 * work with it then, and no tensor be of it. */
RC_API rc_pinned* rc_pinned_retain(rc_pinned* pinned);
RC_API void rc_pinned_release(rc_pinned* pinned);

/* Where it lies, and the bytes that were asked for. Either may be NULL. */
RC_API rc_status rc_pinned_memory(rc_pinned* pinned, void** data,
                                  size_t* bytes);

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

#ifdef __cplusplus
} /* extern "C" */
#endif

/* Programs of older headers include this one for the ops, too. */
#include "runcible/op.h"

#endif /* RUNCIBLE_TENSOR_H */
