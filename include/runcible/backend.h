/* Runcible: backends, devices, and the choice among them.
 *
 *     rc_backend* backend = NULL;
 *     rc_device_report device = RC_DEVICE_REPORT_INIT;
 *     if (rc_backend_open("auto", NULL, &backend) != RC_OK ||
 *         rc_backend_device(backend, &device) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("%s: %s\n", device.id, device.name);
 *     rc_backend_release(backend);
 *
 * A backend is a kind of device and the code that computes on it, and is known
 * by a name: "cpu", "vulkan". It has devices: "vulkan:0", "vulkan:1". A program
 * opens one of them, as often as it likes; each opening is an rc_backend, which
 * comments call a backend handle, or a handle. */
#ifndef RUNCIBLE_BACKEND_H
#define RUNCIBLE_BACKEND_H

#include "runcible/base.h"
#include "runcible/loop.h"
#include "runcible/tenant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One opening of one device by one tenant, with its own limits
 * within those of the tenant and its own meter. Weights and compute are shared
 * with other handles on the same device. */
typedef struct rc_backend rc_backend;

/* The devices that rc_discover found. */
typedef struct rc_device_list rc_device_list;

/* One device, or one backend that is not available. Strings are UTF-8,
 * NUL-terminated, never NULL, and owned by the handle that gave the report. */
typedef struct rc_device_report {
  size_t struct_size;
  const char* backend;     /* "vulkan" */
  const char* description; /* of the backend */
  int32_t index;           /* -1: the backend is not available */
  rc_device_kind kind;     /* what it is */
  const char* id;          /* "vulkan:0", "" if not available */
  const char* name;        /* of the device */
  const char* reason;      /* why the backend is not available, or why the
                              device is passed over; "" if it may be opened */
  uint64_t total_memory;   /* bytes; 0: unknown */
  uint64_t free_memory;    /* bytes; 0: unknown */
  int32_t unified_memory;  /* 1: shared with the host */
  int32_t cores;           /* that the device may use; 0: unknown */
  const char* features;    /* instruction sets or extensions, by spaces */
  const char* driver;      /* API and driver versions */
  const char* physical_id; /* PCI address or UUID; equal for one piece of
                              hardware seen through two backends */
  const char* quarantined; /* ops that failed the self-test and count as
                              lacking until driver or module changes, a line
                              for each with its reason; "" if there are none;
                              see rc_quarantine_forget */
  /* 1: the device has instructions for such arithmetic, whether or not a kernel
   * uses them; 0: it has not, or its driver does not say. */
  int32_t fp16;     /* 16-bit floats (IEEE 754) */
  int32_t bf16;     /* products of bfloat16 */
  int32_t fp64;     /* 64-bit floats */
  int32_t int8_dot; /* sums of products of 8-bit integers */
  /* Of a CPU: the nodes of memory (NUMA) that the process may use, by its
   * cpuset and by the memory policy that it was started with (numactl), each
   * with the usable processors that are nearest to it. 0: unknown, or the
   * device has separate memory. */
  int32_t numa_nodes;
  rc_huge_pages huge_pages; /* of the memory in which weights lie */
} rc_device_report;

#define RC_DEVICE_REPORT_INIT                                            \
  {                                                                      \
    RC_INITIAL(struct_size, sizeof(rc_device_report)),                   \
        RC_INITIAL(backend, NULL), RC_INITIAL(description, NULL),        \
        RC_INITIAL(index, 0), RC_INITIAL(kind, 0), RC_INITIAL(id, NULL), \
        RC_INITIAL(name, NULL), RC_INITIAL(reason, NULL),                \
        RC_INITIAL(total_memory, 0), RC_INITIAL(free_memory, 0),         \
        RC_INITIAL(unified_memory, 0), RC_INITIAL(cores, 0),             \
        RC_INITIAL(features, NULL), RC_INITIAL(driver, NULL),            \
        RC_INITIAL(physical_id, NULL), RC_INITIAL(quarantined, NULL),    \
        RC_INITIAL(fp16, 0), RC_INITIAL(bf16, 0), RC_INITIAL(fp64, 0),   \
        RC_INITIAL(int8_dot, 0), RC_INITIAL(numa_nodes, 0),              \
        RC_INITIAL(huge_pages, RC_HUGE_PAGES_UNKNOWN)                    \
  }
