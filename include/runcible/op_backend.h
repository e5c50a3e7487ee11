/* Runcible: backends that compute op by op, in functions of the program. Where
 * a plugin (plugin.h) is given whole programs, such a backend is a function
 * that computes one op in host memory; the library keeps weights and buffers,
 * gives symbolic dimensions their numbers, and computes what the backend does
 * not support on the devices that come after it. Packages of scripting
 * languages are written on this.
 *
 *     static rc_status supports(void* user, const rc_op_call* call,
 *                               char* message) {
 *       if (call->code == RC_OP_ADD) return RC_OK;
 *       strcpy(message, "only ADD is written");
 *       return RC_E_UNSUPPORTED;
 *     }
 *     static rc_status compute(void* user, const rc_op_call* call,
 *                              char* message) {
 *       const float* a = call->inputs[0]->data;
 *       const float* b = call->inputs[1]->data;
 *       float* y = call->outputs[0]->data;
 *       for (uint64_t i = 0; i < call->outputs[0]->bytes / sizeof *y; i++)
 *         y[i] = a[i] + b[i];
 *       return RC_OK;
 *     }
 *     ...
 *     rc_op_backend mine = RC_OP_BACKEND_INIT;
 *     mine.name = "mine";
 *     mine.supports = supports;
 *     mine.compute = compute;
 *     rc_op_backend_register(&mine);
 *     rc_backend_open("mine,cpu", NULL, &backend);
 */
#ifndef RUNCIBLE_OP_BACKEND_H
#define RUNCIBLE_OP_BACKEND_H

#include "runcible/base.h"
#include "runcible/plugin_ops.h"
#include "runcible/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The room of the messages that functions write, with the terminating zero. */
#define RC_OP_BACKEND_MESSAGE_BYTES 512

/* A value of an op. Row-major and dense, the slowest dimension first. */
typedef struct rc_op_value {
  size_t struct_size;
  rc_dtype dtype;
  int32_t rank;
  /* In `supports` the first dimension may be a symbol, RC_DIM_*. */
  int64_t shape[RC_PLUGIN_MAX_RANK];
  /* Valid during the call only. Values of an op overlap where plugin_ops.h lets
   * an output take the bytes of an input, and then begin at the same byte. NULL
   * in `supports`. */
  void* data;
  uint64_t bytes; /* 0 in `supports` */
  /* Of weights: a number that no other weight of the process has or will have,
   * by which a backend may know what it holds a copy of; else 0, and 0 in
   * `supports`. */
  uint64_t weight;
  int32_t storage;  /* RC_STORAGE_* */
  int32_t writable; /* 1: outputs, and the caches that an op writes */
} rc_op_value;

/* An op to compute, or to be asked about. */
typedef struct rc_op_call {
  size_t struct_size;
  const char* name; /* "RMS_NORM" of RC_OP_RMS_NORM */
  /* As many as plugin_ops.h names; NULL: absent. */
  const rc_op_value* const* inputs;
  size_t input_count;
  const rc_op_value* const* outputs;
  size_t output_count;
  const rc_plugin_params* params;
  /* The same as a JSON object, by the names of the members; functions, styles
   * and scores by the ends of the names of their constants in lower case:
   * {"function":"silu","limit":0,"offset":0}. */
  const char* params_json;
  /* Whether to stop, for ops that take longer than 20 ms: non-zero means to
   * return RC_E_CANCELLED. Any thread. NULL in `supports`. */
  int32_t (*should_stop)(void* stop_user);
  void* stop_user;
  int32_t code;       /* RC_OP_* */
  int32_t of_tensors; /* 1: all shapes are fixed; 0: of rows of a batch */
} rc_op_call;

/* A backend. Its functions may be called from any thread, several at once for
 * different opened devices; of one opened device, supports and compute one at a
 * time. They write a message of at most RC_OP_BACKEND_MESSAGE_BYTES when they
 * fail. They must not use what is open on the backend itself, which waits for
 * them. */
typedef struct rc_op_backend {
  size_t struct_size;
  const char* name;        /* lower case letters, digits and '_' */
  const char* description; /* NULL: none */
  const char* device_name; /* NULL: the name */
  /* Features of the device, words separated by spaces, for reports. NULL:
   * nothing is reported. */
  const char* features;
  void* user; /* given to every function */
  /* RC_OK: devices can be opened; `message` may say more, which device reports
   * have as the driver. Else why they cannot be. NULL: they always can. */
  rc_status (*health)(void* user, char* message);
  /* RC_OK if the op can be computed; RC_E_UNSUPPORTED with the reason if not.
   * Of ops of tensors those are asked for whose T and D are F32 (see
   * plugin_tensor_ops.h). */
  rc_status (*supports)(void* user, const rc_op_call* call, char* message);
  /* Computes the op and returns when it is over. RC_E_DEVICE_LOST: neither can
   * any other be, until the backend is opened again. */
  rc_status (*compute)(void* user, const rc_op_call* call, char* message);
  /* The weight is gone, and its number will not come again. NULL: who holds no
   * copies need not know. */
  void (*forget_weight)(void* user, uint64_t weight);
  /* The backend was unregistered and nothing is open on it any more: no
   * function is called after this one, which is called once, from any thread.
   * NULL: nothing is to be done. */
  void (*release)(void* user);
} rc_op_backend;

#define RC_OP_BACKEND_INIT                                                   \
  {                                                                          \
    RC_INITIAL(struct_size, sizeof(rc_op_backend)), RC_INITIAL(name, 0),     \
        RC_INITIAL(description, 0), RC_INITIAL(device_name, 0),              \
        RC_INITIAL(features, 0), RC_INITIAL(user, 0), RC_INITIAL(health, 0), \
        RC_INITIAL(supports, 0), RC_INITIAL(compute, 0),                     \
        RC_INITIAL(forget_weight, 0), RC_INITIAL(release, 0)                 \
  }

/* The same for languages without macros. */
RC_API void rc_op_backend_init(rc_op_backend* backend, size_t struct_size);

/* Adds a backend to the process, with one device of kind RC_DEVICE_SOFTWARE,
 * which "auto" leaves alone where there is a CPU: it is to be named. The struct
 * and its texts are copied. RC_E_INVALID_ARGUMENT: name, supports or compute is
 * missing, or the name is wrong or taken; RC_E_UNSUPPORTED: 64 different names
 * have been registered in this process. After a failure `release` is not
 * called. Any thread. */
RC_API rc_status rc_op_backend_register(const rc_op_backend* backend);

/* Takes a backend out: it can no longer be found or opened, and its name is
 * free. What is open on it goes on. RC_E_NOT_FOUND: rc_op_backend_register has
 * added no backend of this name, or it is gone. Any thread. */
RC_API rc_status rc_op_backend_unregister(const char* name);

/* "RMS_NORM" of RC_OP_RMS_NORM; NULL for a number that is no op. Ops have the
 * numbers from 1 on, with gaps below 64. Static. */
RC_API const char* rc_op_name(int32_t code);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_OP_BACKEND_H */
