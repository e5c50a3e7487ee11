/* Runcible: grammars, which say what a text may be: JSON that keeps to a
 * schema, what a regular expression matches, one of several choices, rules.
 *
 *     const char schema[] =
 *         "{\"type\": \"object\", \"required\": [\"name\", \"age\"],"
 *         " \"additionalProperties\": false, \"properties\": {"
 *         "   \"name\": {\"enum\": [\"Fox\", \"Crow\"]},"
 *         "   \"age\": {\"type\": \"integer\", \"minimum\": 0,"
 *         "            \"maximum\": 99}}}";
 *     rc_backend* backend = NULL;
 *     rc_model* model = NULL;
 *     rc_tokenizer* tokenizer = NULL;
 *     rc_grammar* grammar = NULL;
 *     rc_session* session = NULL;
 *     rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
 *     char* text = NULL;
 *     if (rc_backend_open("auto", NULL, &backend) != RC_OK ||
 *         rc_model_load(backend, "builtin:fable", NULL, &model) != RC_OK ||
 *         rc_model_get_tokenizer(model, &tokenizer) != RC_OK ||
 *         rc_grammar_create(tokenizer, RC_GRAMMAR_JSON_SCHEMA, schema,
 *                           sizeof schema - 1, NULL, &grammar) != RC_OK ||
 *         rc_session_create(model, NULL, &session) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     options.grammar = grammar;
 *     if (rc_generate(session, &options, &text, NULL, NULL) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("%s\n", text);
 *     rc_free(text);
 *     rc_session_release(session);
 *     rc_grammar_release(grammar);
 *     rc_tokenizer_release(tokenizer);
 *     rc_model_release(model);
 *     rc_backend_release(backend);
 *
 * A grammar is compiled once, for the vocabulary of a tokenizer, and used by
 * any number of requests: see rc_generate_options. Those who choose tokens
 * themselves follow a text with a matcher.
 *
 * The work for a grammar is limited. It is counted in steps, about one for each
 * state or node that is looked at, which depend neither on the machine nor on
 * what else runs:
 *
 *     compiling a grammar      20,000,000 steps
 *     a text under a grammar    2,000,000 steps, and 20,000 for each token
 *     states of a grammar         100,000 of its automata, of all its texts
 *     "multipleOf"                 20,000, as a whole number: 19.997 counts as
 *                                  19997, 5,000,000 without its zeros as 5
 *
 * States are built when a text first needs them, and then serve all texts.
 * Above a limit functions return RC_E_UNSUPPORTED. The failure is remembered
 * for the text so far: under this grammar, or one that is compiled from the
 * same source again, the same text fails at once. If it fails where it begins,
 * the source is not compiled again: rc_grammar_create returns the error.
 *
 * Every function that returns an rc_status may also return
 * RC_E_INVALID_ARGUMENT and RC_E_OUT_OF_MEMORY.
 */
#ifndef RUNCIBLE_GRAMMAR_H
#define RUNCIBLE_GRAMMAR_H

#include "runcible/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable; any number of threads and requests may use one at once. It works
 * with every model and tokenizer of the same vocabulary. */
typedef struct rc_grammar rc_grammar;

/* How a grammar is written. */
typedef int32_t rc_grammar_kind;
enum {
  /* A JSON Schema, of drafts 4 to 2020-12. Every text is valid: an assertion
   * that cannot be kept is RC_E_UNSUPPORTED, with its JSON pointer. `format` is
   * asserted where it is known. Texts are what programs expect, unless `open`
   * of rc_grammar_options asks for all that are valid:
   *
   *  - An object has no other properties than those that are named in
   *    `properties`, `required` or `patternProperties` of its schema and of
   *    those that apply to the same value, unless `additionalProperties` or
   *    `unevaluatedProperties` is there. Objects of which none are named may
   *    have any; so may those of which more are asked for than are named, or
   *    whose alternatives have more than 512 combinations.
   *  - Required properties come first, in the order of `properties`, then the
   *    others in any order.
   *  - Integers are written without a fraction or an exponent, and numbers with
   *    at most 15 digits, as far as the schema allows such. */
  RC_GRAMMAR_JSON_SCHEMA = 0,
  /* A regular expression as JavaScript has them, without backreferences and
   * without looking behind; all of the text matches it. A group that looks
   * ahead may be repeated up to 32 times, and any number of times if it ends
   * with one character, as in ((?!ab).)*, and the text ends after it. */
  RC_GRAMMAR_REGEX = 1,
  /* Rules in llama.cpp's GBNF; the text is a `root`. */
  RC_GRAMMAR_GBNF = 2,
  /* Rules and terminals in Lark's syntax; the text is a `start`. */
  RC_GRAMMAR_LARK = 3
};

/* How to compile a grammar; see rc_grammar_create. */
typedef struct rc_grammar_options {
  size_t struct_size;
  int32_t max_spaces; /* of JSON: the most white space in a row between values
                         and punctuation, bytes, at most 1024. 0: compact text,
                         of which the most is forced */
  int32_t max_depth;  /* of JSON: the most values within one another, 1 to
                         1024 */
  int32_t open;       /* of JSON: 1: every text that the schema allows, with
                         properties in any order and others than are named. A
                         model may go on with such properties, or with digits,
                         until its tokens are used up. 0: see
                         RC_GRAMMAR_JSON_SCHEMA */
} rc_grammar_options;

#define RC_GRAMMAR_OPTIONS_INIT                                \
  {                                                            \
    RC_INITIAL(struct_size, sizeof(rc_grammar_options)),       \
        RC_INITIAL(max_spaces, 0), RC_INITIAL(max_depth, 128), \
        RC_INITIAL(open, 0)                                    \
  }
