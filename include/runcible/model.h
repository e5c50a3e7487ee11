/* Runcible: models and their tokenizers.
 *
 *     rc_backend* backend = NULL;
 *     rc_model* model = NULL;
 *     rc_model_report report = RC_MODEL_REPORT_INIT;
 *     if (rc_backend_open("cpu", NULL, &backend) != RC_OK ||
 *         rc_model_load(backend, "builtin:fable", NULL, &model) != RC_OK ||
 *         rc_model_describe(model, &report) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("%s, %s, up to %d tokens\n", report.name, report.architecture,
 *            (int)report.context_length);
 *     rc_model_release(model);
 *     rc_backend_release(backend);
 */
#ifndef RUNCIBLE_MODEL_H
#define RUNCIBLE_MODEL_H

#include "runcible/backend.h"
#include "runcible/loop.h"
#include "runcible/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Paths of model files ----------------------------------------------
 *
 * UTF-8, NUL-terminated. "builtin:NAME" is a model that comes with Runcible,
 * such as "builtin:fable". Its file NAME.gguf is the first that is there of
 * those in
 *   - the folder that the environment variable RUNCIBLE_DATA, or the setting
 *     library.data (config.h), names;
 *   - the folder of libruncible.so, or of a program that holds the static
 *     library;
 *   - share/runcible of the prefix that library or program is installed in,
 *     also after the prefix was moved, or of the folder it was built in;
 *   - share/runcible of the prefix it was configured for.
 * RC_E_NOT_FOUND if there is none; the message says where it was looked for.
 * RC_E_INVALID_ARGUMENT for a NAME that is not 1 to 64 letters, digits, '-',
 * '_' and '.', or begins with '.'.
 *
 * "hf:OWNER/NAME[:FILE][@REVISION]" is a model that has been fetched before;
 * see fetch.h. RC_E_NOT_FOUND if it has not: nothing is fetched by itself.
 *
 * A file that is really called "builtin:x" or "hf:x" is "./builtin:x" or
 * "./hf:x".
 *
 * A model in several GGUF files, NAME-00001-of-00003.gguf and so on, is named
 * by any of them.
 *
 * A path may also be that of a folder as Hugging Face transformers writes them,
 * with config.json and model.safetensors, or model.safetensors.index.json and
 * the files that it names, of plain floats, or quantized as FP8, GPTQ, AWQ or
 * compressed-tensors, which is read as F32; tokenizer.json, or else the
 * tokenizer.model of SentencePiece, tokenizer_config.json, added_tokens.json,
 * generation_config.json and chat_template.jinja are read if they are there.
 * It looks like a GGUF file: its metadata is made of
 * config.json and its neighbours, and its tensors have the names, the order of
 * rows and the numbers that they have in such files. Links may lead out of it
 * only as in the hub's own cache, from snapshots/REVISION to blobs. What asks
 * for something that is not computed, or is not known, is RC_E_UNSUPPORTED by
 * its name. */

/* ---- Model files in memory --------------------------------------------- */

/* A GGUF file in the caller's memory: downloaded, unpacked, or a part of the
 * program. It is checked as a file is, and must be whole: a model in several
 * files is none. */
typedef struct rc_model_memory {
  size_t struct_size;
  const void* data; /* at any address */
  uint64_t size;    /* bytes */
  const char* name; /* UTF-8, for messages and reports; NULL or "": "memory" */
  /* NULL: a function that keeps the file copies it. Else nothing is copied: the
   * bytes stay as they are until this is called, exactly once, with `user`, by
   * any thread: when nothing uses them any more, or before the function that
   * was given them returns, if that fails or keeps nothing. It must not call
   * the library. */
  void (*release)(void* user);
  void* user;
} rc_model_memory;

#define RC_MODEL_MEMORY_INIT                                                  \
  {                                                                           \
    RC_INITIAL(struct_size, sizeof(rc_model_memory)), RC_INITIAL(data, NULL), \
        RC_INITIAL(size, 0), RC_INITIAL(name, NULL),                          \
        RC_INITIAL(release, NULL), RC_INITIAL(user, NULL)                     \
  }
/* The same as a function; see base.h. */
RC_API void rc_model_memory_init(rc_model_memory* memory, size_t size);

/* ---- Looking at a file ------------------------------------------------- */

/* A model file opened for looking: metadata and tensor list, which are copied;
 * what becomes of the file later changes nothing. No weights are loaded. */
