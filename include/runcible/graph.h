/* Runcible: graphs, tensor ops that are recorded once and run many times.
 *
 *     const int64_t shape[] = {3};
 *     const float data[] = {3, -4, 0.5};
 *     float found[3];
 *     rc_backend* backend = NULL;
 *     rc_graph* graph = NULL;
 *     rc_tensor *x = NULL, *square = NULL, *sum = NULL;
 *     rc_tensor *numbers = NULL, *y = NULL;
 *     if (rc_backend_open("cpu", NULL, &backend) != RC_OK ||
 *         rc_graph_begin(backend, &graph) != RC_OK ||
 *         rc_graph_input(graph, RC_DTYPE_F32, shape, 1, &x) != RC_OK ||
 *         rc_op_mul(x, x, &square) != RC_OK ||
 *         rc_op_add(square, x, &sum) != RC_OK ||
 *         rc_graph_end(graph, &sum, 1) != RC_OK ||
 *         rc_tensor_from_data(backend, RC_DTYPE_F32, shape, 1, data,
 *                             sizeof data, &numbers) != RC_OK ||
 *         rc_graph_run(graph, &numbers, 1, NULL, &y, 1) != RC_OK ||
 *         rc_tensor_read(y, found, sizeof found) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("%g %g %g\n", found[0], found[1], found[2]);
 *     rc_tensor_release(y);
 *     rc_tensor_release(numbers);
 *     rc_tensor_release(sum);
 *     rc_tensor_release(square);
 *     rc_tensor_release(x);
 *     rc_graph_release(graph);
 *     rc_backend_release(backend);
 *
 * rc_graph_begin makes a graph that records, and rc_graph_input the tensors
 * that stand for what each run will bring. An op of tensor.h with at least one
 * operand that was recorded is not done, but recorded: its result has a type
 * and a shape, and can be an operand and be viewed as any tensor, but has no
 * numbers. Its other operands are constants of the graph. rc_graph_end says
 * which results are wanted and compiles what these need, and rc_graph_run gives
 * a new tensor for each of them. Rules:
 *
 * - Errors of an op, shapes that do not fit or types that cannot be decoded,
 *   are reported by the op, when it is recorded; nothing is recorded then, and
 *   the graph goes on. What depends on numbers, such as ids of rows that there
 *   are not, is reported by the run.
 * - The numbers are the same as op by op, to the bit, on the backends cpu and
 *   reference, as far as these promise that of ops (see tensor.h); others may
 *   fuse with fewer roundings.
 * - Chains of ops that look at one element at a time are done as one on the cpu
 *   backend: what lies between is never in memory. A product takes the bias of
 *   its columns and the function that come next with it on every backend.
 * - What is recorded is the caller's to release as any tensor, before the
 *   graph's end or after; the graph keeps what it needs. It keeps constants as
 *   long as it lives.
 * - rc_tensor_read of a tensor that was recorded is RC_E_INVALID_ARGUMENT, and
 *   so are ops on it once its graph has been ended, and ops on tensors of two
 *   graphs.
 * - Any thread may record, run and cancel, several at once; a graph is run as
 *   often as wanted, with other inputs each time. A device works for one run at
 *   a time. Ops are recorded in the order of the calls.
 * - Memory is the handle's, within its memory_limit: outputs as those of ops,
 *   and from rc_graph_end on what lies between ops that are not fused. The time
 *   that devices spend on runs counts as compute_us in rc_backend_usage.
 * - An op that the device does not support runs on the CPU, and is named by
 *   rc_backend_explain from rc_graph_end on; with `strict` that is
 *   RC_E_UNSUPPORTED of rc_graph_end.
 *
 * Besides the statuses that a comment names, functions can return those that
 * tensor.h names for all functions of tensors. */
#ifndef RUNCIBLE_GRAPH_H
#define RUNCIBLE_GRAPH_H

#include "runcible/backend.h"
#include "runcible/base.h"
#include "runcible/loop.h"
#include "runcible/tensor.h"
#include "runcible/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rc_graph rc_graph;

/* A graph that records, for the device of `backend`; where that chooses a
 * device for each op (RC_PLACEMENT_EACH_OP), for the one that its tensors come
 * to lie on first, to which constants and inputs are moved. It is the caller's;
 * see rc_graph_release. */
RC_API rc_status rc_graph_begin(rc_backend* backend, rc_graph** graph);

/* A tensor that stands for one that each run brings, of this type and shape.
 * Inputs are numbered in the order of the calls. RC_E_INVALID_ARGUMENT: the
 * graph has been ended. */
RC_API rc_status rc_graph_input(rc_graph* graph, rc_dtype dtype,
                                const int64_t* shape, int32_t rank,
                                rc_tensor** input);

