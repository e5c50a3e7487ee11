/* Runcible: sessions, the state of one conversation.
 *
 *     rc_backend* backend = NULL;
 *     rc_model* model = NULL;
 *     rc_session* session = NULL;
 *     const float* logits = NULL;
 *     size_t rows = 0, vocabulary = 0, best = 0, i;
 *     if (rc_backend_open("cpu", NULL, &backend) != RC_OK ||
 *         rc_model_load(backend, "builtin:fable", NULL, &model) != RC_OK ||
 *         rc_session_create(model, NULL, &session) != RC_OK ||
 *         rc_session_append_text(session, "Once upon a", 11,
 *                                RC_TOKENIZE_ADD_SPECIAL) != RC_OK ||
 *         rc_session_decode(session, 0) != RC_OK ||
 *         rc_session_logits(session, &logits, &rows, &vocabulary) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     for (i = 1; i < vocabulary; ++i) {
 *       if (logits[i] > logits[best]) best = i;
 *     }
 *     printf("the next token is %d\n", (int)best);
 *     rc_session_release(session);
 *     rc_model_release(model);
 *     rc_backend_release(backend);
 *
 * A session is a list of tokens and their pages of KV cache; of a model that
 * takes embedding rows (see rc_model_options) it is one of tokens and rows.
 * Calls on one
 * session are serialised. While a request (see generate.h) is in flight on it,
 * further requests wait for their turn, and the functions below that change or
 * read its state answer RC_E_BUSY, so that no caller is ever blocked behind a
 * generation.
 *
 * A session of a model that reads a source before it generates (T5 and its
 * kin) has one source. The first tokens that the session is given, by an append
 * or as a prompt, are that source, whole: an encoder reads it at once when it
 * is first needed. Behind it the session has the token that generation begins
 * with, added by itself, and then what is generated or, by later appends, said
 * to be generated. Tokens are counted in this order, so that a source of 7
 * tokens makes a session of 8, and the context holds source and answer
 * together; the source must fit into one step of max_rows (see
 * rc_model_options). Logits, penalties and stop strings are of what comes
 * behind the source. For another source truncate the session to 0, or make a
 * new one; forks share a source that has been read. Nothing of it is found in,
 * or given to, the prefix cache.
 *
 * rc_session_create, rc_session_position and rc_generate_async never wait. The
 * others wait for the engine's step under way: some tens of milliseconds while
 * streams run, up to 0.4 seconds next to long prompts on a slow device. An
 * event loop is better served by requests.
 *
 * Every function may also return RC_E_INVALID_ARGUMENT and RC_E_OUT_OF_MEMORY.
 */
#ifndef RUNCIBLE_SESSION_H
#define RUNCIBLE_SESSION_H

#include "runcible/model.h"
#include "runcible/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rc_session rc_session;

/* Behaviour when the context is full. */
enum {
  /* RC_E_CONTEXT_FULL; a request ends with what it has so far. */
  RC_FULL_ERROR = 0,
  /* The oldest tokens after the first `keep_tokens` are dropped, half of the
   * rest at a time, and what stays is evaluated again: the session goes on
   * exactly as a new one with the tokens that are left. RC_E_UNSUPPORTED where
   * the model reads a source, which is not cut. */
  RC_FULL_SHIFT = 1
};

/* How a session begins; see rc_session_create. Members that are not set take
 * what is configured (config.h), as far as the model's context allows, else
 * their defaults. */
typedef struct rc_session_options {
  size_t struct_size;
  int64_t context_length; /* tokens; 0: the model's; at most the model's.
                             Default: 0. */
  int32_t when_full;   /* RC_FULL_ERROR or RC_FULL_SHIFT: what happens when the
                          context is full. Default: RC_FULL_ERROR. */
  int64_t keep_tokens; /* how many at the start a shift keeps. Default: 0. */
  /* 1: options that are not set have their defaults, whatever is configured. 0:
   * they take what is configured. */
  int32_t ignore_configuration;
  int32_t reserved; /* 0 */
} rc_session_options;

#define RC_SESSION_OPTIONS_INIT                                      \
  {                                                                  \
    RC_INITIAL(struct_size, sizeof(rc_session_options)),             \
        RC_INITIAL(context_length, RC_UNSET_INT64),                  \
        RC_INITIAL(when_full, RC_UNSET_INT32),                       \
        RC_INITIAL(keep_tokens, RC_UNSET_INT64),                     \
        RC_INITIAL(ignore_configuration, 0), RC_INITIAL(reserved, 0) \
  }