typedef struct rc_model_info rc_model_info;

/* Opens and checks the structure of a GGUF file (version 2 or 3) or a folder;
 * see above. Keys and names that hold a zero byte are refused. RC_E_NOT_FOUND,
 * RC_E_IO, RC_E_FORMAT (the message names what is wrong where),
 * RC_E_UNSUPPORTED for a folder whose model or part is not known,
 * RC_E_INVALID_ARGUMENT, RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_model_info_open(const char* path, rc_model_info** info);
/* The same of a file in memory, which is not kept. */
RC_API rc_status rc_model_info_open_memory(const rc_model_memory* memory,
                                           rc_model_info** info);
/* References; see base.h. */
RC_API rc_model_info* rc_model_info_retain(rc_model_info* info);
RC_API void rc_model_info_release(rc_model_info* info);

/* The number of entries of metadata; 0 if `info` is not a valid handle. */
RC_API size_t rc_model_info_metadata_count(const rc_model_info* info);
/* The key and type name ("u32", "string", "array of f32") of the i-th entry,
 * NUL-terminated, owned by the info. RC_E_INVALID_ARGUMENT: no such entry. */
RC_API rc_status rc_model_info_metadata(const rc_model_info* info, size_t i,
                                        const char** key, const char** type);
/* The value of an entry as JSON text; arrays are cut after `max_elements` (0:
 * whole). Invalid UTF-8 in strings becomes U+FFFD.
 * *json is to be freed with rc_free. RC_E_NOT_FOUND: no such key. */
RC_API rc_status rc_model_info_value(const rc_model_info* info, const char* key,
                                     size_t max_elements, char** json);

/* One tensor of a file. */
typedef struct rc_tensor_report {
  size_t struct_size;
  const char* name;       /* NUL-terminated, owned by the info */
  const char* dtype_name; /* "Q4_K"; static */
  rc_dtype dtype;
  int32_t rank;
  int64_t shape[4]; /* slowest dimension first */
  uint64_t bytes;
  uint64_t offset; /* of the data from the start of the file, or of the file
                      that a folder looks like; bytes */
} rc_tensor_report;

#define RC_TENSOR_REPORT_INIT                                                  \
  {                                                                            \
    RC_INITIAL(struct_size, sizeof(rc_tensor_report)), RC_INITIAL(name, NULL), \
        RC_INITIAL(dtype_name, NULL), RC_INITIAL(dtype, 0),                    \
        RC_INITIAL(rank, 0), RC_INITIAL(shape, {0, 0, 0, 0}),                  \
        RC_INITIAL(bytes, 0), RC_INITIAL(offset, 0)                            \
  }
/* The same as a function; see base.h. */
RC_API void rc_tensor_report_init(rc_tensor_report* report, size_t size);

/* The number of tensors; 0 if `info` is not a valid handle. */
RC_API size_t rc_model_info_tensor_count(const rc_model_info* info);
/* The i-th tensor, in the order of the file. RC_E_INVALID_ARGUMENT: no such
 * tensor. */
RC_API rc_status rc_model_info_tensor(const rc_model_info* info, size_t i,
                                      rc_tensor_report* report);

/* Reads a file to its last byte and checks everything, also what loading would
 * check and that no weight is infinite or not a number; loads nothing. A file
 * that holds only a vocabulary passes if that is sound. RC_OK if it
 * is sound; statuses of rc_model_info_open, and RC_E_UNSUPPORTED for a sound
 * file that this build cannot run. */
RC_API rc_status rc_model_verify(const char* path);
/* The same of a file in memory, which is not kept. */
RC_API rc_status rc_model_verify_memory(const rc_model_memory* memory);

/* ---- Tokenizers -------------------------------------------------------- */

/* Immutable; any number of threads may use one at once. */
typedef struct rc_tokenizer rc_tokenizer;

/* Makes the tokenizer that a file describes, without loading the model.
 * RC_E_UNSUPPORTED: a tokenizer or pre-tokenizer that is not known, by name, or
 * a file without vocabulary; statuses of rc_model_info_open. */
RC_API rc_status rc_tokenizer_open(const char* path, rc_tokenizer** tokenizer);
/* The same of a file in memory, which is not kept. */
RC_API rc_status rc_tokenizer_open_memory(const rc_model_memory* memory,
                                          rc_tokenizer** tokenizer);