/* The same as a function; see base.h. */
RC_API void rc_device_report_init(rc_device_report* report, size_t size);

/* Looks at every backend that is built in, registered, or found as a module;
 * known ones that this build does not have are listed with the reason. Looking
 * takes as long as their drivers take to answer. A driver that crashes or does
 * not answer within half a minute does so in a separate process, and its
 * backend is listed as not available; that is remembered for an hour, in the
 * user's cache folder. A device that is quarantined is listed with the reason;
 * see rc_quarantine_forget. *list is the caller's; see rc_device_list_release.
 * RC_E_OUT_OF_MEMORY, RC_E_INVALID_ARGUMENT. */
RC_API rc_status rc_discover(rc_device_list** list);

/* The end of rc_discover_async, on the loop's thread, exactly once. On success
 * `list` is the receiver's to release. On failure it is NULL and `message`
 * (valid during the call) says why. */
typedef void (*rc_discover_callback)(void* user, rc_status status,
                                     const char* message, rc_device_list* list);

/* Looks in a thread of the library; `loop` NULL: the callback runs on the
 * library's own loop thread. `progress`, which may be NULL, runs on the looking
 * thread, with `progress_user`; what it cancels ends with RC_E_CANCELLED within
 * some milliseconds, unless a driver is at work in this process. Closing the
 * loop cancels it. RC_E_INVALID_ARGUMENT and RC_E_CLOSED are returned at once,
 * everything else goes to the callback. */
RC_API rc_status rc_discover_async(rc_progress_callback progress,
                                   void* progress_user, rc_loop* loop,
                                   rc_discover_callback callback, void* user);

/* The number of reports; 0 for NULL. */
RC_API size_t rc_device_list_count(const rc_device_list* list);
/* The i-th report, in order of preference within a backend. The strings live
 * as long as the list. RC_E_INVALID_ARGUMENT: no such report. */
RC_API rc_status rc_device_list_get(const rc_device_list* list, size_t i,
                                    rc_device_report* report);
/* The choice of "auto", such as "cpu:0"; "" if there is no device. Lives
 * as long as the list. */
RC_API const char* rc_device_list_automatic(const rc_device_list* list);
/* NULL does nothing; see base.h. */
RC_API void rc_device_list_release(rc_device_list* list);

/* On which devices of its chain a handle has tensors, and does their ops. */
enum {
  /* RC_PLACEMENT_EACH_OP if the chain has "auto" in it, else
   * RC_PLACEMENT_FIRST. */
  RC_PLACEMENT_BY_SPEC = 0,
  /* On the one that was opened. */
  RC_PLACEMENT_FIRST = 1,
  /* Each op on the one that will be done first; see tensor.h. */
  RC_PLACEMENT_EACH_OP = 2
};

/* How to open a backend; see rc_backend_open. Members that are not set take
 * what is configured (config.h), else their defaults. */
