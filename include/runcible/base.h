/* Runcible: status codes, messages, versions and logging.
 *
 *     if (RC_ABI_CHECK() != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("Runcible %s\n", rc_version_string());
 *
 * Rules that hold for every header of the library:
 *
 * - Every function that can fail returns an rc_status: RC_OK is 0, errors are
 *   negative and their values never change. rc_error_message() gives the
 *   calling thread's last message. Output arguments are untouched on failure,
 *   except that a handle output is set to NULL.
 * - Objects are opaque handles. *_retain adds a reference, *_release gives one
 *   back; releasing NULL does nothing. A child keeps its parent alive, so
 *   handles may be released in any order. A released handle must not be used;
 *   using one is reported as RC_E_INVALID_ARGUMENT where that can be detected.
 * - Options and reports are structs that begin with their own size. Begin with
 *   the RC_*_INIT macro, or with the function rc_*_init, whose `size` is the
 *   struct's sizeof in the caller's header (NULL does nothing). NULL options
 *   mean the defaults. A struct of an older, smaller header works: the members
 *   that it does not have take their defaults, and nothing beyond it is
 *   written. A struct of a newer header works while the members that this
 *   library does not know are zero.
 * - What code sets holds. Members of options that a user may configure
 *   (config.h) begin unset, as RC_UNSET_INT32 and its like or as NULL, and
 *   their comments give a default. One that is unset takes the configured
 *   value, else the default. Any other value holds, also one that equals the
 *   default, whatever is configured.
 * - Strings are UTF-8. Inputs are a pointer and a length, or NUL-terminated
 *   where the name ends in _cstr or the comment says so.
 * - Any function may be called from any thread that has 64 KB of stack left,
 *   those of tensor.h from one that has 256 KB, for they compute there. Devices
 *   are looked for and opened, and programs compiled for them, on threads of
 *   the library: drivers need more.
 * - Callbacks have to return. An exception (of C++ and what unwinds like it)
 *   that leaves one goes no further: the request of an event callback then ends
 *   with RC_E_INTERNAL, and so does loading whose progress callback threw; the
 *   message names the callback. There is one end event all the same: what the
 *   callback throws that is receiving an end is logged and dropped, and what a
 *   log callback throws is dropped. A callback that ends its thread
 *   (pthread_exit) does the same to its request or load, but the thread does
 *   end. If it was the library's own, another takes its place. If it ran a
 *   libuv loop, that loop is lost, as with any callback of libuv's. The log
 *   callback must not end its thread.
 * - pthread_cancel acts on a thread of the caller's once it has left the
 *   library, callbacks included; the library's own threads cannot be cancelled.
 * - The floating-point environment of a thread (rounding, denormal numbers,
 *   traps) neither changes results nor is changed by a call. Callbacks on the
 *   caller's threads have the caller's, those on the library's the default one.
 * - Nothing in the library ends the process or writes to stdout or stderr.
 * - The library starts threads once a model is loaded or a callback is
 *   wanted. They do not exist in the child of a fork, which therefore must not
 *   use handles of its parent nor this library, only exec. They hold up no
 *   exit: a process may end with requests in flight; callbacks on the library's
 *   own loop thread stop when exit begins. A program that loaded the library
 *   with dlopen cannot unload it.
 */
#ifndef RUNCIBLE_BASE_H
#define RUNCIBLE_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define RC_API
#elif defined(__GNUC__)
#define RC_API __attribute__((visibility("default")))
#else
#define RC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The values of members of options that are unset, by type: members of 32 bits
 * (numbers, flags and choices alike), of 64 bits, and floats. An option cannot
 * have one of them as its value. Assigning one to a member unsets it. */
#define RC_UNSET_INT32 INT32_MIN
#define RC_UNSET_INT64 INT64_MIN
#define RC_UNSET_UINT64 UINT64_C(0x9f5d0c1a7e3b8246)
#define RC_UNSET_FLOAT (-3.40282347e+38f)

