/* Runcible: custom ops, tensor ops of the program's own: a C function for
 * devices that compute in host memory (cpu, reference), and a kernel in OpenCL
 * C or GLSL for those that are GPUs. The library checks the tensors by the op's
 * signature, makes the results, divides the work, moves what has to be moved,
 * and records the op in graphs as any other.
 *
 *     static rc_status shift(void* user, const rc_custom_call* call,
 *                            char* message) {
 *       const float* x = call->inputs[0]->data;
 *       float* y = call->outputs[0]->data;
 *       for (int64_t i = call->begin; i < call->end; i++)
 *         y[i] = x[i] + (float)call->attributes[0];
 *       return RC_OK;
 *     }
 *     ...
 *     rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
 *     options.name = "shift";
 *     options.signature = "x F32 [...] -> y F32 [...]";
 *     options.attributes = "by float";
 *     options.function = shift;
 *     options.items = "elements(y)";
 *     options.opencl_c = "size_t i = get_global_id(0);\n"
 *                        "if (i < y_elements) y[i] = x[i] + by;";
 *     options.glsl = "uint i = gl_GlobalInvocationID.x;\n"
 *                    "if (i < y_elements) y[i] = x[i] + by;";
 *     options.grid = "elements(y)";
 *     const double by = 0.5;
 *     rc_custom_op_create(&options, &op);
 *     rc_custom_op_compute(op, &x, 1, &by, 1, &y, 1);
 *
 * The signature. Inputs and outputs are separated by "->" and among themselves
 * by commas. Each is a name, a type and a shape:
 *
 *     "x F32|F16 [..., n], scale F32 [n] -> y F32 [..., n], best I32 [n / 2]"
 *
 * - Types are those of rc_dtype without blocks; an input may have several, with
 *   "|" between them. The type of an output is one, or that of an input, whose
 *   name it then has: "y x [n]".
 * - A dimension of an input is a number, or a name that stands for the same
 *   number wherever it is written, or, once and first, "...": any number of
 *   dimensions, the same in all tensors that have them.
 * - A dimension of an output is an expression of numbers, names and attributes
 *   of type int, with + - * / (rounded down), parentheses, min(a, b), max(a, b)
 *   and elements(x), the number of elements of a tensor; or "...".
 * - Names are letters, digits and '_', do not begin with a digit, and are
 *   different: of the tensors, of the dimensions and of the attributes.
 *
 * Where the op runs. On the device on which the inputs lie, in the first of
 * these ways that there is: its kernel in the language of the device; the
 * function, in the device's memory if that is the host's, else on the CPU,
 * where the inputs are taken and the results are fetched from (an op that falls
 * back, as rc_backend_explain says; with `strict` that is an error). Where the
 * handle chooses a device for each op, custom ops run where their first input
 * lies, and the others are moved there.
 *
 * Kernels. `opencl_c` and `glsl` are the bodies of kernels: what is between the
 * braces. Around it the library puts what gives it, by the names of the
 * signature: each tensor, to be indexed as an array, x[i], its elements in
 * order; the number of its elements, x_elements; the dimensions and the
 * attributes as numbers that do not change. Types are those of the language: in
 * OpenCL C F16 and BF16 are ushort (vload_half reads F16 from a pointer to
 * half), I8 to I64 are char to long, F64 is double; GLSL has F32 and I32.
 * Numbers of elements and work-items are 32-bit there: an op whose tensors have
 * 2^31 elements or more is refused. The work-items are those of `grid`, one to
 * three expressions for the dimensions 0 to 2, rounded up to whole work-groups
 * of `group`: a body begins by comparing its place with what there is to do.
 * Kernels are compiled when a device first needs them, and kept as long
 * as the op and the device. Kernels of the caller's can do anything that the
 * driver lets them do; one that never ends is given up at the handle's
 * timeout_ms, and the device with it.
 *
 * Threads: any, several at once; the library calls the function from threads of
 * its own and of the caller's, and a kernel on the device's. The op is
 * immutable.
 *
 * Besides the statuses that a comment names, functions can return those that
 * tensor.h names for all functions of tensors. */
#ifndef RUNCIBLE_CUSTOM_OP_H
#define RUNCIBLE_CUSTOM_OP_H

#include "runcible/base.h"
#include "runcible/op_backend.h"
#include "runcible/tensor.h"
#include "runcible/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of an op. */
#define RC_CUSTOM_OP_MAX_INPUTS 8
#define RC_CUSTOM_OP_MAX_OUTPUTS 4
#define RC_CUSTOM_OP_MAX_ATTRIBUTES 8

typedef struct rc_custom_op rc_custom_op;

/* One computation of a function. Inputs and outputs are dense and row-major,
 * lie in host memory, and are as the signature says; `weight` and `storage` of
 * them mean nothing here. Without elements `data` may be NULL. The outputs have
 * undefined bytes at first. */