typedef struct rc_backend_options {
  size_t struct_size;
  /* Skip devices that are known to have less memory free than this; bytes.
   * Default: 0. */
  uint64_t required_memory;
  /* The most memory of the opened device that this handle's models and tensors
   * may take, bytes; 0: no limit. Tensors on other devices (see
   * placement) count as well. Layers that do not fit go to the
   * next device of the chain; see rc_backend_open. A model or weights that
   * another handle pays for (see rc_backend_usage_report.memory) are shared
   * only if they would fit. If the other lets go of them, this handle pays,
   * even beyond its limit; it is then given nothing more until it is below.
   * Default: 0. */
  uint64_t memory_limit;
  /* Threads of a CPU device; 0: as many as the process may use. Default: 0. */
  int32_t threads;
  /* How many requests of this handle may be in flight, waiting ones included;
   * one more is RC_E_QUOTA. 0: no limit. Default: 0. */
  int32_t max_requests;
  /* The longest that one step on the device, or one tensor op, may take before
   * its requests end with RC_E_TIMEOUT; milliseconds, 0: no limit. The device
   * is asked to stop: a CPU heeds it within some milliseconds, a GPU after what
   * it has begun, and the model is good for further requests. One that does not
   * stop within five seconds more is given up (RC_E_DEVICE_LOST); open it
   * again. Default: 0. */
  int64_t timeout_ms;
  /* 1: an op that the device does not support is an error (RC_E_UNSUPPORTED),
   * of models when they are loaded. 0: it runs on cpu:0; see
   * rc_backend_explain. Default: 0. */
  int32_t strict;
  /* 1: the device measures the time of each op, as far as it can, as with
   * RUNCIBLE_PROFILE=1. Default: 0. */
  int32_t profile;
  /* How far looking for devices and opening one is; may be NULL. Not called any
   * more once the opening is over. */
  rc_progress_callback progress;
  void* progress_user;
  int32_t placement; /* RC_PLACEMENT_BY_SPEC, RC_PLACEMENT_FIRST or
                        RC_PLACEMENT_EACH_OP: where tensors are. Default:
                        RC_PLACEMENT_BY_SPEC. */
  /* 0: where devices are chosen among that were not measured yet, that is not
   * done in the background; see rc_calibrate. Default: 1. */
  int32_t measure;
  /* Of a CPU device, as `threads`. Where the system refuses to place memory, as
   * in some containers, weights lie where it puts them, with a warning in the
   * log; the numbers that are computed are the same in any case. Default:
   * RC_NUMA_AUTO. */
  rc_numa numa;
  int32_t reserved; /* 0 */
  /* 1: options that are not set have their defaults, whatever is configured. 0:
   * they take what is configured. The chain of rc_backend_open is not among
   * them. */
  int32_t ignore_configuration;
  int32_t reserved2; /* 0 */
  /* The tenant to which the handle belongs, which it keeps; NULL: a separate
   * one without limits. See rc_tenant. */
  rc_tenant* tenant;
} rc_backend_options;

#define RC_BACKEND_OPTIONS_INIT                                                \
  {                                                                            \
    RC_INITIAL(struct_size, sizeof(rc_backend_options)),                       \
        RC_INITIAL(required_memory, RC_UNSET_UINT64),                          \
        RC_INITIAL(memory_limit, RC_UNSET_UINT64),                             \
        RC_INITIAL(threads, RC_UNSET_INT32),                                   \
        RC_INITIAL(max_requests, RC_UNSET_INT32),                              \
        RC_INITIAL(timeout_ms, RC_UNSET_INT64),                                \
        RC_INITIAL(strict, RC_UNSET_INT32),                                    \
        RC_INITIAL(profile, RC_UNSET_INT32), RC_INITIAL(progress, NULL),       \
        RC_INITIAL(progress_user, NULL),                                       \
        RC_INITIAL(placement, RC_UNSET_INT32),                                 \
        RC_INITIAL(measure, RC_UNSET_INT32), RC_INITIAL(numa, RC_UNSET_INT32), \
        RC_INITIAL(reserved, 0), RC_INITIAL(ignore_configuration, 0),          \
        RC_INITIAL(reserved2, 0), RC_INITIAL(tenant, NULL)                     \
  }
/* The same as a function; see base.h. */
RC_API void rc_backend_options_init(rc_backend_options* options, size_t size);

/* The meaning of "auto". For models it is a device: the first of that order
 * that can be opened, which rc_backend_device reports. For tensors it is all of
 * them: each op runs on the device that will be done first (see tensor.h), and
 * a device that is not open yet is opened when an op is to run there.
 * `placement` gives either meaning to any chain. */

