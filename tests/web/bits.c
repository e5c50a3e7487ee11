/* Prints the results of models, bit by bit: for each file the likeliest tokens
 * and a hash of the logits before each, and the likeliest text to a prompt; for
 * one without sessions a hash of embeddings; on failure the message. Two builds
 * that print the same compute the same.
 *
 *     bits BACKEND MODEL...
 */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPrompt = 40, kTokens = 64, kContext = 256 };

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "bits: %s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

static const uint64_t kHash = UINT64_C(0xcbf29ce484222325);

/* FNV-1a, of the bits of floats. */
static uint64_t hash(uint64_t state, const float* logits, size_t count) {
  const unsigned char* bytes = (const unsigned char*)logits;
  for (size_t i = 0; i < count * sizeof(float); ++i) {
    state = (state ^ bytes[i]) * UINT64_C(0x100000001b3);
  }
  return state;
}

/* Whether it is RC_OK; else the message is printed. */
static int can(rc_status status) {
  if (status == RC_OK) return 1;
  printf(" %s\n", rc_error_message());
  return 0;
}

static void print_logits(rc_session* session) {
  int32_t prompt[kPrompt];
  uint64_t state = kHash;
  for (int i = 0; i < kPrompt; ++i) prompt[i] = 3 + (i * 37 + i * i) % 64;
  if (!can(rc_session_append(session, prompt, kPrompt))) return;
  for (int i = 0; i < kTokens; ++i) {
    const float* logits = NULL;
    size_t rows = 0, vocabulary = 0;
    int32_t best = 0;
    if (!can(rc_session_decode(session, i == 0))) return;
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
}

static void print_text(rc_session* session) {
  rc_generate_options generate = RC_GENERATE_OPTIONS_INIT;
  char* text = NULL;
  generate.temperature = 0;
  generate.max_tokens = kTokens;
  generate.prompt = "The fox";
  generate.prompt_length = strlen(generate.prompt);
  if (!can(rc_generate(session, &generate, &text, NULL, NULL))) return;
  printf("%s\n", text);
  rc_free(text);
}

static void print_embeddings(rc_model* model) {
  const char* texts[] = {"The fox", "A crow sat on a tree with a piece of"};
  rc_embedding* embedding = NULL;
  const float* rows = NULL;
  size_t count = 0, columns = 0;
  if (!can(rc_embed(model, texts, NULL, 2, NULL, &embedding))) return;
  check(rc_embedding_rows(embedding, &rows, &count, &columns));
  printf(" %016llx\n", (unsigned long long)hash(kHash, rows, count * columns));
  rc_embedding_release(embedding);
}

static void play(rc_backend* backend, const char* path) {
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  rc_model* model = NULL;
  rc_session* session = NULL;

  printf("%s", path);
  options.context_length = kContext;
  if (!can(rc_model_load(backend, path, &options, &model))) return;
  if (rc_session_create(model, NULL, &session) == RC_E_UNSUPPORTED) {
    print_embeddings(model);
  } else {
    print_logits(session);
    rc_session_release(session);
    check(rc_session_create(model, NULL, &session));
    print_text(session);
  }
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
