/* Exercises grammar.h, and generating under a grammar. */
#include "runcible/grammar.h"

#include "check.h"
#include "runcible/generate.h"

static rc_grammar* compile(const rc_tokenizer* tokenizer, rc_grammar_kind kind,
                           const char* text) {
  rc_grammar* grammar = NULL;
  REQUIRE_OK(
      rc_grammar_create(tokenizer, kind, text, strlen(text), NULL, &grammar));
  return grammar;
}

/* The call fails, and its message holds the text. */
static void refused(rc_status expected, const rc_tokenizer* tokenizer,
                    rc_grammar_kind kind, const char* source,
                    const char* part) {
  rc_grammar* grammar = NULL;
  CHECK_STATUS(expected, rc_grammar_create(tokenizer, kind, source,
                                           strlen(source), NULL, &grammar));
  CHECK(grammar == NULL);
  if (strstr(rc_error_message(), part) == NULL) {
    ++check_failures;
    fprintf(stderr, "%s does not contain %s\n", rc_error_message(), part);
  }
}

/* Whether the text, or its beginning, is allowed, and whether it may end. */
static int allows(rc_grammar* grammar, const char* text, int* ends) {
  rc_grammar_matcher* matcher = NULL;
  int32_t accepted = -1, accepting = -1;
  REQUIRE_OK(rc_grammar_matcher_create(grammar, &matcher));
  REQUIRE_OK(
      rc_grammar_matcher_accept_text(matcher, text, strlen(text), &accepted));
  REQUIRE_OK(rc_grammar_matcher_is_accepting(matcher, &accepting));
  rc_grammar_matcher_release(matcher);
  *ends = accepting;
  return accepted;
}

static void check_kinds(const rc_tokenizer* tokenizer) {
  static const struct {
    rc_grammar_kind kind;
    const char *source, *whole, *part, *wrong;
  } kCases[] = {
      {RC_GRAMMAR_JSON_SCHEMA, "{\"type\": \"integer\", \"minimum\": 10}", "12",
       "1", "x"},
      {RC_GRAMMAR_REGEX, "[a-c]{2,3}", "abc", "a", "abd"},
      {RC_GRAMMAR_GBNF, "root ::= \"(\" root \")\" | \"x\"", "((x))", "((x",
       "((x)))"},
      {RC_GRAMMAR_LARK, "start: \"a\" start \"b\" | \"c\"\n", "aacbb", "aa",
       "aab"},
  };
  size_t i;
  int ends = 0;
  for (i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    rc_grammar* grammar = compile(tokenizer, kCases[i].kind, kCases[i].source);
    CHECK(allows(grammar, kCases[i].whole, &ends) == 1 && ends == 1);
    CHECK(allows(grammar, kCases[i].part, &ends) == 1 && ends == 0);
    CHECK(allows(grammar, kCases[i].wrong, &ends) == 0);
    rc_grammar_release(grammar);
  }
}

static void check_errors(const rc_tokenizer* tokenizer) {
  const char* const nothing[] = {NULL};
  rc_grammar_options options = RC_GRAMMAR_OPTIONS_INIT;
  rc_grammar* grammar = NULL;
  refused(RC_E_INVALID_ARGUMENT, tokenizer, RC_GRAMMAR_JSON_SCHEMA,
          "{\"properties\": {\"a\": {\"type\": 7}}}", "/properties/a");
  refused(RC_E_INVALID_ARGUMENT, tokenizer, RC_GRAMMAR_JSON_SCHEMA, "{\"a\"",
          "");
  refused(RC_E_INVALID_ARGUMENT, tokenizer, RC_GRAMMAR_JSON_SCHEMA, "false",
          "");
  refused(RC_E_INVALID_ARGUMENT, tokenizer, RC_GRAMMAR_REGEX, "a(b", "");
  refused(RC_E_INVALID_ARGUMENT, tokenizer, RC_GRAMMAR_GBNF,
          "root ::= \"a\"\nroot2 ::= (\n", "line");
  refused(RC_E_INVALID_ARGUMENT, tokenizer, RC_GRAMMAR_LARK, "start: nobody\n",
          "nobody");
  refused(RC_E_INVALID_ARGUMENT, tokenizer, 9, "a", "9");
  options.max_spaces = -1;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_grammar_create(tokenizer, RC_GRAMMAR_REGEX, "a", 1, &options,
                                 &grammar));
  CHECK(strstr(rc_error_message(), "max_spaces") != NULL);
  CHECK_STATUS(
      RC_E_INVALID_ARGUMENT,
      rc_grammar_create(NULL, RC_GRAMMAR_REGEX, "a", 1, NULL, &grammar));
  CHECK_STATUS(
      RC_E_INVALID_ARGUMENT,
      rc_grammar_create(tokenizer, RC_GRAMMAR_REGEX, NULL, 1, NULL, &grammar));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_grammar_create_choices(tokenizer, nothing, 1, &grammar));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_grammar_create_choices(tokenizer, NULL, 0, &grammar));
  CHECK(grammar == NULL);
}

