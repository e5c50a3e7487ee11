/* What JavaScript needs beside the library: callbacks that threads may call.
 *
 * A function of JavaScript's exists on the thread that made the module alone.
 * Callbacks that come to a loop are called there; those that a thread calls
 * while it works are given one of these functions, and as their `user` the
 * address of an rc_web_callback, which lives as long as they may be called.
 */
#include <emscripten/emscripten.h>
#include <emscripten/threading.h>
#include <runcible/runcible.h>
#include <stdlib.h>
#include <string.h>

/* The ABI that JavaScript was written for. */
_Static_assert(sizeof(void*) == 4, "pointers of the module have 32 bits");

typedef struct rc_web_callback {
  void (*function)(void); /* of JavaScript's, as addFunction gives it */
  void* user;             /* its first argument */
} rc_web_callback;

struct progress {
  const rc_web_callback* callback;
  double fraction;
  int32_t answer;
};

static void call_progress(void* argument) {
  struct progress* const call = argument;
  call->answer = ((rc_progress_callback)call->callback->function)(
      call->callback->user, call->fraction);
}

static int32_t progress(void* user, double fraction) {
  struct progress call = {user, fraction, 0};
#if defined(__EMSCRIPTEN_PTHREADS__)
  emscripten_sync_run_in_main_runtime_thread(EM_FUNC_SIG_VI, call_progress,
                                             &call);
#else
  call_progress(&call);
#endif
  return call.answer;
}

/* Nobody waits for it: whoever logs may hold what JavaScript's thread needs. */
struct message {
  const rc_web_callback* callback;
  rc_log_level level;
  char text[];
};

static void call_log(void* argument) {
  struct message* const call = argument;
  ((rc_log_callback)call->callback->function)(call->callback->user, call->level,
                                              call->text);
  free(call);
}

static void log_message(void* user, rc_log_level level, const char* text) {
  const size_t size = strlen(text) + 1;
  struct message* const call = malloc(sizeof(struct message) + size);
  if (call == NULL) return;
  call->callback = user;
  call->level = level;
  memcpy(call->text, text, size);
#if defined(__EMSCRIPTEN_PTHREADS__)
  emscripten_async_run_in_main_runtime_thread(EM_FUNC_SIG_VI, call_log, call);
#else
  call_log(call);
#endif
}

/* An rc_progress_callback, for a function of JavaScript's of that type: it is
 * called on JavaScript's thread, and its answer waited for. */
EMSCRIPTEN_KEEPALIVE rc_progress_callback rc_web_progress(void) {
  return progress;
}

/* An rc_log_callback, for a function of JavaScript's of that type: it is called
 * on JavaScript's thread, soon; also after rc_log_set was told of another. */
EMSCRIPTEN_KEEPALIVE rc_log_callback rc_web_log(void) { return log_message; }

/* A function that frees its `user`, which malloc gave; for memory that is lent
 * to the library. */
EMSCRIPTEN_KEEPALIVE rc_tensor_borrow_callback rc_web_free(void) {
  return free;
}