/* References; see base.h. */
RC_API rc_tokenizer* rc_tokenizer_retain(rc_tokenizer* tokenizer);
RC_API void rc_tokenizer_release(rc_tokenizer* tokenizer);

/* Flags of rc_tokenize. */
enum {
  /* Add what the model wants around a text (BOS, EOS, [CLS], ...). */
  RC_TOKENIZE_ADD_SPECIAL = 1,
  /* Recognise the text of special tokens ("<|im_end|>") as those tokens. Do not
   * use it on text from people you do not trust. */
  RC_TOKENIZE_PARSE_SPECIAL = 2
};

/* Text to tokens. The text need not be valid UTF-8. *tokens [*count] is to be
 * freed with rc_free; it is NULL if *count is 0. */
RC_API rc_status rc_tokenize(const rc_tokenizer* tokenizer, const char* text,
                             size_t length, uint32_t flags, int32_t** tokens,
                             size_t* count);

/* The end of rc_tokenize_async, on the loop's thread, exactly once. On success
 * `tokens` [count] are as in rc_tokenize and valid during the call; on failure
 * there are none and `message`, valid as long, says why. */
typedef void (*rc_tokenize_callback)(void* user, rc_status status,
                                     const char* message, const int32_t* tokens,
                                     size_t count);

/* As rc_tokenize, but returns at once: the text is copied, and a thread of the
 * library tokenizes it. `loop` NULL: the callback runs on the library's own
 * loop thread. Closing the loop ends it with RC_E_CANCELLED.
 * RC_E_INVALID_ARGUMENT: a tokenizer, text, flag or callback; RC_E_CLOSED: the
 * loop; RC_E_OUT_OF_MEMORY. The callback is not called then. */
RC_API rc_status rc_tokenize_async(const rc_tokenizer* tokenizer,
                                   const char* text, size_t length,
                                   uint32_t flags, rc_loop* loop,
                                   rc_tokenize_callback callback, void* user);

/* Tokens to text. Special tokens are left out unless `special` is non-zero.
 * The text is UTF-8 wherever the tokens are; bytes that are not stay as they
 * are. *text has *length bytes and a terminating zero; free it with rc_free.
 * RC_E_INVALID_ARGUMENT: a token outside the vocabulary. */
RC_API rc_status rc_detokenize(const rc_tokenizer* tokenizer,
                               const int32_t* tokens, size_t count,
                               int32_t special, char** text, size_t* length);

/* Description of a tokenizer; see rc_tokenizer_describe. */
typedef struct rc_tokenizer_report {
  size_t struct_size;
  const char* kind; /* "llama", "gpt2", "bert", "t5"; owned by the tokenizer */
  int32_t vocabulary; /* the number of tokens */
  int32_t bos;        /* -1: the model has none */
  int32_t eos;        /* -1: the model has none */
  int32_t unknown;    /* -1: the model has none */
} rc_tokenizer_report;

#define RC_TOKENIZER_REPORT_INIT                                          \
  {                                                                       \
    RC_INITIAL(struct_size, sizeof(rc_tokenizer_report)),                 \
        RC_INITIAL(kind, NULL), RC_INITIAL(vocabulary, 0),                \
        RC_INITIAL(bos, -1), RC_INITIAL(eos, -1), RC_INITIAL(unknown, -1) \
  }
/* The same as a function; see base.h. */
RC_API void rc_tokenizer_report_init(rc_tokenizer_report* report, size_t size);
/* RC_E_INVALID_ARGUMENT: `tokenizer` or `report`. */
RC_API rc_status rc_tokenizer_describe(const rc_tokenizer* tokenizer,
                                       rc_tokenizer_report* report);

/* ---- Models on a device ------------------------------------------------ */

/* Weights and tokenizer on a device. Handles that load the same file on the
 * same device share one copy of the weights, and all of it if the options are
 * the same too. */
typedef struct rc_model rc_model;

/* The output of a model. */
typedef int32_t rc_output;
enum {
  RC_OUTPUT_AUTO = 0,        /* what the file is made for: scores or hidden rows
                                if its pooling_type says so, else logits if the
                                architecture has them */
  RC_OUTPUT_LOGITS = 1,      /* for sessions and generating text */
  RC_OUTPUT_HIDDEN_ROWS = 2, /* for rc_embed */
  RC_OUTPUT_SCORES = 3       /* for rc_rerank */
};

