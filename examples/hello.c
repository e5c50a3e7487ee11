/* Loads a model and prints a text:
 *
 *     cc hello.c -o hello $(pkg-config --cflags --libs runcible)
 *
 *     ./hello [MODEL.gguf [PROMPT]]
 */
#include <runcible/runcible.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fable";
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  char* text = NULL;

  options.prompt = argc > 2 ? argv[2] : "";
  options.prompt_length = strlen(options.prompt);
  options.echo = 1;         /* the prompt is part of the text */
  options.max_tokens = 300; /* default: as many as the context holds */
  options.seed = 1;         /* default: another text each time */
  if (RC_ABI_CHECK() != RC_OK ||
      rc_backend_open("auto", NULL, &backend) != RC_OK ||
      rc_model_load(backend, path, NULL, &model) != RC_OK ||
      rc_session_create(model, NULL, &session) != RC_OK ||
      rc_generate(session, &options, &text, NULL, NULL) != RC_OK) {
    fprintf(stderr, "%s\n", rc_error_message());
    return 1;
  }
  printf("%s\n", text);

  rc_free(text);
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  return 0;
}
