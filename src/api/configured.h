// Options of calls with a value in every member that may be configured (see
// runcible/config.h): the value that the caller set, else the configured one,
// else the default. These throw what read_options and config::Settings do, and
// RC_E_INVALID_ARGUMENT for a wrong ignore_configuration.
#pragma once

#include <string>

#include "runcible/generate.h"

namespace rc::api {

// `given` may be NULL in all of these: nothing is set.
rc_backend_options configured(const rc_backend_options* given);

// Options as they were given, to be configured later, on a thread that may read
// files. Of these, the second with ignore_configuration has no member that
// stays unset and can be checked at once.
template <class Options>
struct GivenOptions {
  explicit GivenOptions(const Options* given);

  Options options;
  Options known;
};

// `type` is the memory of options.quantize. Says whether cache_dtype is neither
// set nor configured.
rc_model_options configured(const rc_model_options* given, std::string& type,
                            bool& is_cache_dtype_open);

// `most` is the context of the model.
rc_session_options configured(const rc_session_options* given, int64_t most);

// `breakers` is the memory of options.dry_breakers.
rc_generate_options configured(const rc_generate_options* given,
                               std::string& breakers);

// The rc_*_options_init functions. A size from before RC_UNSET_INT32 gets the
// defaults in place of unset members, as its header says.
void initialise_options(rc_backend_options* options, size_t size) noexcept;
void initialise_options(rc_model_options* options, size_t size) noexcept;
void initialise_options(rc_session_options* options, size_t size) noexcept;
void initialise_options(rc_generate_options* options, size_t size) noexcept;

}  // namespace rc::api
