/* Runcible: the plugin ABI, by which every backend is joined to the library,
 * the built-in ones too. examples/plugin_backend.c is a whole backend in plain
 * C, and backends/README.md says how to write one.
 *
 * A plugin is a table of functions, rc_plugin. It is registered with
 * rc_plugin_register, or found in a shared module that exports
 *
 *     RC_API const rc_plugin *rc_plugin_entry(void);
 *
 * A backend sees tensors, weights, caches and programs: an ordered list of ops
 * that is compiled once for a device and run many times, with the number of
 * rows given at each run. It never sees a model file.
 *
 * Rules:
 * - Every function answers with a status and, on failure, writes a message of
 *   at most RC_PLUGIN_MESSAGE_BYTES bytes including the terminating zero into
 *   `message`, which is never NULL. A failing device is a status
 *   (RC_E_DEVICE_LOST, ...), never a crash; exceptions must not leave a plugin.
 * - The library calls the functions of one opened device from one thread at a
 *   time, except that weight_bytes, create_weight, map_weight, destroy_weight,
 *   create_buffer, borrow_buffer, destroy_buffer, create_pinned and
 *   destroy_pinned may be called at any time from any thread.
 *   Different opened devices are used from different threads at once.
 *   device_count and device_info may be called at any time from any thread.
 * - Shapes are written slowest dimension first; tensors are row-major and
 *   dense. All numbers in memory are little-endian.
 *
 * Versions. The plugin ABI grows and nothing in it changes, so a plugin that is
 * built with an older header goes on working in a newer library:
 * - Structs get new members at their end only, and arrays hold pointers to
 *   structs, so the sizes that a plugin was built with never matter. A plugin
 *   reads of what it is given, and writes into what it is to fill, only the
 *   members that its header has.
 * - An op has the same inputs, outputs and parameters for good; a variant of it
 *   is another op. A plugin answers op_supported with RC_E_UNSUPPORTED for
 * every op, type, function or style that it does not know; the library then
 * runs the op elsewhere and says so (see rc_backend_explain).
 * - rc_plugin.abi_version is the version of the header, and
 *   rc_plugin.least_abi_version the least version of the library that the
 *   plugin can work with. A plugin that can do without the newest members sets
 *   the latter to an older version, looks at
 *   rc_plugin_open_options.abi_version before it reads them, and does not copy
 *   structs whole: those of an older library are shorter.
 */
#ifndef RUNCIBLE_PLUGIN_H
#define RUNCIBLE_PLUGIN_H

#include "runcible/base.h"
#include "runcible/plugin_ops.h"
#include "runcible/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RC_PLUGIN_ABI_VERSION 4
/* Of the oldest plugins that a library of this version loads. */
#define RC_PLUGIN_OLDEST_ABI_VERSION 2
#define RC_PLUGIN_MESSAGE_BYTES 512

/* Handles of the plugin's own making. */
typedef struct rc_plugin_device rc_plugin_device;
typedef struct rc_plugin_weight rc_plugin_weight;
typedef struct rc_plugin_buffer rc_plugin_buffer;
typedef struct rc_plugin_compiled rc_plugin_compiled;
typedef struct rc_plugin_kernel rc_plugin_kernel;
typedef struct rc_plugin_pinned rc_plugin_pinned;

/* The ways in which a program uses a weight; or-ed together. A backend chooses
 * the arrangement of a weight in memory by them. */
enum {
  RC_USE_ELEMENTS = 1, /* norms, biases, frequencies: F32, read whole */
  RC_USE_ROWS = 2,     /* the table of GET_ROWS */
  RC_USE_LINEAR = 4,   /* the weight of LINEAR */
  RC_USE_EXPERTS = 8   /* the weight of EXPERT_LINEAR */
};

typedef struct rc_plugin_weight_info {
  const char* name; /* for messages */
  rc_dtype dtype;
  int32_t rank;
  int64_t shape[RC_PLUGIN_MAX_RANK];
  uint32_t uses;
} rc_plugin_weight_info;

typedef struct rc_plugin_program {
  size_t struct_size;
  const rc_plugin_value* const* values;
  size_t value_count;
  const rc_plugin_op* const* ops;
  size_t op_count;
  rc_plugin_weight* const* weights;
  size_t weight_count;
  rc_plugin_buffer* const* caches;
  size_t cache_count;
  size_t input_count;
  size_t output_count;
  uint64_t scratch_bytes;
  /* The largest numbers that a run will give. */
  int64_t max_rows; /* at least 1 */
  int64_t max_outputs;
  int64_t max_sequences;
} rc_plugin_program;