/* How to load a model; see rc_model_load. Members that are not set take what is
 * configured (config.h), else their defaults. A configured mapping is left out
 * where `quantize` is set, and a configured `quantize` where a mapping is. */
typedef struct rc_model_options {
  size_t struct_size;
  /* The longest session, in tokens; a warning is logged if it is more than the
   * model was trained for. 0: what the model was trained for, or as
   * much of it as fits into memory (then a warning is logged). If less than
   * 4096 would fit, layers go to the next device of the chain, if there is one,
   * and the context is 4096 at most. Default: 0. */
  int64_t context_length;
  /* Tokens that the KV cache holds for all sessions together. 0: the context
   * length, or as many as fit into 256 MiB if that is more, up to 64 contexts.
   * Layers that see only a window of the last tokens hold the windows of 16
   * requests instead, where that is less. Default: 0. */
  int64_t cache_tokens;
  /* RC_DTYPE_F16, RC_DTYPE_F32 or RC_DTYPE_Q8_0. Default: RC_DTYPE_F16. */
  rc_dtype cache_dtype;
  /* The most rows (tokens) of one step; 0: 512. More makes prompts faster and
   * steps longer. Default: 0. */
  int32_t max_rows;
  /* 0: sessions do not share what they have in common with earlier ones.
   * Default: 1. */
  int32_t prefix_cache;
  rc_progress_callback progress; /* may be NULL */
  void* progress_user;
  /* 1: the weights are not copied; steps compute from the mapped file. Loading
   * is done at once, the memory is the system's cache of the file, which
   * processes share and which the system may take back and read again, and
   * limits and plans do not count it. Results are the same to the bit, steps
   * slower. The file must not be changed while the model is open; replace it
   * (write another one and rename it) instead. A step on a file whose length
   * has changed ends with RC_E_IO, but where a file is cut short, or its disk
   * fails, in the middle of a step, the system ends the process (SIGBUS) unless
   * guard_mapped is 1. RC_E_UNSUPPORTED: a device that weights are to lie on
   * needs copies, or the model is a folder, whose weights are rearranged while
   * they are read. Default: 0. */
  int32_t keep_mapped;
  /* 1, with keep_mapped or experts_mapped: a part of the mapped file that
   * cannot be read does not end the process. The step under way ends with
   * RC_E_IO, and so does every later one of the model; load it again. For this
   * the library installs a handler of SIGBUS at the first such load, for the
   * rest of the process, that minds its own mappings only and passes every
   * other SIGBUS to the handler that was there before. A handler that is
   * installed later must pass on to it likewise. RC_E_INVALID_ARGUMENT: without
   * either. Default: 0. */
  int32_t guard_mapped;
  /* The output that is wanted. RC_E_UNSUPPORTED: its architecture, or its file,
   * has no such output. Default: RC_OUTPUT_AUTO. */
  rc_output output;
  /* 1: the weights of experts stay in the mapped file, as all do with
   * keep_mapped; the others are copied. RC_E_UNSUPPORTED: as with keep_mapped,
   * or the model has no experts. Default: 0. */
  int32_t experts_mapped;
  /* With experts_mapped: how many experts of each layer are kept in memory
   * besides, those that were used last, on devices that can; limits and plans
   * count them. Results are the same to the bit. 0: twice as many as a token
   * has. Default: 0. */
  int32_t resident_experts;
  /* 1: sessions also take embedding rows in place of tokens; see
   * rc_session_append_embeddings. Each step then reads a row of F32 for each
   * token too. RC_E_UNSUPPORTED: a model that gives no logits, reads a source,
   * or makes more of a token than its row. Default: 0; it is not configured. */
  int32_t takes_embeddings;
  /* The type that weights are quantized to while they are loaded, or a mix, one
   * of rc_conversion_type (convert.h), in upper or lower case; "": they are
   * loaded as the file has them, which is the default. The model is, bit for
   * bit, that of the file that rc_model_quantize makes with this type and
   * nothing else, but no file is written: each weight is read and quantized by
   * itself, by as many threads as the device has. Weights that are quantized in
   * the file already, with more bits, lose a little more than they would have
   * from the original. RC_E_INVALID_ARGUMENT: no such type, with keep_mapped or
   * experts_mapped, or a type that wants an importance (see
   * rc_quantize_options); RC_E_UNSUPPORTED: a weight that the type cannot hold.
   */
  const char* quantize;
  /* 1: options that are not set have their defaults, whatever is configured. 0:
   * they take what is configured. */
  int32_t ignore_configuration;
  int32_t reserved2; /* 0 */
  /* Where the experts of a mixture lie and are computed: "cpu", or another
   * device of the backend's chain, as "opencl:0" or "opencl"; everything else
   * of a layer, its shared expert too, is where it would be. So a GPU whose
   * memory has no room for the experts does the rest, which each token needs.
   * Layers then take as much of its memory as they do without experts, when
   * they are spread. RC_E_INVALID_ARGUMENT: not such a device;
   * RC_E_UNSUPPORTED: the model has no experts. NULL or "", the default: where
   * their layers are. It is not configured. */
  const char* experts_on;
  /* With experts_on: of how many layers, the last ones that have experts; 0: of
   * all. RC_E_INVALID_ARGUMENT: without it. Default: 0; it is not configured.
   */
  int32_t experts_on_layers;
  /* 1: what is neither set nor configured is chosen so that the model fits into
   * the memory of the chain's devices. In this order, the first that is enough:
   * the context, which is what was asked for, or at least 4096 of what the
   * model was trained for; layers on the devices of the chain other than its
   * CPU; layers on that CPU, or experts of a mixture, or both, whichever leaves
   * it the least to read for a token. None of these makes a result less exact.
   * Only if they are not enough, the KV cache gets elements of Q8_0, which do,
   * slightly. What is chosen is logged and in the plan. RC_E_DEVICE_MEMORY:
   * none of these ways is enough. Default: 0. */
  int32_t fit;
} rc_model_options;

