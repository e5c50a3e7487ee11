/* Runcible: generating text, blocking or on an event loop.
 *
 *     rc_backend* backend = NULL;
 *     rc_model* model = NULL;
 *     rc_session* session = NULL;
 *     rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
 *     char* text = NULL;
 *     options.prompt = "Once upon a time";
 *     options.prompt_length = 16;
 *     options.max_tokens = 64;
 *     if (rc_backend_open("auto", NULL, &backend) != RC_OK ||
 *         rc_model_load(backend, "builtin:fable", NULL, &model) != RC_OK ||
 *         rc_session_create(model, NULL, &session) != RC_OK ||
 *         rc_generate(session, &options, &text, NULL, NULL) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("%s\n", text);
 *     rc_free(text);
 *     rc_session_release(session);
 *     rc_model_release(model);
 *     rc_backend_release(backend);
 */
#ifndef RUNCIBLE_GENERATE_H
#define RUNCIBLE_GENERATE_H

#include "runcible/grammar.h"
#include "runcible/loop.h"
#include "runcible/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One generation in flight. */
typedef struct rc_request rc_request;

/* A seed taken from the operating system; the one taken is reported. */
#define RC_SEED_RANDOM UINT64_MAX

/* Options of a generation. Members that have a default and are not
 * set take what is configured (config.h), else that default. The chain of a
 * choice, in this order: grammar, logit bias, penalties, DRY, then greedy if
 * the temperature is 0, else top-n-sigma, top-k, typical, top-p, min-p, XTC,
 * temperature, and a draw by a PCG generator (see `seed`). The same seed,
 * options and logits give the same token on every platform. */
