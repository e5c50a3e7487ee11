/* Chooses tokens in the program: decodes, reads the logits and draws among the
 * 40 best, softened by a temperature.
 *
 *     cc own_sampler.c -o own_sampler \
 *       $(pkg-config --cflags --libs runcible) -lm
 *
 *     ./own_sampler [MODEL.gguf [PROMPT]]
 */
#include <math.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBest = 40, kMaxTokens = 300 };
static const float kTemperature = 0.8f;

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

/* Returns a number from 0 to below 1; xorshift64* (Vigna 2016,
 * arXiv:1402.6246). */
static double draw(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (double)(*state * UINT64_C(0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

static int32_t choose(const float* logits, size_t vocabulary, uint64_t* state) {
  int32_t best[kBest]; /* by falling logit */
  double weights[kBest], total = 0;
  int count = 0;
  for (size_t token = 0; token < vocabulary; ++token) {
    int place = count;
    while (place > 0 && logits[best[place - 1]] < logits[token]) --place;
    if (place == kBest) continue;
    if (count < kBest) ++count;
    memmove(best + place + 1, best + place,
            (size_t)(count - 1 - place) * sizeof(*best));
    best[place] = (int32_t)token;
  }
  for (int i = 0; i < count; ++i) {
    weights[i] = exp((logits[best[i]] - logits[best[0]]) / kTemperature);
    total += weights[i];
  }
  double left = draw(state) * total;
  for (int i = 0; i < count - 1; ++i) {
    left -= weights[i];
    if (left < 0) return best[i];
  }
  return best[count - 1];
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fable";
  const char* prompt = argc > 2 ? argv[2] : "";
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_tokenizer* tokenizer = NULL;
  rc_tokenizer_report special = RC_TOKENIZER_REPORT_INIT;
  rc_session* session = NULL;
  uint64_t state = 1; /* the seed, not 0 */
  int32_t* tokens = NULL;
  size_t count = 0;
  char* text = NULL;

  check(RC_ABI_CHECK());
  check(rc_backend_open("auto", NULL, &backend));
  check(rc_model_load(backend, path, NULL, &model));
  check(rc_model_get_tokenizer(model, &tokenizer));
  check(rc_tokenizer_describe(tokenizer, &special));
  check(rc_session_create(model, NULL, &session));
  check(rc_session_append_text(session, prompt, strlen(prompt),
                               RC_TOKENIZE_ADD_SPECIAL));
  for (int i = 0; i < kMaxTokens; ++i) {
    const float* logits = NULL;
    size_t rows = 0, vocabulary = 0;
    check(rc_session_decode(session, 0));
    check(rc_session_logits(session, &logits, &rows, &vocabulary));
    const int32_t token = choose(logits, vocabulary, &state);
    if (token == special.eos) break;
    check(rc_session_append(session, &token, 1));
  }
  check(rc_session_tokens(session, &tokens, &count));
  check(rc_detokenize(tokenizer, tokens, count, 0, &text, NULL));
  printf("%s\n", text);

  rc_free(text);
  rc_free(tokens);
  rc_session_release(session);
  rc_tokenizer_release(tokenizer);
  rc_model_release(model);
  rc_backend_release(backend);
  return EXIT_SUCCESS;
}