typedef struct rc_plugin_run {
  size_t struct_size;
  int64_t rows;
  int64_t outputs;
  int64_t sequences;
  /* Host memory, read and written between the calls of run and the end of
   * wait; sizes follow from the shapes of the values. */
  const void* const* inputs;
  void* const* outputs_data;
  /* Asked often (at least every 20 ms of compute where the device allows it),
   * from any thread: non-zero means stop. The run then ends with
   * RC_E_CANCELLED; outputs and the cache positions of its rows are undefined.
   * NULL: never stop. */
  int32_t (*should_stop)(void* user);
  void* user;
} rc_plugin_run;

typedef struct rc_plugin_device_info {
  size_t struct_size;
  char name[128];
  rc_device_kind kind;
  uint64_t total_memory; /* bytes; 0: unknown */
  uint64_t free_memory;  /* bytes; 0: unknown */
  int32_t unified_memory;
  int32_t cores;
  char features[256]; /* instruction sets or extensions, separated by spaces */
  char driver[128];   /* API and driver versions; "" if there is none */
  char physical_id[64]; /* PCI address or UUID; "" if unknown */
  /* 1: the device has instructions for it, as in rc_device_report. */
  int32_t fp16;
  int32_t bf16;
  int32_t fp64;
  int32_t int8_dot;
  int32_t numa_nodes; /* as in rc_device_report; so too the next */
  rc_huge_pages huge_pages;
  /* The size of huge pages, in bytes, at a multiple of which each weight of at
   * least as many bytes begins; 0: unknown, or they begin elsewhere. */
  uint64_t huge_page_bytes;
} rc_plugin_device_info;

typedef struct rc_plugin_open_options {
  size_t struct_size;
  int32_t threads; /* 0: the plugin's choice */
  int32_t profile;
  void (*log)(rc_log_level level, const char* message); /* never NULL */
  uint32_t abi_version; /* of the library's plugin ABI */
  /* Never RC_NUMA_AUTO: then the library has chosen. A library of a version
   * before 4 leaves it 0. */
  rc_numa numa;
} rc_plugin_open_options;

/* When an op of a run began and ended on the device, in nanoseconds of a clock
 * of the device's own. */
typedef struct rc_plugin_op_time {
  size_t struct_size;
  int64_t op; /* its place in rc_plugin_program.ops */
  int64_t begin_ns;
  int64_t end_ns;
} rc_plugin_op_time;

/* The languages of kernels of custom ops (custom_op.h). */
enum {
  RC_KERNEL_NONE = 0,
  RC_KERNEL_OPENCL_C = 1, /* the text of an OpenCL C program */
  RC_KERNEL_SPIRV = 2     /* the words of a SPIR-V module, made from GLSL */
};

/* A kernel. In OpenCL C it is called custom_op, and its parameters are pointers
 * to global memory, one for each buffer, a ulong for each of them (where the
 * tensor begins in it, in bytes), and the words. In SPIR-V it is called main,
 * the buffers are storage buffers of set 0 with the bindings from 0 on, which
 * begin at multiples of 256 bytes, and the words are push constants. */
typedef struct rc_plugin_kernel_info {
  size_t struct_size;
  const char* name; /* of the op, for messages */
  const void* source;
  uint64_t source_bytes;
  uint32_t buffer_count;
  uint32_t input_count; /* of the buffers, the first ones: only read */
  uint32_t parameter_words;
  uint32_t group[3]; /* work-items of a work-group */
  /* Takes what the compiler says, if anything: NUL-terminated, valid during the
   * call. */
  void (*log)(void* log_user, const char* text);
  void* log_user;
} rc_plugin_kernel_info;

typedef struct rc_plugin_kernel_run {
  size_t struct_size;
  rc_plugin_buffer* const* buffers;
  const uint64_t* offsets; /* of each buffer: where its tensor begins */
  const uint64_t* bytes;   /* of each tensor, at least 1 */
  const uint32_t* parameters;
  uint32_t groups[3]; /* work-groups; at least 1 */
  /* RC_E_TIMEOUT if it is not over by then; negative: no limit. */
  int64_t timeout_ms;
} rc_plugin_kernel_run;

