// Options of callers, with what is configured (see runcible/config.h) in the
// members that have their initial values. These throw what config::Account
// does.
#pragma once

#include <string>

#include "runcible/generate.h"

namespace rc::api {

rc_backend_options configured(rc_backend_options options);

// `type` is the memory of options.quantize.
rc_model_options configured(rc_model_options options, std::string& type);

// `most` is the context of the model.
rc_session_options configured(rc_session_options options, int64_t most);

// `breakers` is the memory of options.dry_breakers.
rc_generate_options configured(rc_generate_options options,
                               std::string& breakers);

}  // namespace rc::api