#define RC_MODEL_OPTIONS_INIT                                                 \
  {                                                                           \
    RC_INITIAL(struct_size, sizeof(rc_model_options)),                        \
        RC_INITIAL(context_length, RC_UNSET_INT64),                           \
        RC_INITIAL(cache_tokens, RC_UNSET_INT64),                             \
        RC_INITIAL(cache_dtype, RC_UNSET_INT32),                              \
        RC_INITIAL(max_rows, RC_UNSET_INT32),                                 \
        RC_INITIAL(prefix_cache, RC_UNSET_INT32), RC_INITIAL(progress, NULL), \
        RC_INITIAL(progress_user, NULL),                                      \
        RC_INITIAL(keep_mapped, RC_UNSET_INT32),                              \
        RC_INITIAL(guard_mapped, RC_UNSET_INT32),                             \
        RC_INITIAL(output, RC_UNSET_INT32),                                   \
        RC_INITIAL(experts_mapped, RC_UNSET_INT32),                           \
        RC_INITIAL(resident_experts, RC_UNSET_INT32),                         \
        RC_INITIAL(takes_embeddings, 0), RC_INITIAL(quantize, NULL),          \
        RC_INITIAL(ignore_configuration, 0), RC_INITIAL(reserved2, 0),        \
        RC_INITIAL(experts_on, NULL), RC_INITIAL(experts_on_layers, 0),       \
        RC_INITIAL(fit, RC_UNSET_INT32)                                       \
  }
/* The same as a function; see base.h. */
RC_API void rc_model_options_init(rc_model_options* options, size_t size);

/* The device memory that loading a model takes; see rc_model_plan. It does
 * not change. */
typedef struct rc_plan rc_plan;

/* Computes what loading would take, loading nothing. *plan is the caller's; see
 * rc_plan_release. Statuses of rc_model_load but those about memory. */
RC_API rc_status rc_model_plan(const char* path,
                               const rc_model_options* options,
                               rc_backend* backend, rc_plan** plan);
/* The same of a file in memory, which is not kept. */
RC_API rc_status rc_model_plan_memory(const rc_model_memory* memory,
                                      const rc_model_options* options,
                                      rc_backend* backend, rc_plan** plan);
