// Ready-made parts for plugins that compute in host memory: weights in the
// layout of their type, buffers whose handles are the addresses of their bytes,
// and waiting for runs that are over when they have been started.
#pragma once

#include "runcible/plugin.h"

namespace rc::runtime {

// Fills in the functions for weights and buffers if the plugin has none of
// them, map_weight included, and wait if it has none.
void complete_with_host_memory(rc_plugin& plugin);

}  // namespace rc::runtime