/* The same as a function; see base.h. */
RC_API void rc_session_options_init(rc_session_options* options, size_t size);

/* Makes an empty session; it keeps the model alive. */
RC_API rc_status rc_session_create(rc_model* model,
                                   const rc_session_options* options,
                                   rc_session** session);
/* References; see base.h. */
RC_API rc_session* rc_session_retain(rc_session* session);
/* Requests in flight on the session go on to their end. */
RC_API void rc_session_release(rc_session* session);

/* Adds tokens to the end, to be evaluated by the next decode or request.
 * RC_E_CONTEXT_FULL (the message gives the numbers): nothing was added, unless
 * the session shifts. RC_E_BUSY. */
RC_API rc_status rc_session_append(rc_session* session, const int32_t* tokens,
                                   size_t count);
/* The same with text; flags as for rc_tokenize. */
RC_API rc_status rc_session_append_text(rc_session* session, const char* text,
                                        size_t length, uint32_t flags);

/* Adds rows that take the place of tokens: those that an encoder makes of a
 * picture or a sound, or a learned prompt. `rows` is a tensor of F32, F16 or
 * BF16 [count, width] on any backend; width is the model's embedding length
 * (rc_model_report). Each row takes one position and replaces what the model's
 * table gives for a token, times the scale that the model may give it.
 * Attention, rotation and the KV cache treat it as a token's. The numbers are
 * copied, and equal rows are found in the prefix cache as equal tokens are.
 * RC_E_INVALID_ARGUMENT: another type or shape, a graph's tensor or an outline,
 * or a number that is not finite; RC_E_UNSUPPORTED: the model was loaded
 * without takes_embeddings; RC_E_CONTEXT_FULL: nothing was added, unless the
 * session shifts; RC_E_BUSY; statuses of the tensor's device. */
RC_API rc_status rc_session_append_embeddings(rc_session* session,
                                              rc_tensor* rows);

/* Flags of rc_session_decode. */
enum {
  /* Keep the logits of every token that this call evaluates, not only of the
   * last. Nothing is taken from the prefix cache then. */
  RC_DECODE_ALL_LOGITS = 1
};

/* Evaluates the tokens that have not been evaluated; blocks. If there are none
 * but the session has tokens, the last is evaluated again. For those who sample
 * by themselves: append, decode, logits, choose, append, ...
 * RC_E_INVALID_ARGUMENT: the session is empty; RC_E_BUSY; statuses of the
 * device. After a failure the tokens are still there and can be tried again. */
RC_API rc_status rc_session_decode(rc_session* session, uint32_t flags);

/* The end of rc_session_decode_async, on the loop's thread, exactly once. The
 * status is that of rc_session_decode, or RC_E_CANCELLED if the loop was closed
 * before; `message` says why it failed and is valid during the call. */
typedef void (*rc_session_decode_callback)(void* user, rc_status status,
                                           const char* message);

/* As rc_session_decode, but returns at once; `loop` NULL: the callback runs on
 * the library's own loop thread. Until the end it is a request in flight on the
 * session, which other functions of the session answer with RC_E_BUSY. A handle
 * of the session may be released before.
 * RC_E_INVALID_ARGUMENT: a session, flag or callback; RC_E_BUSY: a request is
 * in flight on the session; RC_E_CLOSED: the loop; RC_E_OUT_OF_MEMORY. The
 * callback is not called then. */
RC_API rc_status rc_session_decode_async(rc_session* session, uint32_t flags,
                                         rc_loop* loop,
                                         rc_session_decode_callback callback,
                                         void* user);

/* The logits of the last decode, F32 [*rows, *vocabulary]: one row, or one for
 * each token evaluated. *logits is the session's, valid until its next decode,
 * request or end. RC_E_NOT_FOUND: there was no decode since the last change. */
RC_API rc_status rc_session_logits(rc_session* session, const float** logits,
                                   size_t* rows, size_t* vocabulary);

/* The number of tokens, and of embedding rows. */
RC_API rc_status rc_session_position(rc_session* session, int64_t* position);

/* A copy of the tokens, to be freed with rc_free; NULL if *count is 0. Where
 * the session has an embedding row there is a -1. */