/* The same of a model of which there is no file: exactly what rc_model_plan
 * gives for a file with these hyper-parameters and tensors. `hyper_parameters`
 * is a JSON object, NUL-terminated, of the metadata that such a file has, with
 * "architecture" for "general.architecture", and with or without the name of
 * the architecture before the others; "vocab_size" is the number of tokens:
 *
 *     {"architecture": "llama", "vocab_size": 128256, "context_length": 8192,
 *      "block_count": 32, "embedding_length": 4096,
 *      "feed_forward_length": 14336, "attention.head_count": 32,
 *      "attention.head_count_kv": 8, "rope.freq_base": 500000,
 *      "attention.layer_norm_rms_epsilon": 1e-5,
 *      "tensors": ["output.weight"]}
 *
 * "tensors" names those that models of the architecture may have or not, such
 * as a separate output matrix or biases, with * for the number of each layer
 * ("blk.*.attn_q.bias"): an array of names, or an object with the shape of
 * each, slowest dimension first, or null where the architecture says it. `type`
 * is that of the weights, one of rc_conversion_type; NULL or "": F16. Of the
 * options `quantize` is what they become while they are loaded.
 * RC_E_INVALID_ARGUMENT: it is no such object or type; RC_E_FORMAT: a
 * hyper-parameter is missing or out of range; RC_E_UNSUPPORTED: an architecture
 * that is not known, or tensors that it does not use; statuses of
 * rc_model_plan. */
RC_API rc_status rc_model_estimate(const char* hyper_parameters,
                                   const char* type,
                                   const rc_model_options* options,
                                   rc_backend* backend, rc_plan** plan);
/* References; see base.h. */
RC_API rc_plan* rc_plan_retain(rc_plan* plan);
RC_API void rc_plan_release(rc_plan* plan);

/* The memory of all devices that a model takes; exact, in bytes.
 * Models of one file share their weights on a device, whatever else they differ
 * in: those that are there already take nothing. */
typedef struct rc_plan_report {
  size_t struct_size;
  uint64_t weights;   /* bytes, as all sizes here; over all devices */
  uint64_t cache;     /* KV cache, and states of fixed size; over all devices */
  uint64_t scratch;   /* activations, over all devices */
  uint64_t total;     /* of weights, cache and scratch */
  uint64_t transfers; /* host memory through which values pass from one device
                         to another; not in the total */
  uint64_t available; /* free on the opened device, or the handle's limit if
                         that is less; 0: unknown */
  int64_t context_length;  /* that the plan is for, tokens */
  int64_t cache_tokens;    /* that the KV cache would hold */
  int64_t largest_context; /* that would fit; 0: not even the weights do */
  int32_t device_count;    /* on which it would lie; see rc_plan_device */
  int32_t fits;            /* 1: every device has enough, or that is unknown */
  int32_t offer_count;     /* what would fit instead; see rc_plan_offer */
  int32_t reserved;        /* 0 */
  const char* cache_dtype_name; /* type of the KV cache: "F16"; static */
} rc_plan_report;

#define RC_PLAN_REPORT_INIT                                                  \
  {                                                                          \
    RC_INITIAL(struct_size, sizeof(rc_plan_report)), RC_INITIAL(weights, 0), \
        RC_INITIAL(cache, 0), RC_INITIAL(scratch, 0), RC_INITIAL(total, 0),  \
        RC_INITIAL(transfers, 0), RC_INITIAL(available, 0),                  \
        RC_INITIAL(context_length, 0), RC_INITIAL(cache_tokens, 0),          \
        RC_INITIAL(largest_context, 0), RC_INITIAL(device_count, 0),         \
        RC_INITIAL(fits, 0), RC_INITIAL(offer_count, 0),                     \
        RC_INITIAL(reserved, 0), RC_INITIAL(cache_dtype_name, NULL)          \
  }
/* The same as a function; see base.h. */
RC_API void rc_plan_report_init(rc_plan_report* report, size_t size);
/* RC_E_INVALID_ARGUMENT: `plan` or `report`. */
RC_API rc_status rc_plan_describe(rc_plan* plan, rc_plan_report* report);

