/* rc_generate_options with the memory that its pointers need: the texts, tokens
 * and biases are copied and freed with the object; it keeps its grammar. */
%ignore rc_generate_options::prompt;
%ignore rc_generate_options::prompt_length;
%ignore rc_generate_options::prompt_tokens;
%ignore rc_generate_options::prompt_token_count;
%ignore rc_generate_options::logit_bias_tokens;
%ignore rc_generate_options::logit_bias;
%ignore rc_generate_options::logit_bias_count;
%ignore rc_generate_options::stop;
%ignore rc_generate_options::stop_count;
%ignore rc_generate_options::stop_tokens;
%ignore rc_generate_options::stop_token_count;
%ignore rc_generate_options::grammar;

%{
#include <string.h>

/* The options come first, so that a pointer to them points to the struct. */
typedef struct {
  rc_generate_options options;
  char* prompt;
  int32_t* prompt_tokens;
  int32_t* stop_tokens;
  int32_t* logit_bias_tokens;
  float* logit_bias;
  char** stop;
  char *tool_choice, *response_format, *dry_breakers;
  rc_grammar* grammar;
} owned_generate_options;

static owned_generate_options* owned_of(rc_generate_options* options) {
  return (owned_generate_options*)options;
}

/* Returns a copy; NULL only if there is not enough memory. */
static void* copy_of(const void* data, size_t size) {
  void* copy = malloc(size == 0 ? 1 : size);
  if (copy != NULL && size > 0) memcpy(copy, data, size);
  return copy;
}

/* Copies a text; NULL: no text. */
static int keep_text(char** kept, const char** shown, const char* text) {
  char* copy = text == NULL ? NULL : (char*)copy_of(text, strlen(text) + 1);
  if (text != NULL && copy == NULL) return 0;
  free(*kept);
  *shown = *kept = copy;
  return 1;
}

static rc_generate_options* new_generate_options(void) {
  owned_generate_options* owned =
      (owned_generate_options*)calloc(1, sizeof(*owned));
  if (owned == NULL) return NULL;
  rc_generate_options_init(&owned->options, sizeof(owned->options));
  return &owned->options;
}

static void free_generate_options(rc_generate_options* options) {
  owned_generate_options* owned = owned_of(options);
  size_t i;
  if (options == NULL) return;
  if (!runcible_forked) rc_grammar_release(owned->grammar);
  for (i = 0; i < options->stop_count; ++i) free(owned->stop[i]);
  free(owned->stop);
  free(owned->dry_breakers);
  free(owned->response_format);
  free(owned->tool_choice);
  free(owned->logit_bias);
  free(owned->logit_bias_tokens);
  free(owned->stop_tokens);
  free(owned->prompt_tokens);
  free(owned->prompt);
  free(owned);
}

static int keep_prompt(rc_generate_options* options, const char* text,
                       size_t length) {
  owned_generate_options* owned = owned_of(options);
  char* copy = (char*)copy_of(text, length);
  if (copy == NULL) return 0;
  free(owned->prompt);
  options->prompt = owned->prompt = copy;
  options->prompt_length = length;
  return 1;
}

static int keep_tokens(int32_t** kept, const int32_t* tokens, size_t count) {
  int32_t* copy = (int32_t*)copy_of(tokens, count * sizeof(int32_t));
  if (copy == NULL) return 0;
  free(*kept);
  *kept = copy;
  return 1;
}

static int keep_stop(rc_generate_options* options, const char* text) {
  owned_generate_options* owned = owned_of(options);
  char* copy =
      (char*)copy_of(text == NULL ? "" : text,
                     text == NULL ? 1 : strlen(text) + 1);
  char** more = (char**)realloc(
      owned->stop, (options->stop_count + 1) * sizeof(char*));
  if (more != NULL) {
    owned->stop = more;
    options->stop = (const char* const*)more;
  }
  if (copy == NULL || more == NULL) {
    free(copy);
    return 0;
  }
  more[options->stop_count++] = copy;
  return 1;
}

/* Keeps a reference to a grammar; NULL: no grammar. */
static void keep_grammar(rc_generate_options* options, rc_grammar* grammar) {
  owned_generate_options* owned = owned_of(options);
  rc_grammar* kept = grammar == NULL ? NULL : rc_grammar_retain(grammar);
  rc_grammar_release(owned->grammar);
  owned->grammar = kept;
  /* An invalid grammar is reported when it is used. */
  options->grammar = grammar;
}

static int keep_bias(rc_generate_options* options, int32_t token, float bias) {
  owned_generate_options* owned = owned_of(options);
  const size_t count = options->logit_bias_count;
  int32_t* tokens = (int32_t*)realloc(owned->logit_bias_tokens,
                                      (count + 1) * sizeof(int32_t));
  float* biases;
  if (tokens == NULL) return 0;
  options->logit_bias_tokens = owned->logit_bias_tokens = tokens;
  biases = (float*)realloc(owned->logit_bias, (count + 1) * sizeof(float));
  if (biases == NULL) return 0;
  options->logit_bias = owned->logit_bias = biases;
  tokens[count] = token;
  biases[count] = bias;
  options->logit_bias_count = count + 1;
  return 1;
}
%}

/* Texts that are set like numbers. If memory for one runs out, the error is
 * reported when the options are used. Languages that pass texts as bytes set
 * them by a function. */
#if defined(SWIGJAVA) || defined(SWIGCSHARP)
%define runcible_text_option(MEMBER)
%ignore rc_generate_options::MEMBER;
%extend rc_generate_options {
  runcible_kept set_ ## MEMBER(const char* NAME) {
    return keep_text(&owned_of($self)->MEMBER, &$self->MEMBER, NAME);
  }
}
%enddef
#else
%define runcible_text_option(MEMBER)
%typemap(memberin) const char* MEMBER {
  if (!keep_text(&owned_of(arg1)->MEMBER, (const char**)&$1, $input)) {
    arg1->struct_size = 0;
  }
}
%enddef
#endif
runcible_text_option(tool_choice)
runcible_text_option(response_format)
runcible_text_option(dry_breakers)

%exception rc_generate_options::~rc_generate_options "$action"
%extend rc_generate_options {
  rc_generate_options() { return new_generate_options(); }
  ~rc_generate_options() { free_generate_options($self); }

  runcible_kept set_prompt(const char* TEXT, size_t LENGTH) {
    return keep_prompt($self, TEXT, LENGTH);
  }
  runcible_kept set_prompt_tokens(const int32_t* TOKENS, size_t COUNT) {
    if (!keep_tokens(&owned_of($self)->prompt_tokens, TOKENS, COUNT)) return 0;
    $self->prompt_tokens = owned_of($self)->prompt_tokens;
    $self->prompt_token_count = COUNT;
    return 1;
  }
  runcible_kept set_stop_tokens(const int32_t* TOKENS, size_t COUNT) {
    if (!keep_tokens(&owned_of($self)->stop_tokens, TOKENS, COUNT)) return 0;
    $self->stop_tokens = owned_of($self)->stop_tokens;
    $self->stop_token_count = COUNT;
    return 1;
  }
  runcible_kept add_stop(const char* NAME) { return keep_stop($self, NAME); }
  void set_grammar(rc_grammar* grammar) { keep_grammar($self, grammar); }
  runcible_kept add_logit_bias(int32_t token, float bias) {
    return keep_bias($self, token, bias);
  }
}