typedef struct rc_plugin {
  size_t struct_size;
  uint32_t abi_version;       /* RC_PLUGIN_ABI_VERSION */
  uint32_t least_abi_version; /* that the library has to have; see above */
  const char* name;           /* "cpu": lower case letters, digits, '_' */
  const char* description;

  /* The number of devices. A failure says why the backend is not available on
   * this machine; so does a number of 0. */
  rc_status (*device_count)(int32_t* count, char* message);
  rc_status (*device_info)(int32_t index, rc_plugin_device_info* info,
                           char* message);
  rc_status (*open)(int32_t index, const rc_plugin_open_options* options,
                    rc_plugin_device** device, char* message);
  /* Everything made on the device has been destroyed before. */
  void (*close)(rc_plugin_device* device);

  /* RC_OK if the op can be compiled; RC_E_UNSUPPORTED with the reason if not.
   * `values` are those that the op names, so that types, shapes and storage are
   * known; offsets and indices are not yet. */
  rc_status (*op_supported)(rc_plugin_device* device, const rc_plugin_op* op,
                            const rc_plugin_value* const* values,
                            size_t value_count, char* message);

  /* Weights and buffers. A plugin that computes in host memory may leave all
   * seven functions NULL; then they are memory of the library's, 64-byte
   * aligned, and their handles are the addresses of their bytes, those of
   * weights in the layout of the dtype. */

  /* The bytes of device memory that create_weight will take, exactly. */
  rc_status (*weight_bytes)(rc_plugin_device* device,
                            const rc_plugin_weight_info* info, uint64_t* bytes,
                            char* message);
  /* Copies a weight to the device, rearranged as it likes. `data` holds the
   * bytes in the layout of the dtype. */
  rc_status (*create_weight)(rc_plugin_device* device,
                             const rc_plugin_weight_info* info,
                             const void* data, rc_plugin_weight** weight,
                             char* message);
  void (*destroy_weight)(rc_plugin_device* device, rc_plugin_weight* weight);

  /* Plain memory, zero at first. upload and download move bytes between host
   * and buffer and are complete when they return. */
  rc_status (*create_buffer)(rc_plugin_device* device, uint64_t bytes,
                             rc_plugin_buffer** buffer, char* message);
  void (*destroy_buffer)(rc_plugin_device* device, rc_plugin_buffer* buffer);
  rc_status (*upload)(rc_plugin_device* device, rc_plugin_buffer* buffer,
                      uint64_t offset, const void* data, uint64_t bytes,
                      char* message);
  rc_status (*download)(rc_plugin_device* device, rc_plugin_buffer* buffer,
                        uint64_t offset, void* data, uint64_t bytes,
                        char* message);

  /* Prepares a program. The arrays are the caller's and valid during the call
   * only; the weights and caches stay alive until destroy_compiled. */
  rc_status (*compile)(rc_plugin_device* device,
                       const rc_plugin_program* program,
                       rc_plugin_compiled** compiled, char* message);
  void (*destroy_compiled)(rc_plugin_device* device,
                           rc_plugin_compiled* compiled);
  /* Starts a run; at most one of a device is under way at a time. The struct
   * and everything it points to stay valid until wait has ended it. */
  rc_status (*run)(rc_plugin_device* device, rc_plugin_compiled* compiled,
                   const rc_plugin_run* run, char* message);
  /* Waits for the end of the run and gives its result; RC_E_TIMEOUT if it is
   * not over after timeout_ms (negative: wait without limit). NULL: what run
   * returns is the result, for every run is over by then. */
  rc_status (*wait)(rc_plugin_device* device, int64_t timeout_ms,
                    char* message);

  /* Optional, may be NULL. */

  /* Copies bytes within or between buffers of the device; default: download
   * and upload. */
  rc_status (*copy)(rc_plugin_device* device, rc_plugin_buffer* target,
                    uint64_t target_offset, rc_plugin_buffer* source,
                    uint64_t source_offset, uint64_t bytes, char* message);

  /* The i-th time of an op of the last run that wait has ended, in the order of
   * the ops, if the device was opened with `profile`. Ops that are done as one
   * have one time, under the number of the first of them. RC_E_NOT_FOUND: there
   * are no more; default: none are known. */
  rc_status (*op_time)(rc_plugin_device* device, size_t i,
                       rc_plugin_op_time* time, char* message);

  /* As create_weight, without a copy: `data`, which may have any alignment,
   * stays readable and as it is until destroy_weight, and programs read it
   * there. The weight takes no memory of the device. Asked of weights with any
   * use but RC_USE_ELEMENTS, and may be called as create_weight may. A plugin
   * that has it has the seven functions above, too; default: the device cannot,
   * and models that are to stay mapped are refused. */
  rc_status (*map_weight)(rc_plugin_device* device,
                          const rc_plugin_weight_info* info, const void* data,
                          rc_plugin_weight** weight, char* message);

  /* Does one tensor op and returns when it is over, if that is quicker than to
   * compile and run a program of it: small ones are, on a processor. Value i is
   * of storage RC_STORAGE_CACHE and lies in buffers[i] at its offset.
   * RC_E_UNSUPPORTED: it is not quicker, and nothing has been done; default: it
   * never is. */
  rc_status (*run_op)(rc_plugin_device* device, const rc_plugin_op* op,
                      const rc_plugin_value* const* values,
                      rc_plugin_buffer* const* buffers, size_t value_count,
                      char* message);

  /* As map_weight, of a weight whose only use is RC_USE_EXPERTS, and keeps
   * copies of `resident` of its experts, at least one: of those that were used
   * last. They take as much as weight_bytes returns for a weight of so many
   * experts. Results are the same to the bit. Default: map_weight, and no
   * copies. */
  rc_status (*map_experts)(rc_plugin_device* device,
                           const rc_plugin_weight_info* info, const void* data,
                           int64_t resident, rc_plugin_weight** weight,
                           char* message);

  /* As run, with other memory: cache i of the program is caches[i] for this
   * run, a buffer of the device with at least as many bytes as the one that
   * compile was given. Asked only of programs of tensor ops; a caller that asks
   * it of a program always does, and those that compile was given may be gone
   * by then. Default: the library copies tensors to and from buffers that stay
   * the program's. */
  rc_status (*run_with)(rc_plugin_device* device, rc_plugin_compiled* compiled,
                        const rc_plugin_run* run,
                        rc_plugin_buffer* const* caches, size_t cache_count,
                        char* message);

  /* As create_buffer, of memory of the host's: the buffer is the `bytes` bytes
   * at `data`, which stay there until destroy_buffer, and takes no memory of
   * the device. `data` is as aligned as the elements or blocks of the tensor
   * are in a buffer. Programs read it there, and write to it where an output
   * lies there; it may be memory that cannot be written, if none does. May be
   * called as create_buffer may. Default: the device cannot, and numbers have
   * to be copied to it. */
  rc_status (*borrow_buffer)(rc_plugin_device* device, void* data,
                             uint64_t bytes, rc_plugin_buffer** buffer,
                             char* message);

  /* Where the bytes of a buffer lie in memory of the host's, which may read and
   * write them there between runs. Default: they lie elsewhere. */
  rc_status (*buffer_memory)(rc_plugin_device* device, rc_plugin_buffer* buffer,
                             void** data, char* message);

  /* Calls function(user, begin, end) for ranges that together are 0 to `count`,
   * on several threads of the device's at once, and returns when all are done.
   * The function throws nothing. Default: one call by the calling thread. */
  rc_status (*run_ranges)(rc_plugin_device* device, int64_t count,
                          void (*function)(void* user, int64_t begin,
                                           int64_t end),
                          void* user, char* message);

  /* Kernels of custom ops. A device that has one of these has all four;
   * default: it can run none. */

  /* Gives the language that the device takes, RC_KERNEL_*. */
  rc_status (*kernel_language)(rc_plugin_device* device, int32_t* language,
                               char* message);
  /* RC_E_FORMAT: it does not compile. */
  rc_status (*create_kernel)(rc_plugin_device* device,
                             const rc_plugin_kernel_info* info,
                             rc_plugin_kernel** kernel, char* message);
  void (*destroy_kernel)(rc_plugin_device* device, rc_plugin_kernel* kernel);
  /* Runs it and returns when it is over. After RC_E_TIMEOUT nothing of the
   * device is touched any more. */
  rc_status (*run_kernel)(rc_plugin_device* device, rc_plugin_kernel* kernel,
                          const rc_plugin_kernel_run* run, char* message);

  /* From version 4 on. A device that has one of these two has both. */

  /* Memory of the host's for moving numbers: `bytes` bytes, zero at first, at a
   * multiple of 64. Where the `data` of upload or download lies within it, the
   * device takes the bytes from there, or puts them there, without a copy in
   * between. Default: for devices whose buffers are memory of the host's
   * (buffer_memory) it is plain memory; others have none. */
  rc_status (*create_pinned)(rc_plugin_device* device, uint64_t bytes,
                             rc_plugin_pinned** pinned, void** data,
                             char* message);
  void (*destroy_pinned)(rc_plugin_device* device, rc_plugin_pinned* pinned);
} rc_plugin;

/* Adds a backend to the process. The table is copied; what it points to must
 * stay valid to the end of the process. RC_E_INVALID_ARGUMENT: a required
 * function is NULL, or the name is not lower case letters, digits and '_', or
 * it is taken; RC_E_ABI: the plugin needs a newer library, by its
 * least_abi_version, or was built for version 1 of the plugin ABI, which could
 * not grow. */
RC_API rc_status rc_plugin_register(const rc_plugin* plugin);

/* Loads a shared module and registers the table that its rc_plugin_entry
 * returns. The module stays loaded. Path: UTF-8, NUL-terminated. RC_E_IO: it
 * cannot be loaded; RC_E_FORMAT: it exports no rc_plugin_entry; and the
 * statuses of rc_plugin_register. */
RC_API rc_status rc_plugin_load(const char* path);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_PLUGIN_H */
