// The webgpu backend, where it is linked and no module.
#pragma once

#include "runcible/plugin.h"

namespace rc::webgpu {

const rc_plugin* plugin();

// The file that it is nothing without, in place of a module's.
inline constexpr const char* kScript = "runcible-webgpu.mjs";

}  // namespace rc::webgpu
