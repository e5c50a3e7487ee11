/* Prints text as it comes, on a libuv loop that does other things too: a timer
 * ticks every 10 ms while the library computes in its own threads.
 *
 *     cc stream_uv.c -o stream_uv \
 *       $(pkg-config --cflags --libs runcible libuv)
 *
 *     ./stream_uv [MODEL.gguf [PROMPT]]
 */
#include <inttypes.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static int ticks = 0;
static rc_status result = RC_OK;

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

static void check_uv(int error) {
  if (error == 0) return;
  fprintf(stderr, "%s\n", uv_strerror(error));
  exit(EXIT_FAILURE);
}

static void on_tick(uv_timer_t* timer) {
  (void)timer;
  ++ticks;
}

/* Runs on the thread of the loop, so nothing here needs a lock. */
static void on_event(void* user, const rc_event* event) {
  if (event->type == RC_EVENT_PIECE) {
    fwrite(event->text, 1, event->text_length, stdout);
    fflush(stdout);
    return;
  }
  puts("");
  fflush(stdout);
  result = event->report->status;
  if (result != RC_OK) fprintf(stderr, "%s\n", event->message);
  fprintf(stderr, "%" PRId64 " tokens; meanwhile the timer ticked %d times\n",
          event->report->generated_tokens, ticks);
  uv_close((uv_handle_t*)user, NULL);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fable";
  const char* prompt = argc > 2 ? argv[2] : "";
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_loop* loop = NULL;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  uv_timer_t timer;

  check(RC_ABI_CHECK());
  check(rc_backend_open("auto", NULL, &backend));
  check(rc_model_load(backend, path, NULL, &model));
  check(rc_session_create(model, NULL, &session));
  check(rc_loop_uv(uv_default_loop(), &loop));
  check_uv(uv_timer_init(uv_default_loop(), &timer));
  check_uv(uv_timer_start(&timer, on_tick, 10, 10));

  options.prompt = prompt;
  options.prompt_length = strlen(prompt);
  options.echo = 1;
  options.max_tokens = 300;
  options.seed = 1;
  check(rc_generate_async(session, &options, loop, on_event, &timer, NULL));

  /* Requests in flight keep their own references. */
  rc_loop_release(loop);
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  check_uv(uv_run(uv_default_loop(), UV_RUN_DEFAULT));
  check_uv(uv_loop_close(uv_default_loop()));
  return result == RC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