/* Opens a device. `spec` is a chain of choices in order of priority, separated
 * by commas: "auto", "gpu", "cpu", "vulkan:1", "cuda,vulkan:0,opencl,cpu". The
 * first that can be opened is taken. "gpu" is any GPU, "hip" is another name of
 * "rocm", and capital letters count as small ones. NULL or "":
 * rc_set_default_backend, else the environment variable RUNCIBLE_BACKEND, else
 * what is configured (config.h), else "auto": discrete GPUs before integrated
 * ones before the CPU. *backend is the caller's; see rc_backend_release.
 *
 * "auto" opens no software device (RC_DEVICE_SOFTWARE) where there is a CPU: it
 * would be slower, and drivers of that kind are known to end the process when
 * it runs out of memory. Who names one takes that risk.
 *
 * The opened device may be slower than the one asked for: a device that came
 * first has failed, or the system starts no threads, and the CPU computes with
 * one. Each such case is a warning in the log and in rc_backend_explain.
 *
 * The rest of the chain stands by: of a model that does not fit into the memory
 * of the opened device, as many layers as fit lie there, and the others on the
 * next device that can be opened, and so on; the last one also holds the
 * embedding table and the output matrix. "auto" ends with "cpu". rc_model_plan
 * says what lies where.
 *
 * RC_E_INVALID_ARGUMENT: the spec is malformed, or an option or an environment
 * variable is out of range (such as RUNCIBLE_ISA, a level of instruction sets
 * that the processor's kernels use); RC_E_UNSUPPORTED: RUNCIBLE_ISA names a
 * level that the processor does not have;
 * RC_E_NOT_FOUND: nothing could be opened, and a name of the chain is unknown;
 * RC_E_BACKEND_UNAVAILABLE: nothing could be opened, the message gives every
 * candidate's reason; RC_E_CANCELLED: by the progress callback, within some
 * milliseconds unless a driver is at work in this process; RC_E_OUT_OF_MEMORY.
 */
RC_API rc_status rc_backend_open(const char* spec,
                                 const rc_backend_options* options,
                                 rc_backend** backend);

/* Sets the spec of rc_backend_open from now on where it is given none, above
 * RUNCIBLE_BACKEND and what is configured: rc_config_set (config.h) of
 * "backend.spec". NULL or "" takes it back. Handles that are open stay as they
 * are. Any thread. RC_E_INVALID_ARGUMENT: the spec is malformed (its backends
 * need not exist yet); RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_set_default_backend(const char* spec);

/* The end of rc_backend_open_async, on the loop's thread, exactly once. On
 * success `backend` is the receiver's to release. On failure it is NULL and
 * `message` (valid during the call) says why. */
typedef void (*rc_backend_callback)(void* user, rc_status status,
                                    const char* message, rc_backend* backend);

/* Opens in a thread of the library; `loop` NULL: the callback runs on the
 * library's own loop thread. The progress callback runs on the opening thread.
 * Closing the loop cancels it. RC_E_INVALID_ARGUMENT of what the caller has set
 * and RC_E_CLOSED are returned at once, everything else, such as an error in
 * the configuration, goes to the callback. */
RC_API rc_status rc_backend_open_async(const char* spec,
                                       const rc_backend_options* options,
                                       rc_loop* loop,
                                       rc_backend_callback callback,
                                       void* user);

/* How to switch a handle; see rc_backend_switch. */
typedef struct rc_backend_switch_options {
  size_t struct_size;
  /* How long requests that are in flight on sessions of the handle may go on
   * where they are, so as to end there, before they move; milliseconds, 0: not
   * at all, negative: until none is in flight. */
  int64_t wait_ms;
  /* How far opening and loading are; may be NULL. Not called any more once the
   * switch is over. */
  rc_progress_callback progress;
  void* progress_user;
} rc_backend_switch_options;

