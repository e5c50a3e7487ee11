/* Generates data in a shape that a program can use: the text of any model
 * follows a JSON schema.
 *
 *     cc schema.c -o schema $(pkg-config --cflags --libs runcible)
 *
 *     ./schema [MODEL.gguf [PROMPT]]
 */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kSchema[] =
    "{\"type\": \"object\", \"additionalProperties\": false,"
    " \"required\": [\"animal\", \"brave\", \"friends\"],"
    " \"properties\": {"
    "   \"animal\": {\"enum\": [\"fox\", \"crow\", \"goose\", \"mouse\"]},"
    "   \"brave\": {\"type\": \"boolean\"},"
    "   \"friends\": {\"enum\": [1, 2, 3]}}}";

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
  rc_tokenizer* tokenizer = NULL;
  rc_grammar* grammar = NULL;
  rc_session* session = NULL;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  char* text = NULL;
  int i;

  check(RC_ABI_CHECK());
  check(rc_backend_open("auto", NULL, &backend));
  check(rc_model_load(backend, path, NULL, &model));
  check(rc_model_get_tokenizer(model, &tokenizer));
  /* Compiled once, used by as many requests as there are. */
  check(rc_grammar_create(tokenizer, RC_GRAMMAR_JSON_SCHEMA, kSchema,
                          sizeof kSchema - 1, NULL, &grammar));

  options.prompt = prompt;
  options.prompt_length = strlen(prompt);
  options.grammar = grammar;
  for (i = 1; i <= 3; ++i) {
    check(rc_session_create(model, NULL, &session));
    options.seed = (uint64_t)i;
    check(rc_generate(session, &options, &text, NULL, NULL));
    printf("%s\n", text);
    rc_free(text);
    rc_session_release(session);
  }

  rc_grammar_release(grammar);
  rc_tokenizer_release(tokenizer);
  rc_model_release(model);
  rc_backend_release(backend);
  return EXIT_SUCCESS;
}