RC_API rc_status rc_session_tokens(rc_session* session, int32_t** tokens,
                                   size_t* count);

/* Forgets all tokens from `position` on. RC_E_INVALID_ARGUMENT: it is beyond
 * the end, or within a source or right behind it, but not 0. RC_E_BUSY. */
RC_API rc_status rc_session_truncate(rc_session* session, int64_t position);

/* A second session with the same tokens; the pages are shared until one of the
 * two writes. So several answers to one prompt take the memory and time of the
 * prompt once: evaluate it (a generation with max_tokens 0), and let a fork
 * answer for each. RC_E_BUSY. */
RC_API rc_status rc_session_fork(rc_session* session, rc_session** fork);

/* Saves tokens, embedding rows and KV cache, as a GGUF file that ends with a
 * checksum. An existing file is replaced only when the new one is complete.
 * RC_E_NOT_FOUND: the folder; RC_E_IO: not written (no room, no permission, the
 * limit on the size of files); RC_E_BUSY. */
RC_API rc_status rc_session_save(rc_session* session, const char* path);
/* The same to memory; *data is to be freed with rc_free. */
RC_API rc_status rc_session_save_memory(rc_session* session, void** data,
                                        size_t* size);

/* Makes a session from a saved one, on any backend, so long as the model is the
 * same and the cache has the same type. What is saved is checked as any file
 * from a stranger, and by its checksum. RC_E_NOT_FOUND, RC_E_IO; RC_E_FORMAT:
 * malformed, or changed since it was saved; RC_E_UNSUPPORTED: of another model
 * or cache type, or saved by an earlier version of the library;
 * RC_E_CONTEXT_FULL: longer than the context. */
RC_API rc_status rc_session_restore(rc_model* model, const char* path,
                                    const rc_session_options* options,
                                    rc_session** session);
/* The same from memory, which is only read and stays the caller's. */
RC_API rc_status rc_session_restore_memory(rc_model* model, const void* data,
                                           size_t size,
                                           const rc_session_options* options,
                                           rc_session** session);

/* The same conversation on the same model loaded elsewhere: saves to memory and
 * restores there. The first session stays as it is. */
RC_API rc_status rc_session_migrate(rc_session* session, rc_model* model,
                                    rc_session** migrated);

/* Moves a session to the same model loaded elsewhere, on any backend, with its
 * requests in flight, and returns when it is there. Requests go on as if
 * nothing had happened: no token is lost or doubled, and where both devices are
 * of the same kind the text is the same, bit by bit.
 *
 * The evaluated part is copied while requests go on; then the session changes
 * between two steps. It pauses for the step that each of the two models has
 * under way. The part that cannot be copied, because the cache has another type
 * or the device is lost, is evaluated again.
 *
 * The session keeps `model` loaded in place of the model that it had, and goes
 * with it when rc_backend_switch moves the handle of `model`. It stays on the
 * account of the handle with which it was made: the tenant of that one pays for
 * it, and its limits apply, except that `devices` is not asked. Any thread.
 * Meanwhile other sessions go on, a fork of this one fails with RC_E_BUSY, and
 * another move of it waits.
 *
 * RC_E_INVALID_ARGUMENT: `session` or `model`; RC_E_UNSUPPORTED: another model,
 * or one that was loaded with another `output`; RC_E_CONTEXT_FULL: there are
 * more tokens than it can have there; RC_E_OUT_OF_MEMORY. The session stays
 * where it is then. */
RC_API rc_status rc_session_move(rc_session* session, rc_model* model);

/* The end of rc_session_move_async, on the loop's thread, exactly once. The
 * status is that of rc_session_move, or RC_E_CANCELLED if the loop was closed
 * before; `message` says why it failed and is valid during the call. */
typedef void (*rc_session_move_callback)(void* user, rc_status status,
                                         const char* message);

/* As rc_session_move, but returns at once; `loop` NULL: the callback runs on
 * the library's own loop thread. Handles of the session and of the model may be
 * released before the end. RC_E_INVALID_ARGUMENT: `session`, `model` or
 * `callback`; RC_E_CLOSED: the loop; RC_E_OUT_OF_MEMORY. The callback is not
 * called then. */
RC_API rc_status rc_session_move_async(rc_session* session, rc_model* model,
                                       rc_loop* loop,
                                       rc_session_move_callback callback,
                                       void* user);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_SESSION_H */