/* The same as a function; see base.h. */
RC_API void rc_grammar_options_init(rc_grammar_options* options, size_t size);

/* Compiles a grammar for the vocabulary of a tokenizer. The first one for a
 * tokenizer takes longer, for the vocabulary is looked at then; so does the
 * first request whose model has got another tokenizer than the grammar, from
 * another file or another opening. *grammar is the caller's; see
 * rc_grammar_release. RC_E_INVALID_ARGUMENT: the text is
 * malformed, or nothing satisfies it; RC_E_UNSUPPORTED: it asks for what cannot
 * be kept exactly, takes more than the limits below or the steps above, or has
 * failed where a text begins; RC_E_DEVICE: the system
 * refuses a thread, which texts that nest deeply are read on. The message says
 * where: the JSON pointer of a schema, the place in an expression, line and
 * column of rules, or names the limit.
 *
 * Limits, which bound memory (to some hundred megabytes) and time:
 *
 *   values of a schema within one another        200
 *   formulas that a schema comes down to         200,000
 *   steps of combining them, and their rules     2,000,000
 *   references and operations within one another 300
 *   alternatives of objects, or of arrays        1,024
 *   bytes of an identifier ($id), resolved       2,048
 *   groups within one another                    100
 *   repetitions of one part                      1,000,000; of rules 2,000
 *   symbols of all rules, written out            100,000
 *   rules within one another in a text           1,000
 *   ways of a text to be within rules            1,000,000
 *   states of regular expressions                1,000,000, with 16,000,000
 *                                                alternatives, ranges and
 *                                                transitions in all
 *   operations within one another in these       400
 *   steps of combining these                     256,000,000
 *   states of a grammar                          100,000, with 6,400,000
 *                                                alternatives and moves in all
 *
 * Names, enums, properties and rules are only limited by these. A rule that is
 * regular and only adds an alternative to another one has all alternatives of
 * that: a chain of 6,000 such rules is beyond the limit, 6,000 in one list are
 * not. */
RC_API rc_status rc_grammar_create(const rc_tokenizer* tokenizer,
                                   rc_grammar_kind kind, const char* text,
                                   size_t length,
                                   const rc_grammar_options* options,
                                   rc_grammar** grammar);

/* The same of a list of texts, NUL-terminated, of which the text is one. */
RC_API rc_status rc_grammar_create_choices(const rc_tokenizer* tokenizer,
                                           const char* const* choices,
                                           size_t count, rc_grammar** grammar);

/* References; see base.h. Requests and matchers keep what they need. */
RC_API rc_grammar* rc_grammar_retain(rc_grammar* grammar);
RC_API void rc_grammar_release(rc_grammar* grammar);

/* ---- Matchers ------------------------------------------------------------ */

/* Follows one text as a grammar allows it. Calls on one are serialised. */
typedef struct rc_grammar_matcher rc_grammar_matcher;

/* Makes a matcher at the beginning of a text. *matcher is the caller's; see
 * rc_grammar_matcher_release. */
RC_API rc_status rc_grammar_matcher_create(rc_grammar* grammar,
                                           rc_grammar_matcher** matcher);
/* References; see base.h. */
RC_API rc_grammar_matcher* rc_grammar_matcher_retain(
    rc_grammar_matcher* matcher);
RC_API void rc_grammar_matcher_release(rc_grammar_matcher* matcher);

/* Writes which tokens may come next: token t is bit t % 32 of mask[t / 32].
 * `count` is the number of elements, of which as many as the vocabulary has
 * tokens, divided by 32 and rounded up, are needed; others become 0. End tokens
 * are among them where the text may end. RC_E_UNSUPPORTED: the text takes more
 * states or work than the limits above allow. */
RC_API rc_status rc_grammar_matcher_mask(rc_grammar_matcher* matcher,
                                         uint32_t* mask, size_t count);

/* Adds tokens to the text until one is not allowed; *accepted is how many were.
 * RC_E_UNSUPPORTED: as above; then nothing is added. */
RC_API rc_status rc_grammar_matcher_accept(rc_grammar_matcher* matcher,
                                           const int32_t* tokens, size_t count,
                                           size_t* accepted);

/* Adds bytes, which need not be whole tokens, if they are allowed; *accepted is
 * 1 then, else 0. They count as one token. RC_E_UNSUPPORTED: as above. */
RC_API rc_status rc_grammar_matcher_accept_text(rc_grammar_matcher* matcher,
                                                const char* text, size_t length,
                                                int32_t* accepted);

/* The tokens that have to come next, as the tokenizer would make them of the
 * text; none where there is a choice. *tokens [*count] is to be freed with
 * rc_free; it is NULL if *count is 0. They are not added to the text.
 * RC_E_UNSUPPORTED: as above. */
RC_API rc_status rc_grammar_matcher_forced(rc_grammar_matcher* matcher,
                                           int32_t** tokens, size_t* count);

/* *accepting becomes 1 if the text may end where it is, else 0. */
RC_API rc_status rc_grammar_matcher_is_accepting(rc_grammar_matcher* matcher,
                                                 int32_t* accepting);

/* Takes the last `count` tokens back. RC_E_INVALID_ARGUMENT: there are fewer.
 */
RC_API rc_status rc_grammar_matcher_rollback(rc_grammar_matcher* matcher,
                                             size_t count);

/* Goes back to the beginning of a text. */
RC_API rc_status rc_grammar_matcher_reset(rc_grammar_matcher* matcher);

/* Makes another matcher that goes on from here by itself. */
RC_API rc_status rc_grammar_matcher_fork(rc_grammar_matcher* matcher,
                                         rc_grammar_matcher** fork);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_GRAMMAR_H */