#define RC_BACKEND_SWITCH_OPTIONS_INIT                          \
  {                                                             \
    RC_INITIAL(struct_size, sizeof(rc_backend_switch_options)), \
        RC_INITIAL(wait_ms, 0), RC_INITIAL(progress, NULL),     \
        RC_INITIAL(progress_user, NULL)                         \
  }
/* The same as a function; see base.h. */
RC_API void rc_backend_switch_options_init(rc_backend_switch_options* options,
                                           size_t size);

/* Changes the device of a handle in place: opens what `spec` names, as
 * rc_backend_open does and with the options with which the handle was opened,
 * loads the models of the handle there, with the options with which they were
 * loaded, and moves the states of their sessions and conversations. All handles
 * stay as they are: what is made from then on is made there, and a session goes
 * on as one with the same state does there. Tensors and graphs stay on the
 * device on which they lie, as do models that other handles have loaded, and a
 * model whose loading is under way where it has begun.
 *
 * It comes wholly about or not at all: after a failure everything is as it was.
 * The memory of the new device is asked for, against its free memory and the
 * handle's memory_limit, for all models before the first is loaded. Of the
 * limit it is set aside from then on, so that tensors that are made meanwhile
 * do not take it; free memory others may take, and the switch fails then.
 * Models of the old device count as gone for the limit, but both are resident
 * until the switch is over.
 *
 * Nothing waits for it: while devices are opened, models are loaded and states
 * are copied, sessions and requests go on on the old device. Then, between two
 * steps, all sessions of the handle go on on the new one, with their requests
 * in flight: no token is lost or comes twice, and a text goes on as that of a
 * session with the same tokens does there, so that it is the same text where
 * the new device is of the same kind. What cannot be copied, as the states of a
 * lost device or of a cache in another layout, is evaluated again from the
 * tokens. Texts that are embedded, scored or measured meanwhile are done by the
 * device on which they began. Forks that shared memory have separate memory
 * then. A session of the whole context of its model is one of the whole context
 * there, and one that has room for more tokens than the new device has room for
 * less.
 *
 * Statuses of rc_backend_open and rc_model_load; RC_E_CONTEXT_FULL: a session
 * has more tokens than it could have there; and RC_E_BUSY: another switch of
 * the handle is under way. */
RC_API rc_status rc_backend_switch(rc_backend* backend, const char* spec,
                                   const rc_backend_switch_options* options);

/* The end of rc_backend_switch_async, on the loop's thread, exactly once;
 * `message` (valid during the call) says why it failed. */
typedef void (*rc_backend_switch_callback)(void* user, rc_status status,
                                           const char* message);

/* Switches in a thread of the library; `loop` NULL: the callback runs on the
 * library's own loop thread. The progress callback runs on the switching
 * thread. The handle may be released meanwhile. Closing the loop cancels it, as
 * long as sessions have not moved. RC_E_INVALID_ARGUMENT of `backend`,
 * `options`, `loop` and `callback` and RC_E_CLOSED are returned at once,
 * everything else goes to the callback. */
RC_API rc_status
rc_backend_switch_async(rc_backend* backend, const char* spec,
                        const rc_backend_switch_options* options, rc_loop* loop,
                        rc_backend_switch_callback callback, void* user);

/* References; see base.h. When no handle, model or tensor uses the device any
 * more, it is closed: on a thread of the library, which no caller waits for,
 * but at once where the host has registered the backend, and in WebAssembly. */
RC_API rc_backend* rc_backend_retain(rc_backend* backend);
RC_API void rc_backend_release(rc_backend* backend);

