/* Runcible: fetching models from a hub, and what has been fetched.
 *
 *     char* path = NULL;
 *     if (rc_model_fetch("hf:OWNER/NAME:Q4_K_M", NULL, &path) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     printf("%s\n", path);
 *     rc_free(path);
 *
 * This is all that ever opens a connection: functions that load a model take
 * "hf:..." for what is in the cache already, and fetch nothing.
 *
 * Fetched files are in the cache of the package huggingface_hub, in its
 * layout, and that package finds them; files that it has fetched are found
 * here. The folder is that of the environment variable HF_HUB_CACHE, "hub" in
 * HF_HOME, or
 * ~/.cache/huggingface/hub. HF_ENDPOINT names another hub than
 * https://huggingface.co, HF_TOKEN is sent to that hub and to no other server,
 * and HF_HUB_OFFLINE=1 forbids to fetch.
 *
 * libcurl and libcrypto are loaded when something is fetched for the first
 * time; RC_E_UNSUPPORTED, with the package to install, where they are not
 * there, or their headers were not when the library was built.
 */
#ifndef RUNCIBLE_FETCH_H
#define RUNCIBLE_FETCH_H

#include "runcible/base.h"
#include "runcible/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sources ------------------------------------------------------------
 *
 * "hf:OWNER/NAME[:FILE][@REVISION]" is a model on a hub. FILE is a file of it,
 * or the name of a quantization such as Q4_K_M, which fits the GGUF file that
 * has it in its name. All parts of a GGUF file that was split belong together.
 * Without FILE it is the GGUF file if there is one, and where there is none the
 * folder of config.json with weights as safetensors and what belongs to the
 * tokenizer. RC_E_INVALID_ARGUMENT with a list if there are several GGUF files.
 * REVISION is a branch, a tag or a commit; without it, "main".
 *
 * "https://..." is a file anywhere; without a checksum, so that only its length
 * is checked. http:// is for addresses of this machine only, and for the hub
 * that HF_ENDPOINT names. */

/* Called while fetching, at least some times a second, on the thread that
 * fetches: the file under way, and the bytes that are there and that there
 * will be, of all files; `total` is 0 as long as it is not known. Returning
 * non-zero ends it (RC_E_CANCELLED). */
typedef int32_t (*rc_fetch_progress_callback)(void* user, const char* file,
                                              uint64_t done, uint64_t total);

/* How to fetch; see rc_model_fetch. Texts are copied. */
typedef struct rc_fetch_options {
  size_t struct_size;
  const char* revision; /* of a source that names none; NULL: "main" */
  const char* cache;    /* the folder of the cache; NULL: see above */
  const char* to;       /* the file to write instead; it must be given for
                           "https://...". NULL: into the cache */
  int32_t connections;  /* at once, 1 to 32; 0: 8 */
  rc_fetch_progress_callback progress; /* may be NULL */
  void* progress_user;
} rc_fetch_options;

#define RC_FETCH_OPTIONS_INIT                                       \
  {                                                                 \
    RC_INITIAL(struct_size, sizeof(rc_fetch_options)),              \
        RC_INITIAL(revision, NULL), RC_INITIAL(cache, NULL),        \
        RC_INITIAL(to, NULL), RC_INITIAL(connections, 0),           \
        RC_INITIAL(progress, NULL), RC_INITIAL(progress_user, NULL) \
  }
/* The same as a function; see base.h. */
RC_API void rc_fetch_options_init(rc_fetch_options* options, size_t size);

/* Fetches a model; blocks. What it gives is what loads the model: a file, the
 * first of several parts, or a folder. What is there is not fetched again, and
 * what is there in part, also after a failure or the end of the process, is
 * gone on with. A file gets its name when its length and checksum are right.
 * *path is to be freed with rc_free. RC_E_NOT_FOUND: no such model, file or
 * revision; RC_E_IO: servers, the way there, the disk; RC_E_FORMAT: what came
 * is not what it should be; RC_E_BUSY: the file is being fetched already;
 * RC_E_CANCELLED: by the progress callback; RC_E_UNSUPPORTED: there is no
 * libcurl; RC_E_INVALID_ARGUMENT; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_model_fetch(const char* source,
                                const rc_fetch_options* options, char** path);

/* The end of rc_model_fetch_async, on the loop's thread, exactly once. On
 * success `path` is as in rc_model_fetch; on failure it is NULL and `message`
 * says why. Both are valid during the call. */
typedef void (*rc_fetch_callback)(void* user, rc_status status,
                                  const char* message, const char* path);

/* Fetches in a thread of the library; `loop` NULL: the callback runs on the
 * library's own loop thread. The progress callback runs on the fetching thread.
 * Closing the loop cancels it. RC_E_INVALID_ARGUMENT and RC_E_CLOSED are
 * returned at once, everything else goes to the callback. */
RC_API rc_status rc_model_fetch_async(const char* source,
                                      const rc_fetch_options* options,
                                      rc_loop* loop, rc_fetch_callback callback,
                                      void* user);

/* ---- What has been fetched ---------------------------------------------- */

/* The models in the cache, as JSON; without a folder, in the one that the
 * environment names. Each has its "name", "hf:OWNER/NAME"; the "bytes" of all
 * its files, each counted once; "shared_bytes", of those that several revisions
 * have or that lie outside of its folder, which removing one revision does not
 * free; "incomplete_bytes", of what has come in part; and its "revisions": the
 * "commit", the "names" of branches and tags that it is, and its "files" with
 * "name" and "bytes". All of them are the "models"; "folder" is that of the
 * cache. *json is to be freed with rc_free. RC_E_NOT_FOUND: the environment
 * names no folder; RC_E_IO; RC_E_INVALID_ARGUMENT; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_cached_models(const char* cache, char** json);

/* Removes from the cache a model, "hf:OWNER/NAME" with what came of it in part;
 * one revision, with "@REVISION"; or a file, with ":FILE", of one revision or
 * all. The bytes that nothing else needs go too; `freed` reports how many (it
 * may be NULL). A model that is loaded stays usable. RC_E_NOT_FOUND: it is not
 * there; RC_E_BUSY: it is being fetched; otherwise as rc_cached_models. */
RC_API rc_status rc_cached_model_remove(const char* source, const char* cache,
                                        size_t* freed);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_FETCH_H */
