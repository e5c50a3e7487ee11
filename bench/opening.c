/* How well an event loop stays responsive while devices are discovered or a
 * backend is opened on it.
 *
 *   opening discover|SPEC
 *   opening wait:SECONDS     nothing but the timer, for comparison
 *   opening spin:THREADS     the load of a comparison: threads that do nothing
 *                            but compute, with turns as long as those of the
 *                            library's threads, until the standard input ends
 *
 * Prints, as JSON, the worst lateness of a timer of 1 ms beside it and of what
 * that consists:
 *
 *   busy    the loop's thread computed
 *   waited  it could have run, but the processors ran others (Linux tells)
 *   held    neither: it slept longer than the timer wanted, for a lock, for a
 *           page of memory, or since the machine itself stood still; except on
 *           Linux also since libuv counts in whole milliseconds
 *
 * and also the most of each from one tick to the next, whenever that was. What
 * the library keeps the loop from is in busy and held. Further: the worst
 * lateness of the same timer before; how long the calls that begin it and that
 * let go of it kept the loop; how long all took, and how many processors were
 * used then. opening.py runs it with empty caches.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <sys/timerfd.h>
#endif

enum { PERIOD = 1000000 }; /* nanoseconds of the timer */

/* Nanoseconds from one tick to the next. */
typedef struct tick {
  uint64_t late, busy, waited, held;
} tick;