/* A JSON object that accounts for the choice and for what became of it: "spec"
 * (what was asked for, after the environment), "device" (the chosen one: "id",
 * "name", "kind" and the rest of rc_device_report), "numa" (how its weights and
 * threads lie: "off", "interleave" or "local"), "candidates" (array of
 * "id", "chosen" and "reason", in the order in which they were looked at),
 * "warnings" (array of texts: what makes it slower than what was asked for),
 * "fallbacks" (array of "op", "lacking", "device" and "reason": tensor ops of
 * this handle, and ops of the models that are loaded through it, which the
 * device "lacking" cannot run, and where they run), "models" (array of
 * "file", "context_length" and "cache_tokens", "cache_dtype" of the KV cache as
 * "F16", and "devices", each of these with "id", "layers" as [first, last],
 * "embedding", "output" and "experts" (as experts_on puts them) as booleans,
 * "expert_layers", the number of layers of these experts, and the bytes of
 * "weights", "cache" and "scratch"), "tensors" (null where all are on one
 * device, else "home", the device on which new ones lie, "devices", as
 * rc_calibrate gives them, with "open" as a boolean and "failure", why one
 * cannot be opened, and "choices", the last choice of each kind of op, as
 * rc_op_choose gives it). What is unknown is null. *json is NUL-terminated and
 * lives as long as the handle; it changes as models come and go, so ask again.
 */
RC_API rc_status rc_backend_explain(rc_backend* backend, const char** json);

/* The device that was opened; free_memory is queried each time. The strings
 * live as long as the handle, `reason` is "". */
RC_API rc_status rc_backend_device(rc_backend* backend,
                                   rc_device_report* report);

/* Opens the devices of a chain, one after another, and measures each: the time
 * to start an op, the rates of reading and of multiplying by type and kind of
 * op, and of moving bytes to and from it. That is what handles choose by that
 * choose a device for each op. It takes seconds per device, and longer where a
 * driver compiles kernels for the first time. What was measured is kept in the
 * user's cache folder and holds until the device, its driver or module, the
 * processor or the library changes; measurements are kept by number of threads.
 * Without this call a handle measures in a dedicated thread once it has to
 * choose, which opens the devices too; see rc_backend_options.measure.
 *
 * `spec` is as for rc_backend_open, and of `options` only required_memory,
 * threads, profile, numa and ignore_configuration count. Devices are measured
 * again even if they were before; other work slows down what is measured.
 * `progress` may be NULL. *json, which may be NULL, is a JSON object of
 * "devices", an array of "id", "failure" (null, or why it was not measured),
 * "measured" as a boolean, "launch_seconds" (of the smallest op),
 * "bytes_per_second" (that large ops read and write),
 * "upload_bytes_per_second", "download_bytes_per_second" and
 * "multiplications_per_second_f32", "..._f16" and "..._blocks" (of products
 * with such a right one), null where unknown; it is the caller's, to be freed
 * with rc_free.
 *
 * RC_E_INVALID_ARGUMENT: `spec` or an option; RC_E_NOT_FOUND: the chain has no
 * device here; RC_E_CANCELLED: `progress` wanted it; RC_E_OUT_OF_MEMORY. A
 * device that cannot be opened or measured is no error. */
RC_API rc_status rc_calibrate(const char* spec,
                              const rc_backend_options* options,
                              rc_progress_callback progress, void* user,
                              char** json);

/* Tests what devices compute against the reference backend: every op with every
 * type that they have, at sizes of one, a few and many, odd ones among them.
 * That takes a second or two per device, and longer where a driver compiles
 * kernels for the first time. Without this call one op is tested when a device
 * is opened, and each other kind when a program needs it first, so that no
 * program waits for kernels that it does not use. Built-in backends are tested
 * by this call alone. What passed is not tested again until the driver or the
 * module changes; what failed is quarantined, see rc_quarantine_forget.
 *
 * `spec` and `options` are as for rc_calibrate; a named device that is
 * quarantined is not asked, and has that as its failure. `progress` may be
 * NULL. *json, which may be NULL, is a JSON object of "devices", an array of
 * "id", "failure" (null, or why it was not tested), "seconds" that it took and
 * "tests", an array of "test" (what was computed), "outcome" ("passed",
 * "failed", or "lacking" where the device has no such op) and "reason" (null,
 * or what is wrong); it is the caller's, to be freed with rc_free.
 *
 * RC_E_INVALID_ARGUMENT: `spec` or an option; RC_E_NOT_FOUND: the chain has no
 * device here; RC_E_CANCELLED: `progress` wanted it; RC_E_OUT_OF_MEMORY. A
 * device that cannot be opened, or computes wrongly, is no error. */
