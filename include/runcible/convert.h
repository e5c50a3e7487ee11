/* Runcible: making model files: from folders, and with quantized weights.
 *
 *     rc_quantize_options options = RC_QUANTIZE_OPTIONS_INIT;
 *     options.type = "Q4_K_M";
 *     if (rc_model_quantize("folder", "model.gguf", &options) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *     }
 *
 * A file appears when it is complete, in place of one that is there. Its bytes
 * are the same on every machine and for any number of threads. Models may be
 * larger than memory.
 */
#ifndef RUNCIBLE_CONVERT_H
#define RUNCIBLE_CONVERT_H

#include "runcible/base.h"
#include "runcible/loop.h"
#include "runcible/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The names of the types that weights can be written in, in upper or lower
 * case where they are given: number `i` of them, from 0 on; NULL behind the
 * last. Static. Most are a type for all matrices, such as "Q8_0"; with others,
 * such as "Q4_K_M", those matrices get more bits that need them. */
RC_API const char* rc_conversion_type(size_t i);

/* Writes the model at path `from`, a folder or a file, to a GGUF file at path
 * `to`; blocks. `type` is what matrices of plain floats become, one of
 * rc_conversion_type; NULL: what they are. Those whose rows are no multiple of
 * the type's blocks get another type of about as many bits, or stay as they
 * are. Norms, biases, routers of experts, state spaces, and weights that are
 * quantized already stay as they are. `progress` may be NULL.
 * RC_E_NOT_FOUND, RC_E_IO: either path; RC_E_FORMAT: what is read is malformed;
 * RC_E_UNSUPPORTED: a folder whose model or part is not known, or a number that
 * the type does not hold; RC_E_CANCELLED: by the progress callback;
 * RC_E_INVALID_ARGUMENT; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_model_convert(const char* from, const char* to,
                                  const char* type,
                                  rc_progress_callback progress, void* user);

/* The end of rc_model_convert_async and rc_model_quantize_async, on the loop's
 * thread, exactly once. On failure `message` says why; it is valid during the
 * call. */
typedef void (*rc_convert_callback)(void* user, rc_status status,
                                    const char* message);

/* Converts in a thread of the library; `loop` NULL: the callback runs on the
 * library's own loop thread. The progress callback runs on the converting
 * thread, with `progress_user`. Closing the loop cancels it.
 * RC_E_INVALID_ARGUMENT and RC_E_CLOSED are returned at once, everything else
 * goes to the callback. */
RC_API rc_status rc_model_convert_async(const char* from, const char* to,
                                        const char* type,
                                        rc_progress_callback progress,
                                        void* progress_user, rc_loop* loop,
                                        rc_convert_callback callback,
                                        void* user);

/* How to quantize; see rc_model_quantize. Texts are copied. */
typedef struct rc_quantize_options {
  size_t struct_size;
  const char* type; /* one of rc_conversion_type; must be given */
  /* A file that says how much each column of the matrices matters, as the
   * program imatrix of llama.cpp writes it, in both of its forms. NULL: all
   * matter the same. RC_E_INVALID_ARGUMENT if a matrix of a layer without one
   * would become IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S or IQ3_XXS: it would be
   * of no use. */
  const char* importance;
  /* "REGEX=TYPE": matrices in whose name the regular expression, of Perl's
   * kind, is found get that type of a tensor ("Q6_K", not a mix) instead; of
   * several the first that fits. Each must fit at least one tensor. */
  const char* const* tensors;
  size_t tensor_count; /* at most 256 */
  int32_t threads;     /* at most 1024; 0: as many as there are processors */
  rc_progress_callback progress; /* may be NULL */
  void* progress_user;
} rc_quantize_options;

#define RC_QUANTIZE_OPTIONS_INIT                                \
  {                                                             \
    RC_INITIAL(struct_size, sizeof(rc_quantize_options)),       \
        RC_INITIAL(type, NULL), RC_INITIAL(importance, NULL),   \
        RC_INITIAL(tensors, NULL), RC_INITIAL(tensor_count, 0), \
        RC_INITIAL(threads, 0), RC_INITIAL(progress, NULL),     \
        RC_INITIAL(progress_user, NULL)                         \
  }
/* The same as a function; see base.h. */
RC_API void rc_quantize_options_init(rc_quantize_options* options, size_t size);

/* As rc_model_convert with more options. Weights that are quantized already are
 * quantized again if they become smaller by that: the errors add up. What the
 * importance was is noted in the metadata, under quantize.imatrix. Statuses of
 * rc_model_convert; RC_E_FORMAT also for an importance that is malformed or of
 * another model. */
RC_API rc_status rc_model_quantize(const char* from, const char* to,
                                   const rc_quantize_options* options);

/* Quantizes in a thread of the library, as rc_model_convert_async converts. */
RC_API rc_status rc_model_quantize_async(const char* from, const char* to,
                                         const rc_quantize_options* options,
                                         rc_loop* loop,
                                         rc_convert_callback callback,
                                         void* user);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_CONVERT_H */
