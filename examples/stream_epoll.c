/* Prints text as it comes, on the program's own event loop, which watches a
 * descriptor of the library; a timer ticks every 10 ms meanwhile.
 *
 *     cc stream_epoll.c -o stream_epoll \
 *       $(pkg-config --cflags --libs runcible)
 *
 *     ./stream_epoll [MODEL.gguf [PROMPT]]
 */
#include <inttypes.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int done = 0;
static rc_status result = RC_OK;

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

/* The same for results of system calls: -1 is a failure. */
static int check_system(int answer) {
  if (answer != -1) return answer;
  perror("stream_epoll");
  exit(EXIT_FAILURE);
}

/* Runs within rc_loop_dispatch. */
static void on_event(void* user, const rc_event* event) {
  (void)user;
  if (event->type == RC_EVENT_PIECE) {
    fwrite(event->text, 1, event->text_length, stdout);
    fflush(stdout);
    return;
  }
  puts("");
  fflush(stdout);
  done = 1;
  result = event->report->status;
  if (result != RC_OK) fprintf(stderr, "%s\n", event->message);
}

static void watch(int epoll, int fd) {
  struct epoll_event readable = {.events = EPOLLIN, .data = {.fd = fd}};
  check_system(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &readable));
}

/* Runs the loop; returns how often its timer ticked. */
static uint64_t run_until_done(rc_loop* loop) {
  const struct itimerspec every_10_ms = {{0, 10000000}, {0, 10000000}};
  const int epoll = check_system(epoll_create1(0));
  const int timer = check_system(timerfd_create(CLOCK_MONOTONIC, 0));
  uint64_t ticks = 0, passed = 0;
  int32_t text = -1;
  struct epoll_event ready;

  check_system(timerfd_settime(timer, 0, &every_10_ms, NULL));
  check(rc_loop_fd(loop, &text));
  watch(epoll, timer);
  watch(epoll, text);
  while (!done) {
    check_system(epoll_wait(epoll, &ready, 1, -1));
    if (ready.data.fd == text) {
      check(rc_loop_dispatch(loop, 0, NULL));
    } else if (read(timer, &passed, sizeof(passed)) == sizeof(passed)) {
      ticks += passed;
    }
  }
  close(timer);
  close(epoll);
  return ticks;
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fable";
  const char* prompt = argc > 2 ? argv[2] : "";
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_loop* loop = NULL;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;

  check(RC_ABI_CHECK());
  check(rc_backend_open("auto", NULL, &backend));
  check(rc_model_load(backend, path, NULL, &model));
  check(rc_session_create(model, NULL, &session));
  check(rc_loop_create(&loop));

  options.prompt = prompt;
  options.prompt_length = strlen(prompt);
  options.echo = 1;
  options.max_tokens = 300;
  options.seed = 1;
  check(rc_generate_async(session, &options, loop, on_event, NULL, NULL));
  fprintf(stderr, "meanwhile the timer ticked %" PRIu64 " times\n",
          run_until_done(loop));

  rc_loop_release(loop);
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  return result == RC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