typedef struct rc_generate_options {
  size_t struct_size;

  /* Appended to the session first: tokens if token_count is not 0, else text.
   * With neither, generation goes on from the session as it is; an empty
   * session then starts with the model's BOS token. Where the model reads a
   * source (see session.h) the prompt is that source, so the session must be
   * empty, or there must be no prompt; else the request ends with
   * RC_E_INVALID_ARGUMENT. */
  const char* prompt;
  size_t prompt_length; /* bytes */
  const int32_t* prompt_tokens;
  size_t prompt_token_count;
  uint32_t tokenize_flags; /* RC_TOKENIZE_*, for `prompt`; ADD_SPECIAL acts only
                              at the start of a session */
  int32_t echo;            /* 1: the prompt is delivered as the first piece */

  int64_t max_tokens;  /* the most to generate; -1: until the context is full,
                          which ends a generation of more tokens as well.
                          Default: -1. */
  int64_t deadline_ms; /* from now on; then the generation ends with what it
                          has; milliseconds, 0: none. Default: 0. */
  int32_t priority;    /* greater ones are served first; 0 is normal. Within
                          a priority backend handles share what a step has
                          room for, and so do the requests of a handle.
                          Default: 0. */

  uint64_t seed;     /* of the draws; the same seed, options and logits give the
                        same tokens. Default: a random one. */
  float temperature; /* of the draws; 0: always the most probable token.
                        Default: 0.8. */
  int32_t top_k;     /* choose among so many of the most probable; 0: off.
                        Default: 40. */
  float top_p;       /* choose among the most probable that together have this
                        probability, (0, 1]; 1: off. Default: 0.95. */
  float min_p; /* choose among those at least so probable as this fraction of
                  the most probable, [0, 1]; 0: off. Default: 0.05. */
  float typical_p; /* choose among those of typical surprise that together have
                      this probability, (0, 1]; 1: off. Default: 1. Meister et
                      al., arXiv:2202.00666 */
  float top_n_sigma; /* leave out logits that are further below the largest than
                        so many standard deviations of all of them; 0: off.
                        Default: 0. Tang et al., arXiv:2411.07641 */
  int32_t penalty_tokens;   /* how many of the last tokens of the session the
                               penalties look at; 0: none, -1: all. Default:
                               64. */
  float repetition_penalty; /* logits of tokens seen are divided (if positive)
                               or multiplied (if negative) by it; 1: off.
                               Default: 1. Keskar et al., arXiv:1909.05858 */
  float presence_penalty;   /* subtracted once from the logits of tokens seen.
                               Default: 0. */
  float frequency_penalty;  /* subtracted from the logits of tokens seen, for
                               each time. Default: 0. */
  /* [logit_bias_count]: logit_bias[i] is added to the logit of the token
   * logit_bias_tokens[i]; -infinity forbids it. */
  const int32_t* logit_bias_tokens;
  const float* logit_bias;
  size_t logit_bias_count;

  const char* const* stop; /* strings, NUL-terminated, not empty; they end the
                              text and are not part of it */
  size_t stop_count;
  const int32_t* stop_tokens;
  size_t stop_token_count;
  int32_t ignore_eos; /* 1: the model's own end tokens do not stop it */

  int32_t logprobs; /* gives the logarithm of the probability of each token and
                       of so many of the most probable, at most 64, before bias
                       and penalties; -1: none */

  /* The grammar of the text; NULL: none. The request keeps what it needs, so
   * the caller may release the grammar at once. The grammar goes before all
   * else in the chain: tokens that it does not allow have no chance, whatever
   * their bias. End tokens are allowed where the text may end, and where
   * nothing else is possible the generation ends (RC_END_STOP) without one.
   * Tokens that the grammar forces are added without a step of the model for
   * each token, as the tokenizer would write it; with `logprobs` each of these
   * tokens has a step. Only what is generated counts, not the prompt, nor what
   * the session holds. Every other way to end (max_tokens, stop strings, ...)
   * may cut the text short. With ignore_eos it is RC_E_INVALID_ARGUMENT, and so
   * is a grammar for the vocabulary of another model, by name. A text that
   * takes more states or work than grammar.h allows, or with which no token
   * goes on, ends with RC_E_UNSUPPORTED; other requests go on. Work for
   * grammars holds up no other tenant: for one backend handle at most one
   * thread does it, and what takes more than some milliseconds goes on in the
   * background, where cancelling and the deadline act. */
  rc_grammar* grammar;

  /* Of answers of conversations (see chat.h); elsewhere both must be NULL.
   * How the answer uses tools, in the shape of "tool_choice" of OpenAI's chat
   * completions: "auto" or NULL: by the model's choice; "none": it calls none;
   * "required": it is a call of one of the tools, and nothing else, but for
   * what the model thinks before; an object that names a function, as JSON: a
   * call of that one. A call that is required is written in the model's own
   * format, and its arguments are valid by the schema of the tool. So are those
   * of tools that are strict ("strict": true), whenever they are called. Not
   * with `grammar`. */
  const char* tool_choice;
  /* The form of the answer, in the shape of "response_format" of the same, as
   * JSON: an object of the type "text" or NULL: anything; "json_object": a JSON
   * object; "json_schema": JSON by the schema json_schema.schema, as
   * rc_grammar_create keeps it. It calls no tools then. What the model thinks
   * comes before. Not with `grammar`. */
  const char* response_format;

  /* DRY: tokens that would go on with a repetition of the text lose
   * dry_multiplier * dry_base^(n - dry_allowed_length) of their logits, where n
   * is the number of tokens that are repeated. P. E. Weidmann,
   * https://github.com/oobabooga/text-generation-webui/pull/5677 */
  float dry_multiplier;       /* 0: off. Default: 0. */
  float dry_base;             /* at least 1. Default: 1.75. */
  int32_t dry_allowed_length; /* shorter repetitions are free; tokens, at least
                                 1. Default: 2. */
  int32_t dry_tokens;         /* how many of the last tokens of the session are
                                 looked at; -1: all. Default: -1. */
  /* Characters that no repetition goes across: a token that has one of them,
   * and a control token, ends it. Default: line breaks and :"* */
  const char* dry_breakers;

  /* XTC, exclude top choices: by this probability all tokens that are at least
   * as probable as xtc_threshold are left out, but for the least probable of
   * them; 0: off. Default: 0. P. E. Weidmann,
   * https://github.com/oobabooga/text-generation-webui/pull/6335 */
  float xtc_probability;
  float xtc_threshold; /* [0, 1]; above 0.5 nothing is ever left out. Default:
                          0.1. */

  /* Dynamic temperature: `temperature` less this where one token has all of the
   * probability, up to as much more where all tokens have the same; between
   * them it follows the entropy, as a part of the most that it can be, to the
   * power of dynamic_temperature_exponent; 0: off. Default: 0. kalomaze 2023,
   * as in https://github.com/ggml-org/llama.cpp/pull/4972 */
  float dynamic_temperature_range;
  float dynamic_temperature_exponent; /* greater than 0. Default: 1. */

  /* Mirostat, version 1 or 2: instead of top-n-sigma to XTC it chooses how many
   * tokens are left so that the surprise of the text stays near mirostat_tau;
   * 0: off. Default: 0. Basu et al., arXiv:2007.14966 */
  int32_t mirostat;
  float mirostat_tau; /* bits for each token, greater than 0. Default: 5. */
  float mirostat_eta; /* how fast it learns, [0, 1]. Default: 0.1. */
  int32_t mirostat_m; /* of version 1: by how many of the most probable tokens
                         it estimates the exponent of Zipf's law; at least 2.
                         Default: 100. */

  /* 1: options that are not set have their defaults, whatever is configured. 0:
   * they take what is configured. */
  int32_t ignore_configuration;
  int32_t reserved; /* 0 */
} rc_generate_options;