typedef struct rc_custom_call {
  size_t struct_size;
  const char* name; /* of the op */
  const rc_op_value* const* inputs;
  size_t input_count;
  const rc_op_value* const* outputs;
  size_t output_count;
  const double* attributes;
  size_t attribute_count;
  /* Which items to compute: from begin to before end. Calls for others may be
   * under way on other threads. */
  int64_t begin;
  int64_t end;
  /* Whether to stop, for what takes longer than 20 ms: non-zero means to return
   * RC_E_CANCELLED. Any thread. */
  int32_t (*should_stop)(void* stop_user);
  void* stop_user;
} rc_custom_call;

/* Computes items and returns when they are done; on failure it writes a message
 * of at most RC_OP_BACKEND_MESSAGE_BYTES. Everything that it is given is valid
 * during the call only. It must not use what lies on the same device, which
 * waits for it. For results that do not depend on the number of threads, an
 * item must be computed in the same way whatever begin and end are. */
typedef rc_status (*rc_custom_function)(void* user, const rc_custom_call* call,
                                        char* message);

/* An op; see above. All texts are copied. */
typedef struct rc_custom_op_options {
  size_t struct_size;
  const char* name;      /* letters, digits and '_'; for messages */
  const char* signature; /* see above */
  /* Numbers that are given with each call: names with their types, int (32
   * bits) or float, separated by commas: "axis int, epsilon float". NULL:
   * none. */
  const char* attributes;
  rc_custom_function function; /* NULL: kernels alone */
  void* user;                  /* given to the function and to `release` */
  /* Called once, from any thread, when the op and everything that was recorded
   * of it are gone. NULL: nothing is to be done. */
  void (*release)(void* user);
  /* An expression, as in the signature: into how many items the function's work
   * can be divided among threads, rows or elements. NULL: one, so that a call
   * of the op is one call of the function. */
  const char* items;
  const char* opencl_c;      /* the body of a kernel; NULL: none */
  const char* opencl_c_head; /* what comes before the kernel; NULL: nothing */
  /* The same in GLSL 4.50, for Vulkan. It is compiled by libshaderc.so.1 (of
   * Debian's package libshaderc1) or, where that cannot be loaded, by the
   * command glslc (of the package of that name), in a separate process. */
  const char* glsl;
  const char* glsl_head;
  const char* grid; /* "d, n"; needed by kernels */
  /* The work-items of a group in each dimension: numbers, "16, 16"; NULL: 64,
   * or 8 by 8, or 4 by 4 by 4. */
  const char* group;
} rc_custom_op_options;

#define RC_CUSTOM_OP_OPTIONS_INIT                                 \
  {                                                               \
    RC_INITIAL(struct_size, sizeof(rc_custom_op_options)),        \
        RC_INITIAL(name, NULL), RC_INITIAL(signature, NULL),      \
        RC_INITIAL(attributes, NULL), RC_INITIAL(function, NULL), \
        RC_INITIAL(user, NULL), RC_INITIAL(release, NULL),        \
        RC_INITIAL(items, NULL), RC_INITIAL(opencl_c, NULL),      \
        RC_INITIAL(opencl_c_head, NULL), RC_INITIAL(glsl, NULL),  \
        RC_INITIAL(glsl_head, NULL), RC_INITIAL(grid, NULL),      \
        RC_INITIAL(group, NULL)                                   \
  }
/* The same as a function; see base.h. */
RC_API void rc_custom_op_options_init(rc_custom_op_options* options,
                                      size_t size);

/* An op of these options; nothing is compiled yet. It is the caller's; see
 * rc_custom_op_release. RC_E_INVALID_ARGUMENT: an option is malformed, a name
 * is missing, unknown or used twice; the message says where. After a failure
 * `release` is not called. */
RC_API rc_status rc_custom_op_create(const rc_custom_op_options* options,
                                     rc_custom_op** op);

/* Computes the op. `inputs` are as many as the signature has, `attributes`
 * numbers as the attributes were named, and `outputs` gets output_count new
 * tensors, which are the caller's and belong to the first input's handle; after
 * a failure they are all NULL. With an input that a graph records, the op is
 * recorded there, and its outputs are.
 *
 * RC_E_INVALID_ARGUMENT: counts, types or shapes do not fit the signature (the
 * message names the tensor, its shape and what is wanted), an attribute is no
 * number of its type, a dimension is negative or overflows, an input is an
 * outline or an operand of rc_op_into; RC_E_UNSUPPORTED: the op has nothing
 * that can run on the device, or runs elsewhere and the handle was opened with
 * `strict`; RC_E_FORMAT: the kernel does not compile: the message has the
 * compiler's words, with lines of the body's own; RC_E_CANCELLED, RC_E_TIMEOUT;
 * and what the function returns, with its message. */
RC_API rc_status rc_custom_op_compute(rc_custom_op* op,
                                      rc_tensor* const* inputs,
                                      size_t input_count,
                                      const double* attributes,
                                      size_t attribute_count,
                                      rc_tensor** outputs, size_t output_count);

/* References; see base.h. Graphs keep the ops that they have recorded. */
RC_API rc_custom_op* rc_custom_op_retain(rc_custom_op* op);
RC_API void rc_custom_op_release(rc_custom_op* op);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_CUSTOM_OP_H */
