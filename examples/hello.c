/* The smallest program: loads a model and prints a text of it.
 *
 *     cc hello.c -o hello \
 *       $(pkg-config --cflags --libs runcible)
 *
 *     ./hello [MODEL.gguf [PROMPT]]
 */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fable";
  const char* prompt = argc > 2 ? argv[2] : "";
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  char* text = NULL;

  check(RC_ABI_CHECK());
  check(rc_backend_open("auto", NULL, &backend));
  check(rc_model_load(backend, path, NULL, &model));
  check(rc_session_create(model, NULL, &session));

  options.prompt = prompt;
  options.prompt_length = strlen(prompt);
  options.echo = 1; /* the prompt is part of the text */
  options.max_tokens = 300;
  options.seed = 1; /* without it every run tells another story */
  check(rc_generate(session, &options, &text, NULL, NULL));
  printf("%s\n", text);

  rc_free(text);
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  return EXIT_SUCCESS;
}