#define RC_GENERATE_OPTIONS_INIT                                              \
  {                                                                           \
    RC_INITIAL(struct_size, sizeof(rc_generate_options)),                     \
        RC_INITIAL(prompt, NULL), RC_INITIAL(prompt_length, 0),               \
        RC_INITIAL(prompt_tokens, NULL), RC_INITIAL(prompt_token_count, 0),   \
        RC_INITIAL(tokenize_flags, RC_TOKENIZE_ADD_SPECIAL),                  \
        RC_INITIAL(echo, 0), RC_INITIAL(max_tokens, RC_UNSET_INT64),          \
        RC_INITIAL(deadline_ms, RC_UNSET_INT64),                              \
        RC_INITIAL(priority, RC_UNSET_INT32),                                 \
        RC_INITIAL(seed, RC_UNSET_UINT64),                                    \
        RC_INITIAL(temperature, RC_UNSET_FLOAT),                              \
        RC_INITIAL(top_k, RC_UNSET_INT32), RC_INITIAL(top_p, RC_UNSET_FLOAT), \
        RC_INITIAL(min_p, RC_UNSET_FLOAT),                                    \
        RC_INITIAL(typical_p, RC_UNSET_FLOAT),                                \
        RC_INITIAL(top_n_sigma, RC_UNSET_FLOAT),                              \
        RC_INITIAL(penalty_tokens, RC_UNSET_INT32),                           \
        RC_INITIAL(repetition_penalty, RC_UNSET_FLOAT),                       \
        RC_INITIAL(presence_penalty, RC_UNSET_FLOAT),                         \
        RC_INITIAL(frequency_penalty, RC_UNSET_FLOAT),                        \
        RC_INITIAL(logit_bias_tokens, NULL), RC_INITIAL(logit_bias, NULL),    \
        RC_INITIAL(logit_bias_count, 0), RC_INITIAL(stop, NULL),              \
        RC_INITIAL(stop_count, 0), RC_INITIAL(stop_tokens, NULL),             \
        RC_INITIAL(stop_token_count, 0), RC_INITIAL(ignore_eos, 0),           \
        RC_INITIAL(logprobs, -1), RC_INITIAL(grammar, NULL),                  \
        RC_INITIAL(tool_choice, NULL), RC_INITIAL(response_format, NULL),     \
        RC_INITIAL(dry_multiplier, RC_UNSET_FLOAT),                           \
        RC_INITIAL(dry_base, RC_UNSET_FLOAT),                                 \
        RC_INITIAL(dry_allowed_length, RC_UNSET_INT32),                       \
        RC_INITIAL(dry_tokens, RC_UNSET_INT32),                               \
        RC_INITIAL(dry_breakers, NULL),                                       \
        RC_INITIAL(xtc_probability, RC_UNSET_FLOAT),                          \
        RC_INITIAL(xtc_threshold, RC_UNSET_FLOAT),                            \
        RC_INITIAL(dynamic_temperature_range, RC_UNSET_FLOAT),                \
        RC_INITIAL(dynamic_temperature_exponent, RC_UNSET_FLOAT),             \
        RC_INITIAL(mirostat, RC_UNSET_INT32),                                 \
        RC_INITIAL(mirostat_tau, RC_UNSET_FLOAT),                             \
        RC_INITIAL(mirostat_eta, RC_UNSET_FLOAT),                             \
        RC_INITIAL(mirostat_m, RC_UNSET_INT32),                               \
        RC_INITIAL(ignore_configuration, 0), RC_INITIAL(reserved, 0)          \
  }
/* The same as a function; see base.h. */
RC_API void rc_generate_options_init(rc_generate_options* options, size_t size);

/* Why a request ended. */
typedef int32_t rc_end_reason;
enum {
  RC_END_STOP = 0,        /* the model's end token or a stop token */
  RC_END_LENGTH = 1,      /* max_tokens were generated */
  RC_END_STOP_STRING = 2, /* one of the stop strings */
  RC_END_CANCELLED = 3,   /* by the caller */
  RC_END_DEADLINE = 4,    /* the deadline passed */
  RC_END_CONTEXT = 5,     /* the context is full: an end like that by length if
                             there was room for a token, else an error */
  RC_END_ERROR = 6,       /* see status and message */
  RC_END_TOOL_CALLS = 7   /* an answer of a conversation, with calls of tools,
                             stopped; see chat.h */
};
/* "stop", "length", ...; static storage. */
RC_API const char* rc_end_reason_name(rc_end_reason reason);

