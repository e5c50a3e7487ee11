/* Runcible: what people configure outside of programs.
 *
 *     char* report = NULL;
 *     if (rc_config_use_file("") != RC_OK ||
 *         rc_config_set("generate.temperature", "0.2") != RC_OK ||
 *         rc_config_report(&report) != RC_OK) {
 *       fprintf(stderr, "%s\n", rc_error_message());
 *       return 1;
 *     }
 *     puts(report);
 *     rc_free(report);
 *
 * A setting has the name of the member of options that it is for: of
 * rc_backend_options ("backend.threads"), rc_model_options
 * ("model.context_length"), rc_session_options ("session.when_full") and
 * rc_generate_options ("generate.temperature"); "backend.spec" is the chain of
 * rc_backend_open, and some belong to the library as a whole ("library.log").
 * rc_config_report lists them all. Of what says something about one the first
 * holds:
 *
 *   - the options of a call, where a member is set: where it has another value
 *     than RC_UNSET_INT32 and its like (base.h), with which it begins. A value
 *     that equals the default is set, too;
 *   - rc_config_set;
 *   - the environment: RUNCIBLE_THREADS, RUNCIBLE_MODEL_CONTEXT_LENGTH, ...;
 *   - the file: TOML, with a table for each part ([model]) and a key for each
 *     setting (context_length = 8192);
 *   - the default, which the comment of the member gives.
 *
 * A call whose options have ignore_configuration 1 takes nothing of this: its
 * members that are not set have their defaults. NULL options mean that nothing
 * is set. Programs that were built with headers from before RC_UNSET_INT32 do
 * not have ignore_configuration in their structs. For them a member that has
 * its default counts as not set.
 *
 * The file is the one that RUNCIBLE_CONFIG names, else runcible/config.toml in
 * XDG_CONFIG_HOME, which is ~/.config where it is not set. It is read when a
 * setting is needed first, and not again. A program that wants no file of its
 * user's says so first of all: rc_config_use_file(""); a user says it with an
 * empty RUNCIBLE_CONFIG. A program that runs with raised privileges reads
 * neither the environment nor, therefore, a file.
 *
 * The environment is read whenever a backend is opened or a model is loaded or
 * planned, and sessions and requests take what it was then.
 *
 * A file that is no TOML, names a setting that does not exist or gives one a
 * value that is not allowed, fails what needs a setting, with RC_E_FORMAT and a
 * message that names file, line, setting, value and what is allowed;
 * RC_E_NOT_FOUND and RC_E_IO are a file that was named and is not there, or
 * cannot be read. Of a variable it is RC_E_INVALID_ARGUMENT. After such a
 * failure the file is read again at the next occasion. */
#ifndef RUNCIBLE_CONFIG_H
#define RUNCIBLE_CONFIG_H

#include "runcible/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From now on settings come of the file at `path`, which is read at once,
 * also if it was read before; "": of no file; NULL: of the one that is
 * described above. What has been opened or loaded stays as it is. After a
 * failure nothing has changed. Any thread. RC_E_NOT_FOUND, RC_E_IO,
 * RC_E_FORMAT, RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_config_use_file(const char* path);

/* Gives a setting a value for the whole process, from now on, above file and
 * environment; `value` is text: "4", "0.5", "true", "vulkan,cpu". NULL takes
 * back what was set so. Any thread.
 * RC_E_NOT_FOUND: no such setting, the message names the nearest;
 * RC_E_INVALID_ARGUMENT: `key` is NULL, or the value is not allowed. */
RC_API rc_status rc_config_set(const char* key, const char* value);

/* All settings, and where each comes from, as they would hold for what is
 * opened now: a JSON object with "path" (of the file, "" if none is looked
 * for), "path_from" ("rc_config_use_file", "RUNCIBLE_CONFIG",
 * "XDG_CONFIG_HOME", "HOME" or ""), "exists" (whether the file is there),
 * "settings" (array of "key", "value", null where there is none, "toml" (the
 * value as the file would say it, "" for none), "source" ("initial", "file",
 * "environment" or "program"), "line" (of the file, else 0), "variable" (its
 * name in the environment), "allowed" and "meaning", both texts) and
 * "other_variables" (array of "name" and "nearest", the variable of a setting:
 * what begins with RUNCIBLE_ in the environment and is no setting, by mistake,
 * or because a backend or a tool knows it). *json is NUL-terminated and the
 * caller's, to be freed with rc_free. Statuses as above, for the whole of the
 * file and the environment. */
RC_API rc_status rc_config_report(char** json);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_CONFIG_H */
