/* How well an event loop stays responsive while the engine works, and how soon
 * a cancel is heard.
 *
 *   event_loop MODEL.gguf [--loop uv|epoll] [--requests 64] [--tokens 64]
 *              [--cancel PROMPT_TOKENS] [--backend SPEC] [--json]
 *
 * Starts the requests on one loop beside a timer of 1 ms, and prints the
 * timer's worst lateness, what it was on the same machine before the engine had
 * anything to do, the longest that it took to make a session and start a
 * request, and how many end events came. With --cancel it also
 * starts a prompt of that many tokens, cancels it after 300 ms, and prints how
 * long the end event took to come.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { kMaxRequests = 1024 };

typedef struct state {
  int in_flight;
  int ends;
  int double_ends;
  int errors;
  int64_t tokens;
  uint64_t last_tick;  /* nanoseconds */
  uint64_t worst_late; /* nanoseconds */
  uint64_t late_alone; /* nanoseconds; the worst without the engine */
  uint64_t ticks;
  uint64_t late_ticks;    /* later than 5 ms */
  uint64_t slowest_start; /* nanoseconds */
  uint64_t cancelled_at;  /* nanoseconds; 0: not yet */
  uint64_t cancel_heard;  /* nanoseconds */
  uint64_t cancel_after;  /* when to cancel; 0: never */
  rc_request* to_cancel;
  uv_timer_t timer;
} state;

typedef struct job {
  state* all;
  int ended;
} job;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, rc_error_message());
  return 1;
}

static void on_event(void* user, const rc_event* event) {
  job* j = user;
  state* s = j->all;
  if (event->type == RC_EVENT_PIECE) {
    s->tokens += (int64_t)event->token_count;
    return;
  }
  if (j->ended++ != 0) s->double_ends++;
  s->ends++;
  s->in_flight--;
  if (event->report->status != RC_OK &&
      event->report->status != RC_E_CANCELLED) {
    s->errors++;
    fprintf(stderr, "request: %s\n", event->message);
  }
  if (s->to_cancel == event->request && s->cancelled_at != 0)
    s->cancel_heard = now_ns() - s->cancelled_at;
}

/* Every millisecond, on the loop's thread. */
static void tick(state* s) {
  const uint64_t now = now_ns();
  const uint64_t period = 1000000;
  if (s->last_tick != 0 && now > s->last_tick + period) {
    const uint64_t late = now - s->last_tick - period;
    if (late > s->worst_late) s->worst_late = late;
    if (late > 5000000) s->late_ticks++;
  }
  s->last_tick = now;
  s->ticks++;
  if (s->cancel_after != 0 && now >= s->cancel_after && s->cancelled_at == 0) {
    s->cancelled_at = now_ns();
    rc_request_cancel(s->to_cancel);
  }
}

static void on_uv_timer(uv_timer_t* timer) {
  state* s = timer->data;
  tick(s);
  if (s->in_flight == 0) uv_close((uv_handle_t*)timer, NULL);
}

static int run_epoll(state* s, rc_loop* loop) {
  int32_t fd = -1;
  if (rc_loop_fd(loop, &fd) != RC_OK) return failed("rc_loop_fd");
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  const int epoll = epoll_create1(0);
  if (timer < 0 || epoll < 0) return 1;
  struct itimerspec every;
  memset(&every, 0, sizeof every);
  every.it_interval.tv_nsec = every.it_value.tv_nsec = 1000000;
  timerfd_settime(timer, 0, &every, NULL);
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = EPOLLIN;
  event.data.fd = fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  event.data.fd = timer;
  epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
  while (s->in_flight > 0) {
    struct epoll_event ready[2];
    const int count = epoll_wait(epoll, ready, 2, -1);
    for (int i = 0; i < count; i++) {
      if (ready[i].data.fd == timer) {
        uint64_t expirations;
        if (read(timer, &expirations, sizeof expirations) > 0) tick(s);
      } else if (rc_loop_dispatch(loop, 0, NULL) != RC_OK) {
        return failed("rc_loop_dispatch");
      }
    }
  }
  close(epoll);
  close(timer);
  return 0;
}

/* The worst lateness of a timer of 1 ms that has the machine to itself. */
static uint64_t worst_late_alone(void) {
  state s;
  memset(&s, 0, sizeof s);
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec every;
  memset(&every, 0, sizeof every);
  every.it_interval.tv_nsec = every.it_value.tv_nsec = 1000000;
  if (timer < 0 || timerfd_settime(timer, 0, &every, NULL) != 0) return 0;
  for (const uint64_t end = now_ns() + 3000000000u; now_ns() < end;) {
    uint64_t expirations;
    if (read(timer, &expirations, sizeof expirations) > 0) tick(&s);
  }
  close(timer);
  return s.worst_late;
}

static int start(rc_model* model, const rc_generate_options* options,
                 rc_loop* loop, job* j, rc_request** request) {
  const uint64_t begin = now_ns();
  rc_session* session = NULL;
  if (rc_session_create(model, NULL, &session) != RC_OK)
    return failed("rc_session_create");
  const rc_status status =
      rc_generate_async(session, options, loop, on_event, j, request);
  rc_session_release(session);
  if (status != RC_OK) return failed("rc_generate_async");
  j->all->in_flight++;
  const uint64_t taken = now_ns() - begin;
  if (taken > j->all->slowest_start) j->all->slowest_start = taken;
  return 0;
}

