/* What models compute, bit by bit: for each file the likeliest tokens and a
 * hash of the logits before each, and the likeliest text to an empty prompt.
 * Two builds that print the same compute the same.
 *
 *     bits BACKEND MODEL...
 */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPrompt = 40, kTokens = 200, kContext = 256 };

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "bits: %s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

/* FNV-1a, of the bits of floats. */
static uint64_t hash(uint64_t state, const float* logits, size_t count) {
  const unsigned char* bytes = (const unsigned char*)logits;
  for (size_t i = 0; i < count * sizeof(float); ++i) {
    state = (state ^ bytes[i]) * UINT64_C(0x100000001b3);
  }
  return state;
}

static void play(rc_backend* backend, const char* path) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  rc_generate_options generate = RC_GENERATE_OPTIONS_INIT;
  rc_model* model = NULL;
  rc_session* session = NULL;
  int32_t prompt[kPrompt];
  char* text = NULL;
  uint64_t state = UINT64_C(0xcbf29ce484222325);

  options.context_length = kContext;
  check(rc_model_load(backend, path, &options, &model));
  check(rc_session_create(model, NULL, &session));
  for (int i = 0; i < kPrompt; ++i) prompt[i] = 3 + (i * 37 + i * i) % 200;
  check(rc_session_append(session, prompt, kPrompt));
  printf("%s", path);
  for (int i = 0; i < kTokens; ++i) {
    const float* logits = NULL;
    size_t rows = 0, vocabulary = 0;
    int32_t best = 0;
    check(rc_session_decode(session, i == 0));
    check(rc_session_logits(session, &logits, &rows, &vocabulary));
    state = hash(state, logits, rows * vocabulary);
    logits += (rows - 1) * vocabulary;
    for (size_t token = 1; token < vocabulary; ++token) {
      if (logits[token] > logits[best]) best = (int32_t)token;
    }
    printf(" %d", best);
    check(rc_session_append(session, &best, 1));
  }
  printf(" %016llx\n", (unsigned long long)state);
  rc_session_release(session);

  generate.temperature = 0;
  generate.max_tokens = kTokens;
  check(rc_session_create(model, NULL, &session));
  check(rc_generate(session, &generate, &text, NULL, NULL));
  printf("%s\n", text);
  rc_free(text);
  rc_session_release(session);
  rc_model_release(model);
}

int main(int argc, char** argv) {
  rc_backend* backend = NULL;
  if (argc < 3) {
    fprintf(stderr, "usage: bits BACKEND MODEL...\n");
    return EXIT_FAILURE;
  }
  check(RC_ABI_CHECK());
  check(rc_backend_open(argv[1], NULL, &backend));
  for (int i = 2; i < argc; ++i) play(backend, argv[i]);
  rc_backend_release(backend);
  return EXIT_SUCCESS;
}