/* How a generation ended. */
typedef struct rc_generate_report {
  size_t struct_size;
  rc_end_reason reason; /* why */
  rc_status status; /* RC_OK for stop, length, stop string, and context once a
                       token was generated; else what the reason says,
                       RC_E_CANCELLED, ... */
  uint64_t seed;    /* that was used */
  int64_t prompt_tokens;    /* of the prompt */
  int64_t cached_tokens;    /* of these, taken from the prefix cache */
  int64_t generated_tokens; /* by sampling, or forced by a grammar */
  int64_t queue_us;         /* until the first step: tokenizing and waiting,
                               microseconds */
  int64_t prompt_us;        /* from then to the first token, microseconds */
  int64_t generate_us;      /* from then to the end, microseconds */
  int64_t forced_tokens;    /* of the generated ones, forced by a grammar */
} rc_generate_report;

#define RC_GENERATE_REPORT_INIT                                            \
  {                                                                        \
    RC_INITIAL(struct_size, sizeof(rc_generate_report)),                   \
        RC_INITIAL(reason, 0), RC_INITIAL(status, 0), RC_INITIAL(seed, 0), \
        RC_INITIAL(prompt_tokens, 0), RC_INITIAL(cached_tokens, 0),        \
        RC_INITIAL(generated_tokens, 0), RC_INITIAL(queue_us, 0),          \
        RC_INITIAL(prompt_us, 0), RC_INITIAL(generate_us, 0),              \
        RC_INITIAL(forced_tokens, 0)                                       \
  }
/* The same as a function; see base.h. */
RC_API void rc_generate_report_init(rc_generate_report* report, size_t size);

typedef int32_t rc_event_type;
enum {
  RC_EVENT_PIECE = 0,
  RC_EVENT_END = 1, /* exactly one per request, the last */
  /* Of answers of conversations; see chat.h. */
  RC_EVENT_REASONING = 2,      /* text of what the model thinks */
  RC_EVENT_CALL_BEGIN = 3,     /* a call of a tool: its name */
  RC_EVENT_CALL_ARGUMENTS = 4, /* text: a piece of its arguments, as JSON */
  RC_EVENT_CALL = 5,           /* text: the whole of them, a JSON object; and
                                  the call's id */
  RC_EVENT_MALFORMED_CALL = 6  /* text of what began like a call and is none;
                                  one that was begun is void */
};

/* An event of a request. Everything in it is the library's, valid during the
 * callback, or until the next rc_request_next or the release of the request.
 */
typedef struct rc_event {
  size_t struct_size;
  rc_event_type type;
  rc_request* request;

  /* RC_EVENT_PIECE: text that became certain, whole UTF-8 sequences, not
   * NUL-terminated, possibly empty; and the tokens generated since the last
   * piece. All texts one after the other are the whole text. */
  const char* text;
  size_t text_length;
  const int32_t* tokens;
  size_t token_count;
  /* With options.logprobs = n >= 0: the natural logarithm of the probability of
   * each token [token_count]; and of the n most probable ones in its place the
   * tokens and those logarithms, both [token_count, n], by falling probability.
   * Else NULL; where a vocabulary has fewer than n, tokens of -1 follow. */
  const float* logprobs;
  const int32_t* top_tokens;
  const float* top_logprobs;
  size_t top_count; /* n */

  /* RC_EVENT_END. */
  const char* message; /* NUL-terminated; "" unless status is an error */
  const rc_generate_report* report; /* NULL for a piece */
  /* Of calls of tools. */
  int64_t call;          /* counted from 0 within the answer; -1: none */
  const char* call_name; /* NUL-terminated, as the next; NULL: none */
  const char* call_id;   /* before RC_EVENT_CALL NULL unless the model wrote it
                            first */
} rc_event;

/* Runs on the thread of the request's loop. May call any function of the
 * library but rc_loop_dispatch; should not block. */
typedef void (*rc_event_callback)(void* user, const rc_event* event);