static void print_text(const state* s, const char* kind, int requests,
                       int cancel, double seconds) {
  printf(
      "loop %s: %d requests, %d end events, %d ended twice, %d errors, "
      "%" PRId64 " tokens in %.2f s\n",
      kind, requests + (cancel > 0), s->ends, s->double_ends, s->errors,
      s->tokens, seconds);
  printf("timer of 1 ms: %" PRIu64 " ticks, %" PRIu64
         " later than 5 ms, worst lateness %.2f ms (%.2f ms without the "
         "engine)\n",
         s->ticks, s->late_ticks, (double)s->worst_late * 1e-6,
         (double)s->late_alone * 1e-6);
  printf("slowest start of a request: %.2f ms\n",
         (double)s->slowest_start * 1e-6);
  if (cancel > 0) {
    if (s->cancel_heard == 0)
      printf("cancel: the prompt had ended before\n");
    else
      printf("cancel of a prompt of %d tokens: end event after %.2f ms\n",
             cancel, (double)s->cancel_heard * 1e-6);
  }
}

static void print_json(const state* s, const char* kind, int requests,
                       int cancel, double seconds) {
  printf(
      "{\"loop\": \"%s\", \"requests\": %d, \"end_events\": %d, "
      "\"ended_twice\": %d, \"errors\": %d, \"tokens\": %" PRId64
      ", \"seconds\": %.3f, \"ticks\": %" PRIu64
      ", \"ticks_5_ms_late\": %" PRIu64
      ", \"worst_late_ms\": %.3f, \"worst_late_alone_ms\": %.3f"
      ", \"slowest_start_ms\": %.3f",
      kind, requests + (cancel > 0), s->ends, s->double_ends, s->errors,
      s->tokens, seconds, s->ticks, s->late_ticks, (double)s->worst_late * 1e-6,
      (double)s->late_alone * 1e-6, (double)s->slowest_start * 1e-6);
  if (cancel > 0 && s->cancel_heard != 0)
    printf(", \"cancelled_prompt\": %d, \"cancel_ms\": %.3f", cancel,
           (double)s->cancel_heard * 1e-6);
  printf("}\n");
}

int main(int argc, char** argv) {
  const char *path = NULL, *kind = "uv", *spec = NULL;
  int requests = 64, tokens = 64, cancel = 0, json = 0;
  for (int i = 1; i < argc; i++) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--loop") == 0)
      kind = value, i++;
    else if (strcmp(argv[i], "--backend") == 0)
      spec = value, i++;
    else if (strcmp(argv[i], "--requests") == 0)
      requests = atoi(value), i++;
    else if (strcmp(argv[i], "--tokens") == 0)
      tokens = atoi(value), i++;
    else if (strcmp(argv[i], "--cancel") == 0)
      cancel = atoi(value), i++;
    else if (strcmp(argv[i], "--json") == 0)
      json = 1;
    else
      path = argv[i];
  }
  if (path == NULL || requests < 0 || requests > kMaxRequests) {
    fprintf(stderr,
            "usage: event_loop MODEL.gguf [--loop uv|epoll] "
            "[--requests N] [--tokens N] [--cancel N] [--backend SPEC] "
            "[--json]\n");
    return 2;
  }
  const int on_uv = strcmp(kind, "uv") == 0;

  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_loop* loop = NULL;
  uv_loop_t uv;
  static state s;
  static job jobs[kMaxRequests + 1];
  if (RC_ABI_CHECK() != RC_OK) return failed("rc_abi_check");
  if (rc_backend_open(spec, NULL, &backend) != RC_OK)
    return failed("rc_backend_open");
  if (rc_model_load(backend, path, NULL, &model) != RC_OK)
    return failed("rc_model_load");
  uv_loop_init(&uv);
  if ((on_uv ? rc_loop_uv(&uv, &loop) : rc_loop_create(&loop)) != RC_OK)
    return failed("rc_loop");

  s.late_alone = worst_late_alone();
  const uint64_t begin = now_ns();
  rc_model_report about = RC_MODEL_REPORT_INIT;
  rc_model_describe(model, &about);
  if (cancel > 0) {
    int32_t* prompt = malloc(sizeof *prompt * (size_t)cancel);
    if (prompt == NULL) return 1;
    for (int i = 0; i < cancel; i++)
      prompt[i] = (int32_t)((i * 7919 + 11) % about.vocabulary);
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.prompt_tokens = prompt;
    options.prompt_token_count = (size_t)cancel;
    options.max_tokens = 1;
    jobs[kMaxRequests].all = &s;
    if (start(model, &options, loop, &jobs[kMaxRequests], &s.to_cancel) != 0)
      return 1;
    s.cancel_after = now_ns() + 300000000u;
    free(prompt);
  }
  for (int i = 0; i < requests; i++) {
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.seed = (uint64_t)i;
    options.max_tokens = tokens;
    options.ignore_eos = 1;
    jobs[i].all = &s;
    if (start(model, &options, loop, &jobs[i], NULL) != 0) return 1;
  }

  int result = 0;
  if (on_uv) {
    uv_timer_init(&uv, &s.timer);
    s.timer.data = &s;
    uv_timer_start(&s.timer, on_uv_timer, 1, 1);
    uv_run(&uv, UV_RUN_DEFAULT);
  } else {
    result = run_epoll(&s, loop);
  }
  const double seconds = (double)(now_ns() - begin) * 1e-9;
  rc_request_release(s.to_cancel);
  rc_loop_release(loop);
  uv_run(&uv, UV_RUN_DEFAULT);
  const int open_handles = uv_loop_close(&uv) != 0;
  rc_model_release(model);
  rc_backend_release(backend);

  if (json)
    print_json(&s, kind, requests, cancel, seconds);
  else
    print_text(&s, kind, requests, cancel, seconds);
  if (open_handles) fprintf(stderr, "uv_loop_close: handles are still open\n");
  return result != 0 || s.ends != requests + (cancel > 0) ||
         s.double_ends != 0 || s.errors != 0 || open_handles;
}