/* The memory of one device that a model takes; exact, in bytes. */
typedef struct rc_plan_device_report {
  size_t struct_size;
  const char* device;  /* "vulkan:0"; owned by the plan */
  uint64_t weights;    /* that no other model of the same file has there */
  uint64_t cache;      /* KV cache, and states of fixed size */
  uint64_t scratch;    /* activations */
  uint64_t total;      /* of weights, cache and scratch */
  uint64_t available;  /* as in rc_plan_report, of this device */
  int32_t first_layer; /* counted from 0 */
  int32_t layers;      /* that lie here; 0: only other parts of the model, or
                          ops that another device does not support */
  int32_t embedding;   /* 1: the embedding table lies here */
  int32_t output;      /* 1: the output matrix lies here */
  /* Bytes of the weights that lie in whole huge pages if the system has enough
   * of them free; 0 where huge_pages is RC_HUGE_PAGES_NEVER or
   * RC_HUGE_PAGES_UNKNOWN. Weights that stay in the mapped file lie in none. */
  uint64_t huge_page_weights;
  rc_huge_pages huge_pages; /* of the device */
  rc_numa numa;    /* how weights and threads lie there; never RC_NUMA_AUTO */
  int32_t experts; /* 1: experts of layers lie here, as experts_on says */
  int32_t expert_layers; /* of how many layers */
} rc_plan_device_report;

#define RC_PLAN_DEVICE_REPORT_INIT                                          \
  {                                                                         \
    RC_INITIAL(struct_size, sizeof(rc_plan_device_report)),                 \
        RC_INITIAL(device, NULL), RC_INITIAL(weights, 0),                   \
        RC_INITIAL(cache, 0), RC_INITIAL(scratch, 0), RC_INITIAL(total, 0), \
        RC_INITIAL(available, 0), RC_INITIAL(first_layer, 0),               \
        RC_INITIAL(layers, 0), RC_INITIAL(embedding, 0),                    \
        RC_INITIAL(output, 0), RC_INITIAL(huge_page_weights, 0),            \
        RC_INITIAL(huge_pages, RC_HUGE_PAGES_UNKNOWN),                      \
        RC_INITIAL(numa, RC_NUMA_OFF), RC_INITIAL(experts, 0),              \
        RC_INITIAL(expert_layers, 0)                                        \
  }
/* The same as a function; see base.h. */
RC_API void rc_plan_device_report_init(rc_plan_device_report* report,
                                       size_t size);
/* The i-th device of the plan. The first is the opened one, even if nothing
 * fits there. RC_E_INVALID_ARGUMENT: no such device. */
RC_API rc_status rc_plan_device(rc_plan* plan, size_t i,
                                rc_plan_device_report* report);

/* One change with which a model that does not fit would fit; bytes. */
typedef struct rc_plan_offer_report {
  size_t struct_size;
  /* The option to change, as in rc_model_options: "context_length", and
   * cache_tokens with it, "cache_dtype", "experts_on", "experts_mapped",
   * "keep_mapped"; "backend": layers go to other devices too; "quantize": the
   * weights are quantized while they are loaded, or to another file. The plan
   * owns this text and the next two.
   */
  const char* option;
  /* Its new value: "4096", "Q8_0", "cpu", "1", "vulkan:0,cpu:0", "Q4_K_M". */
  const char* value;
  const char* summary;    /* the offer in words, with its figures */
  uint64_t total;         /* that it would take then, over all devices */
  uint64_t mapped;        /* that would stay in the mapped file */
  int64_t context_length; /* of a session then, tokens */
} rc_plan_offer_report;

#define RC_PLAN_OFFER_REPORT_INIT                            \
  {                                                          \
    RC_INITIAL(struct_size, sizeof(rc_plan_offer_report)),   \
        RC_INITIAL(option, NULL), RC_INITIAL(value, NULL),   \
        RC_INITIAL(summary, NULL), RC_INITIAL(total, 0),     \
        RC_INITIAL(mapped, 0), RC_INITIAL(context_length, 0) \
  }
/* The same as a function; see base.h. */
RC_API void rc_plan_offer_report_init(rc_plan_offer_report* report,
                                      size_t size);
/* The i-th of what would fit where the plan does not; the least loss comes
 * first. There are none where it fits. RC_E_INVALID_ARGUMENT: no such offer. */
RC_API rc_status rc_plan_offer(rc_plan* plan, size_t i,
                               rc_plan_offer_report* report);

/* Loads a model; blocks. *model is the caller's; see rc_model_release.
 * RC_E_NOT_FOUND, RC_E_IO: the file, also if it is cut short or written
 * to it meanwhile; RC_E_FORMAT: it is malformed, a tensor is missing or
 * misshapen; RC_E_UNSUPPORTED: an architecture, tensor type or tokenizer that
 * is not known, or a tensor or metadata key, by name, that the model needs and
 * this build would leave out; RC_E_DEVICE_MEMORY: it does not fit (the message
 * says what would); RC_E_CANCELLED: by the progress callback;
 * RC_E_INVALID_ARGUMENT; RC_E_OUT_OF_MEMORY; statuses of the device. */
