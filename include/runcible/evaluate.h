/* Runcible: how good a model is, and which of its weights matter.
 *
 *     rc_evaluate_options options = RC_EVALUATE_OPTIONS_INIT;
 *     rc_evaluate_report report = RC_EVALUATE_REPORT_INIT;
 *     options.text_path = "novel.txt";
 *     options.against = unquantized;
 *     if (rc_model_evaluate(model, &options, &report) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("perplexity %.3f +- %.3f, KL divergence %.5f\n",
 *            report.perplexity, report.perplexity_error, report.divergence);
 *
 * An evaluation runs in the same steps as requests of generations, so that it
 * measures the model as its users see it. Where the device promises repeatable
 * results, the numbers do not depend on other work.
 */
#ifndef RUNCIBLE_EVALUATE_H
#define RUNCIBLE_EVALUATE_H

#include "runcible/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Windows -----------------------------------------------------------
 *
 * A text is tokenized as a whole, special tokens in it being plain text, and
 * cut into windows of `context` tokens, each of which is a separate sequence.
 * Where the model begins texts with a token, that stands before the text, and
 * takes the place of the first token of each later window. The rest behind the
 * last whole window is left out. This is how llama.cpp's tools cut. */

/* ---- Evaluating --------------------------------------------------------- */

/* Material to evaluate a model on: a text, questions, or both; see
 * rc_model_evaluate. Texts are copied. */
typedef struct rc_evaluate_options {
  size_t struct_size;
  const char* text; /* bytes; need not be UTF-8 */
  size_t text_length;
  const char* text_path; /* the file of the text, in place of `text` */
  /* Questions as JSON Lines: on each line an object with "question" or
   * "context", "choices", which are 2 to 64 texts, and "answer", the number of
   * the right one from 0 on. */
  const char* choices;
  size_t choices_length;
  const char* choices_path; /* the file of the questions, in place of it */
  rc_model*
      against;     /* a model to compare with on the text, such as the one
                      that was quantized; NULL: none. Of the same vocabulary */
  int64_t context; /* tokens of a window, from 4 on; 0: 512, or the model's
                      if that is less */
  /* Tokens from the begin of one window to the next, up to the context. 0, or
   * the context: of each window the tokens from number context / 2 + 1 on
   * (counted from 0) are scored, as llama-perplexity does. Less: the last
   * `stride` of each window, so that each token behind the first window is
   * scored once, with at least context - stride before it. */
  int64_t stride;
  int64_t windows;               /* at most so many; 0: all that the text has */
  rc_progress_callback progress; /* may be NULL; the fraction of the work */
  void* progress_user;
} rc_evaluate_options;

#define RC_EVALUATE_OPTIONS_INIT                                       \
  {                                                                    \
    RC_INITIAL(struct_size, sizeof(rc_evaluate_options)),              \
        RC_INITIAL(text, NULL), RC_INITIAL(text_length, 0),            \
        RC_INITIAL(text_path, NULL), RC_INITIAL(choices, NULL),        \
        RC_INITIAL(choices_length, 0), RC_INITIAL(choices_path, NULL), \
        RC_INITIAL(against, NULL), RC_INITIAL(context, 0),             \
        RC_INITIAL(stride, 0), RC_INITIAL(windows, 0),                 \
        RC_INITIAL(progress, NULL), RC_INITIAL(progress_user, NULL)    \
  }
/* The same as a function; see base.h. */
RC_API void rc_evaluate_options_init(rc_evaluate_options* options, size_t size);

/* Results of an evaluation. An "_error" is one standard error: of a mean, the
 * standard deviation of what it is of over the square root of its number, and
 * of what is computed from a mean, that times the derivative. It says how much
 * of a difference may come from the choice of the text. Probabilities are
 * computed in double, p = exp(x - max) / sum(exp(x - max)) of the logits x. */