static void check_spaces(const rc_tokenizer* tokenizer) {
  const char* schema = "{\"type\": \"array\"}";
  rc_grammar_options options = RC_GRAMMAR_OPTIONS_INIT;
  rc_grammar* grammar = compile(tokenizer, RC_GRAMMAR_JSON_SCHEMA, schema);
  int ends = 0;
  CHECK(allows(grammar, "[1,2]", &ends) == 1 && ends == 1);
  CHECK(allows(grammar, "[1, 2]", &ends) == 0);
  rc_grammar_release(grammar);
  options.max_spaces = 1;
  REQUIRE_OK(rc_grammar_create(tokenizer, RC_GRAMMAR_JSON_SCHEMA, schema,
                               strlen(schema), &options, &grammar));
  CHECK(allows(grammar, "[1, 2]", &ends) == 1 && ends == 1);
  CHECK(allows(grammar, "[1,  2]", &ends) == 0);
  rc_grammar_release(grammar);
}

static void check_open(const rc_tokenizer* tokenizer) {
  const char* schema =
      "{\"type\": \"object\", \"required\": [\"b\", \"a\"], \"properties\":"
      " {\"a\": {\"type\": \"integer\"}, \"b\": {}}}";
  static const char* const kOnlyOpen[] = {
      "{\"b\":1,\"a\":2}", "{\"a\":1.0,\"b\":2}", "{\"a\":1,\"b\":2,\"c\":3}"};
  rc_grammar_options options = RC_GRAMMAR_OPTIONS_INIT;
  rc_grammar* closed = compile(tokenizer, RC_GRAMMAR_JSON_SCHEMA, schema);
  rc_grammar* open = NULL;
  int ends = 0;
  size_t i;
  options.open = 1;
  REQUIRE_OK(rc_grammar_create(tokenizer, RC_GRAMMAR_JSON_SCHEMA, schema,
                               strlen(schema), &options, &open));
  CHECK(allows(closed, "{\"a\":1,\"b\":2}", &ends) == 1 && ends == 1);
  CHECK(allows(open, "{\"a\":1,\"b\":2}", &ends) == 1 && ends == 1);
  for (i = 0; i < sizeof kOnlyOpen / sizeof kOnlyOpen[0]; ++i) {
    CHECK(allows(closed, kOnlyOpen[i], &ends) == 0);
    CHECK(allows(open, kOnlyOpen[i], &ends) == 1 && ends == 1);
  }
  rc_grammar_release(open);
  rc_grammar_release(closed);
  options.open = 2;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_grammar_create(tokenizer, RC_GRAMMAR_JSON_SCHEMA, schema,
                                 strlen(schema), &options, &open));
}

