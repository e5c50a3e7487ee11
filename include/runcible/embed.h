/* Runcible: embeddings of texts, and how well documents answer a query.
 *
 *     const char* texts[] = {"a spoon", "a fork"};
 *     rc_embedding* embedding = NULL;
 *     const float* rows = NULL;
 *     size_t count = 0, columns = 0;
 *     if (rc_embed(model, texts, NULL, 2, NULL, &embedding) != RC_OK ||
 *         rc_embedding_rows(embedding, &rows, &count, &columns) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     rc_embedding_release(embedding);
 *
 * Any model can give embeddings: encoders do; models that generate text do when
 * they are loaded with output = RC_OUTPUT_HIDDEN_ROWS, or when their file says
 * how its rows are pooled. See rc_model_options.
 */
#ifndef RUNCIBLE_EMBED_H
#define RUNCIBLE_EMBED_H

#include "runcible/loop.h"
#include "runcible/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of numbers that are being made, or are made: an embedding for each text,
 * or a score for each document. */
typedef struct rc_embedding rc_embedding;

/* How the hidden rows of the tokens of a text become one row. */
typedef int32_t rc_pooling;
enum {
  RC_POOLING_AUTO = 0,  /* as the file says (pooling_type); where it does not,
                           the mean if rows see all of their text, else the
                           last */
  RC_POOLING_MEAN = 1,  /* their mean */
  RC_POOLING_FIRST = 2, /* that of the first token, such as [CLS] */
  RC_POOLING_LAST = 3   /* that of the last token */
};

/* How to make embeddings. Texts are copied. */
typedef struct rc_embed_options {
  size_t struct_size;
  rc_pooling pooling; /* how the rows of the tokens become one row */
  /* 1: each row is divided by its Euclidean length; a row of zeros stays as it
   * is. -1: as the folder of the model says, where it says nothing yes. */
  int32_t normalize;
  int64_t dimensions; /* of a row the first so many numbers are taken, before it
                         is normalised; 0: all. Kusupati et al. 2022,
                         arXiv:2205.13147 */
  int32_t truncate;   /* 1: of a text with too many tokens the first ones are
                         taken; 0: RC_E_CONTEXT_FULL */
  const char* prompt; /* put before each text; NULL: what prompt_name says */
  /* Which of the prompts in the folder of the model is put before each text,
   * such as "query" or "document"; NULL: the one that the folder chooses, if
   * any. */
  const char* prompt_name;
  int32_t priority;    /* as of rc_generate_options */
  int64_t deadline_ms; /* from now on; milliseconds, 0: none */
} rc_embed_options;

#define RC_EMBED_OPTIONS_INIT                                            \
  {                                                                      \
    RC_INITIAL(struct_size, sizeof(rc_embed_options)),                   \
        RC_INITIAL(pooling, RC_POOLING_AUTO), RC_INITIAL(normalize, -1), \
        RC_INITIAL(dimensions, 0), RC_INITIAL(truncate, 0),              \
        RC_INITIAL(prompt, NULL), RC_INITIAL(prompt_name, NULL),         \
        RC_INITIAL(priority, 0), RC_INITIAL(deadline_ms, 0)              \
  }
/* The same as a function; see base.h. */
RC_API void rc_embed_options_init(rc_embed_options* options, size_t size);

/* Makes embeddings of `count` texts; blocks. texts[i] has lengths[i] bytes of
 * UTF-8; lengths NULL: they are NUL-terminated. Texts are packed into the steps
 * of the model, many short ones in one, together with other requests; a row
 * does not depend on what it was packed with. *embedding is the caller's, see
 * rc_embedding_release. RC_E_INVALID_ARGUMENT: no text, one that comes to no
 * token, an option out of range, by name and value; RC_E_CONTEXT_FULL: a text
 * has more tokens than the model takes, by number; RC_E_NOT_FOUND: no such
 * prompt; RC_E_UNSUPPORTED: the model was loaded for text or scores, or has no
 * tokenizer; RC_E_QUOTA: too many requests of the backend handle;
 * RC_E_DEADLINE; RC_E_OUT_OF_MEMORY; what the device says. If one text fails,
 * all do. */
RC_API rc_status rc_embed(rc_model* model, const char* const* texts,
                          const size_t* lengths, size_t count,
                          const rc_embed_options* options,
                          rc_embedding** embedding);