typedef struct rc_evaluate_report {
  size_t struct_size;
  uint64_t model_bytes;   /* of all tensors in the file */
  uint64_t against_bytes; /* the same of the other model */
  double bits_per_weight; /* 8 * model_bytes / parameters */

  /* Of the text; 0 without one. */
  int64_t windows;
  int64_t context;
  int64_t tokens;    /* that were scored */
  uint64_t bytes;    /* of the text of these */
  double perplexity; /* exp(mean of -log p(token)) */
  double perplexity_error;
  double bits_per_byte; /* sum of -log2 p(token), over the bytes: comparable
                           between vocabularies, as perplexity is not */
  double bits_per_byte_error;
  /* Of all tokens that the model evaluated, or had in its prefix cache; without
   * the time that looking at logits took, and without that of the other
   * model. */
  double tokens_per_second;

  /* Comparison with the other model on the text; 0 without it. P is its
   * distribution for a token, Q the one of the model. */
  double against_perplexity;
  double against_perplexity_error;
  double perplexity_ratio; /* the model's over the other's, from the mean of the
                              differences, whose error is far less than those
                              of both */
  double perplexity_ratio_error;
  double divergence; /* mean of KL(P || Q) = sum of P log(P / Q), in nats */
  double divergence_error;
  double divergence_99;  /* what 99% of the tokens do not exceed */
  double divergence_max; /* the largest of all tokens */
  double agreement; /* share of tokens where both have the same most probable
                       one, 0 to 1 */
  double agreement_error;
  double probability_difference; /* root of the mean square of Q - P of the
                                    token that comes, 0 to 1 */
  double probability_difference_error;

  /* Of the questions; 0 without them. */
  int64_t questions;
  double accuracy; /* share of those whose right choice is the most likely */
  double accuracy_error;
  double accuracy_by_length; /* the same by log-likelihood per byte of the
                                choice, which does not prefer short ones */
  double accuracy_by_length_error;
} rc_evaluate_report;

#define RC_EVALUATE_REPORT_INIT                                                \
  {                                                                            \
    RC_INITIAL(struct_size, sizeof(rc_evaluate_report)),                       \
        RC_INITIAL(model_bytes, 0), RC_INITIAL(against_bytes, 0),              \
        RC_INITIAL(bits_per_weight, 0), RC_INITIAL(windows, 0),                \
        RC_INITIAL(context, 0), RC_INITIAL(tokens, 0), RC_INITIAL(bytes, 0),   \
        RC_INITIAL(perplexity, 0), RC_INITIAL(perplexity_error, 0),            \
        RC_INITIAL(bits_per_byte, 0), RC_INITIAL(bits_per_byte_error, 0),      \
        RC_INITIAL(tokens_per_second, 0), RC_INITIAL(against_perplexity, 0),   \
        RC_INITIAL(against_perplexity_error, 0),                               \
        RC_INITIAL(perplexity_ratio, 0),                                       \
        RC_INITIAL(perplexity_ratio_error, 0), RC_INITIAL(divergence, 0),      \
        RC_INITIAL(divergence_error, 0), RC_INITIAL(divergence_99, 0),         \
        RC_INITIAL(divergence_max, 0), RC_INITIAL(agreement, 0),               \
        RC_INITIAL(agreement_error, 0), RC_INITIAL(probability_difference, 0), \
        RC_INITIAL(probability_difference_error, 0), RC_INITIAL(questions, 0), \
        RC_INITIAL(accuracy, 0), RC_INITIAL(accuracy_error, 0),                \
        RC_INITIAL(accuracy_by_length, 0),                                     \
        RC_INITIAL(accuracy_by_length_error, 0)                                \
  }
/* The same as a function; see base.h. */
RC_API void rc_evaluate_report_init(rc_evaluate_report* report, size_t size);

/* Evaluates a model; blocks. A choice follows its question, with a space
 * between unless one of them has white space there; its likelihood is that of
 * the tokens which the question alone has not. RC_E_INVALID_ARGUMENT: neither a
 * text nor questions, a text with less than one window, or models whose
 * vocabularies differ; RC_E_FORMAT: questions, with their line;
 * RC_E_CONTEXT_FULL: a question longer than the model's context;
 * RC_E_UNSUPPORTED: a model without logits or tokenizer; RC_E_NOT_FOUND and
 * RC_E_IO: the files; RC_E_CANCELLED: by the progress callback; statuses of the
 * device; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_model_evaluate(rc_model* model,
                                   const rc_evaluate_options* options,
                                   rc_evaluate_report* report);

/* The end of rc_model_evaluate_async, on the loop's thread, exactly once. On
 * failure `report` is NULL and `message` says why. Both are valid during the
 * call. */
typedef void (*rc_evaluate_callback)(void* user, rc_status status,
                                     const char* message,
                                     const rc_evaluate_report* report);

