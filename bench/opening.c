/* How well an event loop stays responsive while devices are discovered or a
 * backend is opened on it.
 *
 *   opening discover|SPEC
 *
 * Prints, as JSON: the worst lateness of a timer of 1 ms beside it, that of the
 * same timer before, how long the loop's thread computed at most from one tick
 * to the next (what the library may have done there; the rest of the lateness
 * is waiting for a processor), how long the calls that begin it and that let go
 * of it kept the loop, and how long all took. opening.py runs it with empty
 * caches.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

typedef struct state {
  uv_timer_t timer;
  uint64_t last_tick;  /* nanoseconds; 0: none yet */
  uint64_t worst_late; /* nanoseconds */
  uint64_t computed;   /* by the loop's thread until the last tick */
  uint64_t worst_busy; /* nanoseconds computed from tick to tick */
  uint64_t until;      /* nanoseconds; 0: the end of what is measured */
  int ended;
  rc_status status;
  rc_device_list* list; /* what was opened */
  rc_backend* backend;
} state;

static uint64_t ns_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void) { return ns_of(CLOCK_MONOTONIC); }

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, rc_error_message());
  return 1;
}

static void on_tick(uv_timer_t* timer) {
  state* s = timer->data;
  const uint64_t now = now_ns(), period = 1000000;
  const uint64_t computed = ns_of(CLOCK_THREAD_CPUTIME_ID);
  if (computed - s->computed > s->worst_busy) {
    s->worst_busy = computed - s->computed;
  }
  s->computed = computed;
  if (s->last_tick != 0 && now > s->last_tick + period) {
    const uint64_t late = now - s->last_tick - period;
    if (late > s->worst_late) s->worst_late = late;
  }
  s->last_tick = now;
  if (s->until != 0 ? now >= s->until : s->ended) uv_timer_stop(timer);
}

/* The worst lateness until then. */
static uint64_t run_timer(uv_loop_t* uv, state* s, uint64_t until) {
  s->last_tick = s->worst_late = s->worst_busy = 0;
  s->computed = ns_of(CLOCK_THREAD_CPUTIME_ID);
  s->until = until;
  uv_timer_start(&s->timer, on_tick, 1, 1);
  uv_run(uv, UV_RUN_DEFAULT);
  return s->worst_late;
}

static void end(state* s, rc_status status, const char* message) {
  s->ended = 1;
  s->status = status;
  if (status != RC_OK) fprintf(stderr, "%s\n", message);
}

static void on_devices(void* user, rc_status status, const char* message,
                       rc_device_list* list) {
  ((state*)user)->list = list;
  end(user, status, message);
}

static void on_backend(void* user, rc_status status, const char* message,
                       rc_backend* backend) {
  ((state*)user)->backend = backend;
  end(user, status, message);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: opening discover|SPEC\n");
    return 2;
  }
  state s;
  uv_loop_t uv;
  rc_loop* loop = NULL;
  memset(&s, 0, sizeof s);
  if (RC_ABI_CHECK() != RC_OK) return failed("rc_abi_check");
  uv_loop_init(&uv);
  uv_timer_init(&uv, &s.timer);
  s.timer.data = &s;
  const uint64_t alone = run_timer(&uv, &s, now_ns() + 500000000u);

  const uint64_t begin = now_ns();
  if (rc_loop_uv(&uv, &loop) != RC_OK) return failed("rc_loop_uv");
  const rc_status status =
      strcmp(argv[1], "discover") == 0
          ? rc_discover_async(NULL, NULL, loop, on_devices, &s)
          : rc_backend_open_async(argv[1], NULL, loop, on_backend, &s);
  if (status != RC_OK) return failed("the call that begins it");
  const uint64_t call = now_ns() - begin;
  rc_loop_release(loop);
  const uint64_t late = run_timer(&uv, &s, 0);
  const uint64_t taken = now_ns() - begin;

  const uint64_t closing = now_ns();
  rc_device_list_release(s.list);
  rc_backend_release(s.backend);
  const uint64_t close = now_ns() - closing;
  uv_close((uv_handle_t*)&s.timer, NULL);
  uv_run(&uv, UV_RUN_DEFAULT);
  uv_loop_close(&uv);
  printf(
      "{\"late_ms\": %.3f, \"late_alone_ms\": %.3f, \"busy_ms\": %.3f, "
      "\"call_ms\": %.3f, \"close_ms\": %.3f, \"seconds\": %.3f}\n",
      (double)late * 1e-6, (double)alone * 1e-6, (double)s.worst_busy * 1e-6,
      (double)call * 1e-6, (double)close * 1e-6, (double)taken * 1e-9);
  return s.status != RC_OK;
}