RC_API rc_status rc_model_load(rc_backend* backend, const char* path,
                               const rc_model_options* options,
                               rc_model** model);

/* The end of rc_model_load_async, on the loop's thread, exactly once. On
 * success `model` is the receiver's to release. On failure it is NULL and
 * `message` (valid during the call) says why. */
typedef void (*rc_model_callback)(void* user, rc_status status,
                                  const char* message, rc_model* model);

/* Loads in a thread of the library; `loop` NULL: the callback runs on the
 * library's own loop thread. The progress callback runs on the loading thread.
 * RC_E_INVALID_ARGUMENT of what the caller has set, and RC_E_CLOSED, are
 * returned at once, everything else goes to the callback. */
RC_API rc_status rc_model_load_async(rc_backend* backend, const char* path,
                                     const rc_model_options* options,
                                     rc_loop* loop, rc_model_callback callback,
                                     void* user);

/* As rc_model_load, of a file in memory, which is kept as long as the model
 * (see rc_model_memory.release). Its weights are copied to the device, unless
 * keep_mapped or experts_mapped is 1, which let a CPU compute from the caller's
 * bytes; guard_mapped means nothing then. Two such models share nothing. */
RC_API rc_status rc_model_load_memory(rc_backend* backend,
                                      const rc_model_memory* memory,
                                      const rc_model_options* options,
                                      rc_model** model);
/* The same as rc_model_load_async does it; bytes that are to be copied are
 * before it returns. */
RC_API rc_status rc_model_load_memory_async(rc_backend* backend,
                                            const rc_model_memory* memory,
                                            const rc_model_options* options,
                                            rc_loop* loop,
                                            rc_model_callback callback,
                                            void* user);

/* References; see base.h. Sessions keep their model. */
RC_API rc_model* rc_model_retain(rc_model* model);
RC_API void rc_model_release(rc_model* model);

/* Description of a model and its memory; see rc_model_describe. */
typedef struct rc_model_report {
  size_t struct_size;
  const char*
      architecture;       /* "llama"; owned by the model, as all strings here */
  const char* name;       /* that its file gives it */
  const char* device;     /* "cpu:0" */
  int64_t context_length; /* of a session of this model, tokens */
  int64_t trained_context_length; /* tokens */
  int64_t vocabulary;             /* tokens */
  int64_t width;                  /* embedding length */
  int64_t layers;                 /* their number */
  uint64_t parameters;            /* their number */
  uint64_t weight_bytes;          /* on the device */
  uint64_t cache_bytes;           /* of the KV cache, on the device */
  uint64_t scratch_bytes;         /* of activations, on the device */
  int64_t cache_tokens;           /* that the KV cache holds */
  int64_t page_size;              /* tokens */
} rc_model_report;

#define RC_MODEL_REPORT_INIT                                              \
  {                                                                       \
    RC_INITIAL(struct_size, sizeof(rc_model_report)),                     \
        RC_INITIAL(architecture, NULL), RC_INITIAL(name, NULL),           \
        RC_INITIAL(device, NULL), RC_INITIAL(context_length, 0),          \
        RC_INITIAL(trained_context_length, 0), RC_INITIAL(vocabulary, 0), \
        RC_INITIAL(width, 0), RC_INITIAL(layers, 0),                      \
        RC_INITIAL(parameters, 0), RC_INITIAL(weight_bytes, 0),           \
        RC_INITIAL(cache_bytes, 0), RC_INITIAL(scratch_bytes, 0),         \
        RC_INITIAL(cache_tokens, 0), RC_INITIAL(page_size, 0)             \
  }
/* The same as a function; see base.h. */
RC_API void rc_model_report_init(rc_model_report* report, size_t size);
/* RC_E_INVALID_ARGUMENT: `model` or `report`. */
RC_API rc_status rc_model_describe(rc_model* model, rc_model_report* report);

/* The model's file and tokenizer; each is the caller's to release.
 * RC_E_UNSUPPORTED: the model has no tokenizer. */
RC_API rc_status rc_model_get_info(rc_model* model, rc_model_info** info);
RC_API rc_status rc_model_get_tokenizer(rc_model* model,
                                        rc_tokenizer** tokenizer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_MODEL_H */