/* A member and its initial value in a RC_..._INIT macro: by name where the
 * language has designated initialisers, in C and since C++20. C++20 refuses
 * names that are not in the order of the struct, so the order also holds for
 * the versions of C++ before it. */
#if defined(__cplusplus) && __cplusplus < 202002L
#define RC_INITIAL(member, ...) __VA_ARGS__
#else
#define RC_INITIAL(member, ...) .member = __VA_ARGS__
#endif

#define RC_VERSION_MAJOR 0
#define RC_VERSION_MINOR 1
#define RC_VERSION_PATCH 0

/* The result of a call. */
typedef int32_t rc_status;

enum {
  RC_OK = 0,
  /* An argument is NULL, out of range, not a number, or a handle of another
   * kind. The message names the argument and its value. */
  RC_E_INVALID_ARGUMENT = -1,
  /* Memory of the host could not be had. */
  RC_E_OUT_OF_MEMORY = -2,
  /* A file, metadata key or backend of that name does not exist. */
  RC_E_NOT_FOUND = -3,
  /* The operating system could not read or write a file. */
  RC_E_IO = -4,
  /* A file or a saved session is malformed. */
  RC_E_FORMAT = -5,
  /* Well formed, but beyond what this build can do: an architecture, a tensor
   * type, a pre-tokenizer. */
  RC_E_UNSUPPORTED = -6,
  /* No backend of the chain could be opened; the message gives each reason. */
  RC_E_BACKEND_UNAVAILABLE = -7,
  /* A device reported a failure; the handle stays usable. */
  RC_E_DEVICE = -8,
  /* A device is gone (driver reset, suspend); open it again. */
  RC_E_DEVICE_LOST = -9,
  /* Memory of a device, or a limit on it, is exhausted. */
  RC_E_DEVICE_MEMORY = -10,
  /* The time allowed for a call passed; what was waited for goes on. */
  RC_E_TIMEOUT = -11,
  /* Cancelled by the caller. */
  RC_E_CANCELLED = -12,
  /* The deadline of a request passed. */
  RC_E_DEADLINE = -13,
  /* The session's context has no room for more tokens. */
  RC_E_CONTEXT_FULL = -14,
  /* The session has a request in flight; wait for its end or cancel it. */
  RC_E_BUSY = -15,
  /* A limit of the backend handle or of its tenant is reached; see
   * rc_error_retry_after_ms. */
  RC_E_QUOTA = -16,
  /* The loop is closed, or the request has delivered its end event. */
  RC_E_CLOSED = -17,
  /* Header and library do not fit together; see rc_abi_check. */
  RC_E_ABI = -18,
  /* A defect of the library. Please report it with the message. */
  RC_E_INTERNAL = -19
};

/* The name of a status, such as "RC_E_FORMAT"; "unknown status" for a value
 * that is none. Static storage. */
RC_API const char* rc_status_name(rc_status status);

/* The error of the calling thread's last failed call: the values
 * concerned and what to do. UTF-8, at most 1023 bytes (longer ones are cut),
 * never NULL, "" before any failure. Owned by the thread, valid until its next
 * call into the library. Successful calls leave it alone. */
RC_API const char* rc_error_message(void);

/* After so many milliseconds the call that failed last on this thread may
 * succeed: of RC_E_QUOTA, where a limit is one per minute (rc_tenant). -1:
 * unknown. */
RC_API int64_t rc_error_retry_after_ms(void);

/* The version of the library that is running: major * 1000000 + minor * 1000 +
 * patch. */
RC_API uint32_t rc_version(void);

/* The same as text, "1.2.3". Static storage. */
RC_API const char* rc_version_string(void);

/* Checks that a program built for version major.minor can use this library:
 * RC_E_ABI if not, with a message that names both. Before 1.0 the minor version
 * must be equal, and the SONAME is libruncible.so.0.MINOR; from then on that of
 * the library may be newer, and the SONAME is libruncible.so.MAJOR. */
RC_API rc_status rc_abi_check(uint32_t major, uint32_t minor);