/* Follows a text token by token. */
static void check_matcher(const rc_tokenizer* tokenizer, size_t vocabulary) {
  static const char* const kChoices[] = {"yes", "yellow", "no"};
  rc_grammar* grammar = NULL;
  rc_grammar_matcher *matcher = NULL, *fork = NULL;
  uint32_t mask[64], after[64];
  int32_t *tokens = NULL, *forced = NULL;
  int32_t accepting = -1;
  size_t count = 0, forced_count = 0, accepted = 0, i, allowed = 0;
  REQUIRE_OK(rc_grammar_create_choices(tokenizer, kChoices, 3, &grammar));
  REQUIRE_OK(rc_grammar_matcher_create(grammar, &matcher));
  rc_grammar_release(grammar); /* a matcher keeps what it needs */
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_grammar_matcher_mask(matcher, mask, (vocabulary - 1) / 32));
  REQUIRE_OK(rc_grammar_matcher_mask(matcher, mask, 64));
  for (i = 0; i < 2048; ++i) allowed += mask[i / 32] >> (i % 32) & 1;
  CHECK(allowed >= 2);

  REQUIRE_OK(rc_tokenize(tokenizer, "yes", 3, 0, &tokens, &count));
  /* Where the tokenizer puts a space before a text, that is not allowed. */
  REQUIRE_OK(rc_grammar_matcher_accept(matcher, tokens, count, &accepted));
  CHECK(accepted == 0 || accepted == count);
  rc_free(tokens);
  REQUIRE_OK(rc_grammar_matcher_reset(matcher));

  REQUIRE_OK(rc_grammar_matcher_accept_text(matcher, "n", 1, &accepting));
  CHECK(accepting == 1);
  REQUIRE_OK(rc_grammar_matcher_fork(matcher, &fork));
  REQUIRE_OK(rc_grammar_matcher_forced(matcher, &forced, &forced_count));
  CHECK(forced_count == 1);
  REQUIRE_OK(
      rc_grammar_matcher_accept(matcher, forced, forced_count, &accepted));
  CHECK(accepted == forced_count);
  rc_free(forced);
  REQUIRE_OK(rc_grammar_matcher_is_accepting(matcher, &accepting));
  CHECK(accepting == 1);
  REQUIRE_OK(rc_grammar_matcher_is_accepting(fork, &accepting));
  CHECK(accepting == 0);
  REQUIRE_OK(rc_grammar_matcher_rollback(matcher, 1));
  REQUIRE_OK(rc_grammar_matcher_mask(matcher, mask, 64));
  REQUIRE_OK(rc_grammar_matcher_mask(fork, after, 64));
  CHECK(memcmp(mask, after, sizeof mask) == 0);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_grammar_matcher_rollback(matcher, 2));
  CHECK(rc_grammar_matcher_retain(matcher) == matcher);
  rc_grammar_matcher_release(matcher);
  rc_grammar_matcher_release(matcher);
  rc_grammar_matcher_release(fork);
  rc_grammar_matcher_release(NULL);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_grammar_matcher_reset(matcher));
}

static void check_generating(rc_model* model, const rc_tokenizer* tokenizer,
                             const rc_tokenizer* other) {
  rc_session* session = NULL;
  rc_grammar* grammar = compile(tokenizer, RC_GRAMMAR_REGEX, "[ab]{3}");
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  char* text = NULL;
  REQUIRE_OK(rc_session_create(model, NULL, &session));
  options.grammar = grammar;
  options.ignore_eos = 1;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_generate(session, &options, &text, NULL, NULL));
  CHECK(strstr(rc_error_message(), "ignore_eos") != NULL);
  options.ignore_eos = 0;
  CHECK(rc_grammar_retain(grammar) == grammar);
  rc_grammar_release(grammar);
  REQUIRE_OK(rc_generate(session, &options, &text, NULL, &report));
  CHECK(strlen(text) == 3 && strspn(text, "ab") == 3);
  CHECK(report.reason == RC_END_STOP);
  rc_free(text);
  rc_grammar_release(grammar);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_generate(session, &options, &text, NULL, NULL));
  CHECK(strstr(rc_error_message(), "options->grammar") != NULL);

  grammar = compile(other, RC_GRAMMAR_REGEX, "[ab]{3}");
  options.grammar = grammar;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_generate(session, &options, &text, NULL, NULL));
  CHECK(strstr(rc_error_message(), "fable") != NULL);
  rc_grammar_release(grammar);
  rc_session_release(session);
}

int main(void) {
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_tokenizer *tokenizer = NULL, *other = NULL;
  rc_tokenizer_report report = RC_TOKENIZER_REPORT_INIT;
  rc_grammar_options options;
  rc_grammar_options_init(&options, sizeof options);
  CHECK(options.max_spaces == 0 && options.max_depth == 128);
  REQUIRE_OK(rc_backend_open("reference", NULL, &backend));
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, NULL, &model));
  REQUIRE_OK(rc_model_get_tokenizer(model, &tokenizer));
  REQUIRE_OK(rc_tokenizer_open("builtin:fable", &other));
  REQUIRE_OK(rc_tokenizer_describe(tokenizer, &report));
  check_kinds(tokenizer);
  check_kinds(other);
  check_errors(tokenizer);
  check_open(tokenizer);
  check_spaces(tokenizer);
  check_matcher(tokenizer, (size_t)report.vocabulary);
  check_generating(model, tokenizer, other);
  rc_tokenizer_release(other);
  rc_tokenizer_release(tokenizer);
  rc_model_release(model);
  rc_backend_release(backend);
  return CHECK_RESULT();
}