typedef struct state {
#ifdef __linux__
  uv_poll_t timer;
  int timer_fd;
#else
  uv_timer_t timer;
#endif
  int schedstat;        /* a descriptor; -1: the system does not tell */
  uint64_t last_tick;   /* nanoseconds; 0: none yet */
  uint64_t last_busy;   /* by the loop's thread until then */
  uint64_t last_waited; /* of the same */
  tick latest;          /* the one with the worst lateness */
  tick most;            /* the most of each */
  uint64_t until;       /* nanoseconds; 0: the end of what is measured */
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

/* Computed by all threads of the process, and by its children that ended. */
static uint64_t computed_ns(void) {
  struct rusage usage;
  uint64_t total = ns_of(CLOCK_PROCESS_CPUTIME_ID);
  getrusage(RUSAGE_CHILDREN, &usage);
  total +=
      (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u;
  return total +
         (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

/* How long the calling thread was ready to run and did not. */
static uint64_t waited_ns(const state* s) {
  char text[96];
  uint64_t ran = 0, waited = 0;
  const ssize_t length =
      s->schedstat < 0 ? -1 : pread(s->schedstat, text, sizeof text - 1, 0);
  if (length <= 0) return 0;
  text[length] = '\0';
  return sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2 ? waited : 0;
}

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, rc_error_message());
  return 1;
}

static uint64_t above(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static void keep_more(uint64_t* most, uint64_t value) {
  if (value > *most) *most = value;
}

/* False: it is over. */
static int tick_goes_on(state* s) {
  const uint64_t now = now_ns();
  const uint64_t busy = ns_of(CLOCK_THREAD_CPUTIME_ID), waited = waited_ns(s);
  if (s->last_tick != 0) {
    tick t;
    t.late = above(now - s->last_tick, PERIOD);
    t.busy = busy - s->last_busy;
    t.waited = waited - s->last_waited;
    t.held = above(t.late, t.busy + t.waited);
    if (t.late > s->latest.late) s->latest = t;
    keep_more(&s->most.busy, t.busy);
    keep_more(&s->most.waited, t.waited);
    keep_more(&s->most.held, t.held);
  }
  s->last_tick = now;
  s->last_busy = busy;
  s->last_waited = waited;
  return s->until != 0 ? now < s->until : !s->ended;
}

#ifdef __linux__

/* A timer of libuv would be up to 1 ms late, without being kept from anything,
 * after whatever else wakes the loop: it rounds what is left of a wait up. */
static int make_timer(uv_loop_t* uv, state* s) {
  s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  return s->timer_fd >= 0 && uv_poll_init(uv, &s->timer, s->timer_fd) == 0;
}

static void set_timer(state* s, long period) {
  const struct itimerspec times = {{0, period}, {0, period}};
  timerfd_settime(s->timer_fd, 0, &times, NULL);
}

static void on_timer(uv_poll_t* timer, int status, int events) {
  state* s = timer->data;
  uint64_t count;
  (void)status, (void)events;
  if (read(s->timer_fd, &count, sizeof count) != sizeof count) return;
  if (tick_goes_on(s)) return;
  set_timer(s, 0);
  uv_poll_stop(timer);
}

static void start_timer(state* s) {
  set_timer(s, PERIOD);
  uv_poll_start(&s->timer, UV_READABLE, on_timer);
}

#else

static int make_timer(uv_loop_t* uv, state* s) {
  return uv_timer_init(uv, &s->timer) == 0;
}

static void on_timer(uv_timer_t* timer) {
  if (!tick_goes_on(timer->data)) uv_timer_stop(timer);
}

static void start_timer(state* s) { uv_timer_start(&s->timer, on_timer, 1, 1); }

#endif

/* The worst lateness until then. */
static uint64_t run_timer(uv_loop_t* uv, state* s, uint64_t until) {
  s->last_tick = 0;
  memset(&s->latest, 0, sizeof s->latest);
  memset(&s->most, 0, sizeof s->most);
  s->until = until;
  start_timer(s);
  uv_run(uv, UV_RUN_DEFAULT);
  return s->latest.late;
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

static rc_status begin(state* s, const char* what, uv_loop_t* uv) {
  rc_loop* loop = NULL;
  rc_status status = rc_loop_uv(uv, &loop);
  if (status != RC_OK) return status;
  status = strcmp(what, "discover") == 0
               ? rc_discover_async(NULL, NULL, loop, on_devices, s)
               : rc_backend_open_async(what, NULL, loop, on_backend, s);
  rc_loop_release(loop);
  return status;
}

static double ms(uint64_t ns) { return (double)ns * 1e-6; }

static int measure(const char* what) {
  state s;
  uv_loop_t uv;
  const char* wait = strncmp(what, "wait:", 5) == 0 ? what + 5 : NULL;
  memset(&s, 0, sizeof s);
  s.schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  uv_loop_init(&uv);
  if (!make_timer(&uv, &s)) return failed("the timer");
  s.timer.data = &s;
  const uint64_t alone = run_timer(&uv, &s, now_ns() + 500000000u);

  const uint64_t begun = now_ns(), computed = computed_ns();
  if (wait == NULL && begin(&s, what, &uv) != RC_OK) {
    return failed("the call that begins it");
  }
  const uint64_t call = now_ns() - begun;
  run_timer(&uv, &s, wait == NULL ? 0 : begun + (uint64_t)(atof(wait) * 1e9));
  const uint64_t taken = now_ns() - begun;
  const uint64_t used = computed_ns() - computed;

  const uint64_t closing = now_ns();
  rc_device_list_release(s.list);
  rc_backend_release(s.backend);
  const uint64_t close_ns = now_ns() - closing;
  uv_close((uv_handle_t*)&s.timer, NULL);
  uv_run(&uv, UV_RUN_DEFAULT);
  uv_loop_close(&uv);
  if (s.schedstat >= 0) close(s.schedstat);
  printf(
      "{\"late_ms\": %.3f, \"late_busy_ms\": %.3f, \"late_waited_ms\": %.3f, "
      "\"late_held_ms\": %.3f, \"busy_ms\": %.3f, \"waited_ms\": %.3f, "
      "\"held_ms\": %.3f, \"late_alone_ms\": %.3f, \"call_ms\": %.3f, "
      "\"close_ms\": %.3f, \"seconds\": %.3f, \"processors\": %.2f}\n",
      ms(s.latest.late), ms(s.latest.busy), ms(s.latest.waited),
      ms(s.latest.held), ms(s.most.busy), ms(s.most.waited), ms(s.most.held),
      ms(alone), ms(call), ms(close_ns), (double)taken * 1e-9,
      (double)used / (double)taken);
  return s.status != RC_OK;
}

/* What the library asks for its threads; see src/base/compute_thread.h. */
static void ask_for_long_turns(void) {
#if defined(__linux__) && defined(SYS_sched_setattr)
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {sizeof attributes, 0, 0, 0, 0, 20000000, 0, 0};
  syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

static void* spin(void* unused) {
  volatile uint64_t turns = 0;
  ask_for_long_turns();
  for (;;) ++turns;
  return unused;
}

static int spin_until_end(int count) {
  pthread_t thread;
  char byte;
  for (int i = 0; i < count; ++i) {
    if (pthread_create(&thread, NULL, spin, NULL) != 0) return 1;
  }
  puts("spinning");
  fflush(stdout);
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: opening discover|SPEC|wait:SECONDS|spin:THREADS\n");
    return 2;
  }
  if (strncmp(argv[1], "spin:", 5) == 0) {
    return spin_until_end(atoi(argv[1] + 5));
  }
  if (RC_ABI_CHECK() != RC_OK) return failed("rc_abi_check");
  return measure(argv[1]);
}