/* Evaluates in a thread of the library; `loop` NULL: the callback runs on the
 * library's own loop thread. The progress callback runs on the evaluating
 * thread. Closing the loop cancels it. The models stay loaded until the end.
 * RC_E_INVALID_ARGUMENT and RC_E_CLOSED are returned at once, everything else
 * goes to the callback. */
RC_API rc_status rc_model_evaluate_async(rc_model* model,
                                         const rc_evaluate_options* options,
                                         rc_loop* loop,
                                         rc_evaluate_callback callback,
                                         void* user);

/* ---- Importance --------------------------------------------------------- */

/* Material to measure importance on; see rc_model_importance. Texts are copied.
 */
typedef struct rc_importance_options {
  size_t struct_size;
  const char* text; /* bytes; need not be UTF-8 */
  size_t text_length;
  const char* text_path; /* the file of the text, in place of `text` */
  const char* dataset;   /* the name of the text in the file that is written;
                            NULL: the text_path, or "text" */
  int64_t context; /* tokens of a window, from 4 on; 0: 512, or the model's if
                      that is less */
  int64_t windows; /* at most so many; 0: all that the text has */
  rc_progress_callback progress; /* may be NULL; the fraction of the work */
  void* progress_user;
} rc_importance_options;

#define RC_IMPORTANCE_OPTIONS_INIT                                  \
  {                                                                 \
    RC_INITIAL(struct_size, sizeof(rc_importance_options)),         \
        RC_INITIAL(text, NULL), RC_INITIAL(text_length, 0),         \
        RC_INITIAL(text_path, NULL), RC_INITIAL(dataset, NULL),     \
        RC_INITIAL(context, 0), RC_INITIAL(windows, 0),             \
        RC_INITIAL(progress, NULL), RC_INITIAL(progress_user, NULL) \
  }
/* The same as a function; see base.h. */
RC_API void rc_importance_options_init(rc_importance_options* options,
                                       size_t size);

/* Results of a measurement. */
typedef struct rc_importance_report {
  size_t struct_size;
  int64_t windows;
  int64_t context;
  int64_t tokens;  /* of all windows, all of which are evaluated */
  int64_t tensors; /* whose inputs were measured */
  double tokens_per_second;
} rc_importance_report;

#define RC_IMPORTANCE_REPORT_INIT                                              \
  {                                                                            \
    RC_INITIAL(struct_size, sizeof(rc_importance_report)),                     \
        RC_INITIAL(windows, 0), RC_INITIAL(context, 0), RC_INITIAL(tokens, 0), \
        RC_INITIAL(tensors, 0), RC_INITIAL(tokens_per_second, 0)               \
  }
/* The same as a function; see base.h. */
RC_API void rc_importance_report_init(rc_importance_report* report,
                                      size_t size);

/* Measures how much each column of the weights of products is used by a text,
 * and writes that to a file `to`, for quantizing; blocks. The file is GGUF of
 * the type "imatrix", as llama.cpp reads and writes it: for each tensor NAME
 * the sums of the squared inputs, NAME.in_sum2, F32 [columns] or [experts,
 * columns], and NAME.counts, F32 [1] or [experts, 1], of how many rows they
 * are. Experts have the rows that chose them. A file of that name is replaced
 * when the new one is complete. `report` may be NULL.
 *
 * A second program is compiled for the model's devices, which shares its
 * weights. RC_E_DEVICE_MEMORY if there is no room for it;
 * RC_E_INVALID_ARGUMENT: no text, or less than one window; RC_E_UNSUPPORTED: a
 * model without tokenizer; RC_E_NOT_FOUND and RC_E_IO: the files;
 * RC_E_CANCELLED: by the progress callback; statuses of the device;
 * RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_model_importance(rc_model* model, const char* to,
                                     const rc_importance_options* options,
                                     rc_importance_report* report);

/* The end of rc_model_importance_async; as rc_evaluate_callback. */
typedef void (*rc_importance_callback)(void* user, rc_status status,
                                       const char* message,
                                       const rc_importance_report* report);

/* Measures in a thread of the library; as rc_model_evaluate_async. */
RC_API rc_status rc_model_importance_async(rc_model* model, const char* to,
                                           const rc_importance_options* options,
                                           rc_loop* loop,
                                           rc_importance_callback callback,
                                           void* user);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_EVALUATE_H */