/* Example: the events of a request, without a loop.
 *
 *     rc_backend* backend = NULL;
 *     rc_model* model = NULL;
 *     rc_session* session = NULL;
 *     rc_request* request = NULL;
 *     rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
 *     rc_event event = RC_EVENT_INIT;
 *     options.prompt = "Once upon a time";
 *     options.prompt_length = 16;
 *     options.max_tokens = 32;
 *     if (rc_backend_open("cpu", NULL, &backend) != RC_OK ||
 *         rc_model_load(backend, "builtin:fable", NULL, &model) != RC_OK ||
 *         rc_session_create(model, NULL, &session) != RC_OK ||
 *         rc_generate_async(session, &options, NULL, NULL, NULL,
 *                           &request) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     while (event.type != RC_EVENT_END) {
 *       if (rc_request_next(request, -1, &event) != RC_OK) return 1;
 *       if (event.type == RC_EVENT_PIECE) {
 *         printf("%.*s", (int)event.text_length, event.text);
 *       }
 *     }
 *     printf("\n%d tokens, then %s\n", (int)event.report->generated_tokens,
 *            rc_end_reason_name(event.report->reason));
 *     if (event.report->status != RC_OK) return 1;
 *     rc_request_release(request);
 *     rc_session_release(session);
 *     rc_model_release(model);
 *     rc_backend_release(backend);
 */

/* Starts a generation; returns at once. Options are copied. Events go to
 * `callback` on the thread of `loop` (NULL: the library's own loop thread).
 * callback NULL: events wait for rc_request_next, `loop` must be NULL.
 * *request (request may be NULL if there is a callback) is the caller's
 * reference; see rc_request_release. Once RC_OK was returned exactly one end
 * event follows, always after this call has returned.
 * RC_E_INVALID_ARGUMENT: an option out of range, by name and value;
 * RC_E_UNSUPPORTED: text for a model without tokenizer; RC_E_CLOSED: the loop;
 * RC_E_QUOTA: too many requests of the backend handle; RC_E_OUT_OF_MEMORY.
 * Text is tokenized on a thread of the library's that does nothing else (on the
 * calling one only if the system gives no thread); cancelling and the deadline
 * act meanwhile. A prompt that is too long ends the request with
 * RC_E_CONTEXT_FULL, without being tokenized where its bytes alone say so. */
RC_API rc_status rc_generate_async(rc_session* session,
                                   const rc_generate_options* options,
                                   rc_loop* loop, rc_event_callback callback,
                                   void* user, rc_request** request);

/* Generates and blocks until the end. *text has *length bytes and a terminating
 * zero, free it with rc_free; `length` and `report` may be NULL. Returns
 * report.status; text generated before an error is given all the same. The
 * prompt is tokenized on the calling thread. Not to be called on a loop's
 * thread from a callback. */
RC_API rc_status rc_generate(rc_session* session,
                             const rc_generate_options* options, char** text,
                             size_t* length, rc_generate_report* report);

/* Asks a request to end; its end event says "cancelled" unless it had ended
 * before. Any thread, any number of times. */
RC_API rc_status rc_request_cancel(rc_request* request);

/* The next event of a request without callback; blocks up to timeout_ms (0: not
 * at all, negative: without limit). RC_E_TIMEOUT: none yet; RC_E_CLOSED: the
 * end event was given before. One thread at a time. */
RC_API rc_status rc_request_next(rc_request* request, int64_t timeout_ms,
                                 rc_event* event);

#define RC_EVENT_INIT                                                 \
  {                                                                   \
    RC_INITIAL(struct_size, sizeof(rc_event)), RC_INITIAL(type, 0),   \
        RC_INITIAL(request, NULL), RC_INITIAL(text, NULL),            \
        RC_INITIAL(text_length, 0), RC_INITIAL(tokens, NULL),         \
        RC_INITIAL(token_count, 0), RC_INITIAL(logprobs, NULL),       \
        RC_INITIAL(top_tokens, NULL), RC_INITIAL(top_logprobs, NULL), \
        RC_INITIAL(top_count, 0), RC_INITIAL(message, NULL),          \
        RC_INITIAL(report, NULL), RC_INITIAL(call, -1),               \
        RC_INITIAL(call_name, NULL), RC_INITIAL(call_id, NULL)        \
  }
/* The same as a function; see base.h. */
RC_API void rc_event_init(rc_event* event, size_t size);

/* Blocks until the request has ended (its events may still wait on its loop);
 * RC_E_TIMEOUT after timeout_ms (negative: no limit). Any thread. */
RC_API rc_status rc_request_wait(rc_request* request, int64_t timeout_ms);

/* References; see base.h. */
RC_API rc_request* rc_request_retain(rc_request* request);
/* A request with a callback goes on without references. One without callback
 * is cancelled when the last is released, because its events could not be
 * received. */
RC_API void rc_request_release(rc_request* request);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_GENERATE_H */