/* rc_abi_check with the version of these headers; the first line of a program.
 */
#define RC_ABI_CHECK() rc_abi_check(RC_VERSION_MAJOR, RC_VERSION_MINOR)

/* A JSON object that says how the library was built: "version", "compiler",
 * "build_type", "backends" (built in), "instruction_sets" (of the cpu backend),
 * "threads" (false in WebAssembly built without). Static storage. */
RC_API const char* rc_build_info(void);

/* Frees memory that a function of this library returned and said to free so.
 * NULL does nothing. */
RC_API void rc_free(void* memory);

/* The kind of a device. */
typedef int32_t rc_device_kind;
enum {
  RC_DEVICE_OTHER = 0,
  RC_DEVICE_CPU = 1,
  RC_DEVICE_GPU_DISCRETE = 2,
  RC_DEVICE_GPU_INTEGRATED = 3,
  RC_DEVICE_ACCELERATOR = 4,
  /* A GPU interface that runs on the CPU (PoCL, lavapipe). */
  RC_DEVICE_SOFTWARE = 5
};

/* Whether the system makes large blocks of memory of huge pages, which saves
 * the translation of addresses (transparent huge pages of Linux). */
typedef int32_t rc_huge_pages;
enum {
  RC_HUGE_PAGES_UNKNOWN = 0, /* it does not say, or the memory is no such */
  RC_HUGE_PAGES_NEVER = 1,   /* none, for the machine or for this process */
  RC_HUGE_PAGES_MADVISE = 2, /* where a program asks for them, as for weights */
  RC_HUGE_PAGES_ALWAYS = 3   /* wherever a block is large enough */
};

/* How weights and threads lie on a machine whose processors do not reach all
 * memory equally fast (NUMA), that is, on one with several nodes. */
typedef int32_t rc_numa;
enum {
  /* RC_NUMA_INTERLEAVE where there are several nodes, else RC_NUMA_OFF. */
  RC_NUMA_AUTO = 0,
  /* Weights lie where the system puts them, and threads run where it likes. */
  RC_NUMA_OFF = 1,
  /* The pages of large weights go round the nodes, so that all memory is read
   * at once by any thread, and each thread stays on the processors of a node:
   * as many threads on each as it has a share of the processors. */
  RC_NUMA_INTERLEAVE = 2,
  /* Of each large weight a node holds the rows with which its threads begin, of
   * a weight of experts what RC_NUMA_INTERLEAVE gives it, and threads stay on
   * the processors of a node. Where nothing else runs most reading stays near;
   * threads that help others, which have no processor, read from afar. */
  RC_NUMA_LOCAL = 3
};

/* Called while devices are looked for or a model is loaded, converted or
 * measured, with the fraction done, 0 to 1, on the thread that does it.
 * Returning non-zero cancels it (RC_E_CANCELLED). */
typedef int32_t (*rc_progress_callback)(void* user, double fraction);

/* Severity of a log message. */
typedef int32_t rc_log_level;
enum {
  RC_LOG_NONE = 0,
  RC_LOG_ERROR = 1,
  RC_LOG_WARNING = 2,
  RC_LOG_INFO = 3,
  RC_LOG_DEBUG = 4
};

/* Receives log messages: one line, UTF-8, no line feed, valid during the call.
 * Called from any thread of the library or of the caller, possibly from several
 * at once; must not call back into the library. */
typedef void (*rc_log_callback)(void* user, rc_log_level level,
                                const char* message);

/* Sets where log messages of at most `level` in number (RC_LOG_WARNING lets
 * errors and warnings pass) go. NULL callback: nowhere, which is the default
 * unless the environment variable RUNCIBLE_LOG, or the setting library.log
 * (config.h), is error, warning, info or debug: then messages go to stderr
 * until this function is called. When the call returns, the former callback is
 * not running and will not be called again. */
RC_API void rc_log_set(rc_log_callback callback, void* user,
                       rc_log_level level);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_BASE_H */
