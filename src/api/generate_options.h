// The options of a generation, copied from the caller's struct. engine::check
// says what they may be; here arrays are only looked for.
#pragma once

#include "engine/engine.h"
#include "runcible/generate.h"

namespace rc::api {

engine::RequestOptions request_options(const rc_generate_options* given,
                                       const model::ModelFile& file);

}  // namespace rc::api
