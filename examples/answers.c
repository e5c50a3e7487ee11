/* Several answers to one prompt: the prompt is evaluated once, and each answer
 * goes on from a fork of its session, which shares its memory. All answers are
 * generated together: each has a row in each step.
 *
 *     cc answers.c -o answers $(pkg-config --cflags --libs runcible)
 *
 *     ./answers [MODEL.gguf [PROMPT [COUNT]]]
 */
#include <inttypes.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostAnswers = 16 };

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

/* Prints an answer to its end; the others go on meanwhile. */
static void print_answer(rc_request* request, int64_t* evaluated) {
  rc_event event = RC_EVENT_INIT;
  do {
    check(rc_request_next(request, -1, &event));
    if (event.type == RC_EVENT_PIECE) {
      fwrite(event.text, 1, event.text_length, stdout);
    }
  } while (event.type != RC_EVENT_END);
  puts("");
  check(event.report->status);
  *evaluated += event.report->prompt_tokens;
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fable";
  const char* prompt = argc > 2 ? argv[2] : "A fox and";
  const int count = argc > 3 ? atoi(argv[3]) : 3;
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_request* requests[kMostAnswers];
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  char* text = NULL;
  int64_t evaluated = 0;
  int i;

  if (count < 1 || count > kMostAnswers) {
    fprintf(stderr, "COUNT is %d; it must be from 1 to %d\n", count,
            (int)kMostAnswers);
    return EXIT_FAILURE;
  }
  check(RC_ABI_CHECK());
  check(rc_backend_open("auto", NULL, &backend));
  check(rc_model_load(backend, path, NULL, &model));
  check(rc_session_create(model, NULL, &session));

  options.prompt = prompt;
  options.prompt_length = strlen(prompt);
  options.max_tokens = 0; /* nothing but the prompt */
  check(rc_generate(session, &options, &text, NULL, &report));
  rc_free(text);

  options.prompt_length = 0;
  options.max_tokens = 200;
  for (i = 0; i < count; ++i) {
    rc_session* fork = NULL;
    check(rc_session_fork(session, &fork));
    options.seed = (uint64_t)i + 1;
    check(rc_generate_async(fork, &options, NULL, NULL, NULL, &requests[i]));
    rc_session_release(fork); /* the request keeps it */
  }
  for (i = 0; i < count; ++i) {
    printf("== %d\n%s", i + 1, prompt);
    print_answer(requests[i], &evaluated);
    rc_request_release(requests[i]);
  }
  fprintf(stderr,
          "%" PRId64 " tokens of the prompt evaluated once, and %" PRId64
          " again\n",
          report.prompt_tokens, evaluated);

  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  return EXIT_SUCCESS;
}