/* The end of rc_embed_async or rc_rerank_async, on the loop's thread, exactly
 * once. `message` says why if the status is an error; both it and the embedding
 * are valid during the call, but the embedding may be retained. */
typedef void (*rc_embed_callback)(void* user, rc_status status,
                                  const char* message, rc_embedding* embedding);

/* As rc_embed, but returns at once: texts and options are copied, and the end
 * is reported to `callback` on the thread of `loop` (NULL: the library's own
 * loop thread). *embedding, the caller's, is what rc_embedding_cancel and
 * rc_embedding_wait take; `embedding` may be NULL if there is a callback, and
 * the callback if there is an embedding. Closing the loop cancels it.
 * RC_E_INVALID_ARGUMENT, RC_E_UNSUPPORTED, RC_E_NOT_FOUND, RC_E_QUOTA and
 * RC_E_CLOSED are returned at once if they do not come of a text; everything
 * else is the end. */
RC_API rc_status rc_embed_async(rc_model* model, const char* const* texts,
                                const size_t* lengths, size_t count,
                                const rc_embed_options* options, rc_loop* loop,
                                rc_embed_callback callback, void* user,
                                rc_embedding** embedding);

/* How to score documents. Texts are copied. */
typedef struct rc_rerank_options {
  size_t struct_size;
  int32_t raw_scores; /* 1: scores are what the model gives, a logit; 0: they
                         are the probabilities that it stands for, 0 to 1 */
  int32_t truncate;   /* 1: a document is cut where it does not fit with the
                         query; 0: RC_E_CONTEXT_FULL */
  /* Of models that generate text: what they are asked, with {query} and
   * {document} for these texts. NULL: tokenizer.chat_template.rerank of the
   * file, or what models such as Qwen3-Reranker were trained with. */
  const char* prompt;
  int32_t priority;    /* as of rc_generate_options */
  int64_t deadline_ms; /* from now on; milliseconds, 0: none */
} rc_rerank_options;

#define RC_RERANK_OPTIONS_INIT                              \
  {                                                         \
    RC_INITIAL(struct_size, sizeof(rc_rerank_options)),     \
        RC_INITIAL(raw_scores, 0), RC_INITIAL(truncate, 0), \
        RC_INITIAL(prompt, NULL), RC_INITIAL(priority, 0),  \
        RC_INITIAL(deadline_ms, 0)                          \
  }
/* The same as a function; see base.h. */
RC_API void rc_rerank_options_init(rc_rerank_options* options, size_t size);

/* Scores how well each of `count` documents answers the query; blocks. The rows
 * of *embedding have one number each, in the order of the documents. Encoders
 * with a classifier read both texts as a pair. Models that generate text are
 * asked, and the score is how much more likely they say "yes" than "no"; load
 * them with output = RC_OUTPUT_SCORES unless their file says so. Otherwise as
 * rc_embed. */
RC_API rc_status rc_rerank(rc_model* model, const char* query,
                           size_t query_length, const char* const* documents,
                           const size_t* lengths, size_t count,
                           const rc_rerank_options* options,
                           rc_embedding** embedding);
/* The same without blocking; see rc_embed_async. */
RC_API rc_status rc_rerank_async(rc_model* model, const char* query,
                                 size_t query_length,
                                 const char* const* documents,
                                 const size_t* lengths, size_t count,
                                 const rc_rerank_options* options,
                                 rc_loop* loop, rc_embed_callback callback,
                                 void* user, rc_embedding** embedding);

/* Ends it with RC_E_CANCELLED, unless it has ended. Any thread. */
RC_API rc_status rc_embedding_cancel(rc_embedding* embedding);
/* Waits until it has ended, at most so many milliseconds (-1: any time), and
 * returns how it ended. RC_E_TIMEOUT: it has not. */
RC_API rc_status rc_embedding_wait(rc_embedding* embedding, int64_t timeout_ms);
/* The numbers, [count, columns], row by row; they are the embedding's and valid
 * until its release. RC_E_BUSY: it has not ended; else how it ended. */
RC_API rc_status rc_embedding_rows(rc_embedding* embedding, const float** rows,
                                   size_t* count, size_t* columns);
/* References; see base.h. Releasing the last one of what has not ended does not
 * cancel it. */
RC_API rc_embedding* rc_embedding_retain(rc_embedding* embedding);
RC_API void rc_embedding_release(rc_embedding* embedding);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_EMBED_H */