/* Ends the recording: `outputs` are what runs give, in this order. They may be
 * inputs, views, the same tensor twice, and tensors with numbers, which every
 * run then gives as they are. Compiles, which may take a GPU's driver seconds.
 * After a failure the graph still records. RC_E_INVALID_ARGUMENT: an output
 * that was recorded in another graph; a graph that has been ended;
 * RC_E_UNSUPPORTED: neither the device nor, unless the backend was opened with
 * `strict`, the CPU can run an op. */
RC_API rc_status rc_graph_end(rc_graph* graph, rc_tensor* const* outputs,
                              size_t output_count);

/* How to run; see rc_graph_run. */
typedef struct rc_graph_run_options {
  size_t struct_size;
  int64_t deadline_ms; /* from now on; then RC_E_TIMEOUT. 0: none */
} rc_graph_run_options;

#define RC_GRAPH_RUN_OPTIONS_INIT                          \
  {                                                        \
    RC_INITIAL(struct_size, sizeof(rc_graph_run_options)), \
        RC_INITIAL(deadline_ms, 0)                         \
  }
/* The same as a function; see base.h. */
RC_API void rc_graph_run_options_init(rc_graph_run_options* options,
                                      size_t size);

/* Computes the outputs of these inputs, as many and of the types and shapes
 * that were recorded, on the graph's device; they may be views. `outputs` gets
 * output_count new tensors, which are the caller's and belong to the graph's
 * handle; they stay as they are, whatever runs later. After a failure they are
 * all NULL. Waits for the end.
 *
 * RC_E_INVALID_ARGUMENT: inputs or outputs that are not as many, or not as they
 * were recorded (the message says which); a graph that has not been ended;
 * RC_E_CANCELLED: rc_graph_cancel; RC_E_TIMEOUT: the deadline, or the handle's
 * timeout_ms, which holds for the run as a whole. A run that is to end is
 * heeded by a CPU within some milliseconds, by a GPU after what it has begun.
 */
RC_API rc_status rc_graph_run(rc_graph* graph, rc_tensor* const* inputs,
                              size_t input_count,
                              const rc_graph_run_options* options,
                              rc_tensor** outputs, size_t output_count);

/* The end of rc_graph_run_async, on the loop's thread, exactly once. On success
 * the `output_count` tensors are the receiver's to release, and the array that
 * holds them is valid during the call. On failure there are none, and `message`
 * (valid during the call) says why. */
typedef void (*rc_graph_run_callback)(void* user, rc_status status,
                                      const char* message,
                                      rc_tensor* const* outputs,
                                      size_t output_count);

/* The same in a thread of the library; `loop` NULL: the callback runs on the
 * library's own loop thread. Graph and inputs may be released meanwhile.
 * Closing the loop cancels it. It is one of the handle's requests until its end
 * has been reported. RC_E_INVALID_ARGUMENT, RC_E_CLOSED and RC_E_QUOTA (the
 * handle's max_requests) are returned at once, and there is no end then;
 * everything else goes to the callback. */
RC_API rc_status rc_graph_run_async(rc_graph* graph, rc_tensor* const* inputs,
                                    size_t input_count,
                                    const rc_graph_run_options* options,
                                    rc_loop* loop,
                                    rc_graph_run_callback callback, void* user);

/* Cancels the runs of the graph that are under way, asynchronous ones too: they
 * end with RC_E_CANCELLED, unless they are over by then. Later ones are not
 * affected. */
RC_API rc_status rc_graph_cancel(rc_graph* graph);

/* The state of a graph. */
typedef struct rc_graph_report {
  size_t struct_size;
  uint64_t inputs;
  uint64_t outputs;
  uint64_t recorded_ops; /* with copies of views that an op needed */
  /* Those that runs do, without what no output needs, and products with what
   * they take as one. */
  uint64_t ops;
  uint64_t memory; /* bytes that it takes between runs, besides constants */
} rc_graph_report;

#define RC_GRAPH_REPORT_INIT                                                 \
  {                                                                          \
    RC_INITIAL(struct_size, sizeof(rc_graph_report)), RC_INITIAL(inputs, 0), \
        RC_INITIAL(outputs, 0), RC_INITIAL(recorded_ops, 0),                 \
        RC_INITIAL(ops, 0), RC_INITIAL(memory, 0)                            \
  }
/* The same as a function; see base.h. */
RC_API void rc_graph_report_init(rc_graph_report* report, size_t size);
/* RC_E_INVALID_ARGUMENT: the graph has not been ended. */
RC_API rc_status rc_graph_info(rc_graph* graph, rc_graph_report* report);

/* References; see base.h. Runs that are under way keep what they need. */
RC_API rc_graph* rc_graph_retain(rc_graph* graph);
RC_API void rc_graph_release(rc_graph* graph);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_GRAPH_H */