RC_API rc_status rc_device_test(const char* spec,
                                const rc_backend_options* options,
                                rc_progress_callback progress, void* user,
                                char** json);

/* A device of a module that fails its self-test is quarantined: its name, the
 * version of its driver and the reason are kept in the user's cache folder, and
 * it is passed over with that reason, without being asked again, until the
 * driver or the module changes; an op that fails counts as one that the device
 * does not support. (A device that did not answer in time is given another
 * chance after an hour, for the machine may have been busy; so is a module that
 * crashed when it was asked for its devices.) RUNCIBLE_QUARANTINE=0, or the
 * setting library.quarantine (config.h), has all of them asked again each time.
 *
 * This lifts the quarantine: of a device ("vulkan:0"), of a backend with all of
 * its devices ("vulkan"), or of everything (NULL or ""). *lifted, which may be
 * NULL, gets the number of devices and modules that were quarantined. Devices
 * that are open keep what was found of their ops. RC_E_NOT_FOUND: there is no
 * such backend or device; RC_E_INVALID_ARGUMENT: `spec` is more than one of
 * them; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_quarantine_forget(const char* spec, int32_t* lifted);

/* The use of a handle since it was opened. */
typedef struct rc_backend_usage_report {
  size_t struct_size;
  uint64_t requests;         /* that have ended */
  uint64_t prompt_tokens;    /* evaluated or taken from the prefix cache */
  uint64_t cached_tokens;    /* of these, taken from the prefix cache */
  uint64_t generated_tokens; /* by sampling */
  /* Microseconds that devices have worked for it: steps of models, shared by
   * rows, ops of tensors, and runs of graphs. */
  uint64_t compute_us;
  /* Bytes of its tensors and models now, on all their devices. What several
   * handles share, a model or the weights of one file, is resident once and
   * counts once, for the handle that has had it longest; when that one releases
   * it, for the next: the sum over all handles is what is taken. */
  uint64_t memory;
  uint64_t peak_memory; /* the most so far; what was refused does not count */
} rc_backend_usage_report;

#define RC_BACKEND_USAGE_REPORT_INIT                                   \
  {                                                                    \
    RC_INITIAL(struct_size, sizeof(rc_backend_usage_report)),          \
        RC_INITIAL(requests, 0), RC_INITIAL(prompt_tokens, 0),         \
        RC_INITIAL(cached_tokens, 0), RC_INITIAL(generated_tokens, 0), \
        RC_INITIAL(compute_us, 0), RC_INITIAL(memory, 0),              \
        RC_INITIAL(peak_memory, 0)                                     \
  }
/* The same as a function; see base.h. */
RC_API void rc_backend_usage_report_init(rc_backend_usage_report* report,
                                         size_t size);
/* RC_E_INVALID_ARGUMENT: `backend` or `report`. */
RC_API rc_status rc_backend_usage(rc_backend* backend,
                                  rc_backend_usage_report* report);

/* When the ops of the last runs began and ended, on the devices that are open
 * with `profile`: a JSON object in the trace event format of Chrome and
 * Perfetto, a row per device, the handle's own first. Each op is a complete
 * event ("ph": "X", times in microseconds) with "args": "part" ("embedding",
 * the layer as in "blk.3", "output"; "" for an op of no model), "weight" (the
 * name of the tensor, "" for an op without), "detail" (type and shape of its
 * weight, or of its output), "rows", "bytes" (read and written at least,
 * without KV caches) and "operations" (multiplications and additions of
 * products). Some 130000 ops of a device are kept. *json is NUL-terminated and
 * the caller's, to be freed with rc_free.
 *
 * RC_E_UNSUPPORTED: the handle was opened without profile. */
RC_API rc_status rc_backend_trace(rc_backend* backend, char** json);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_BACKEND_H */
