// The reference backend: every op as plain loops over decoded rows, f32 values
// and f64 sums, one thread. Slow, and written to be read: it says what the
// other backends must compute.
#pragma once

#include "runcible/plugin.h"

namespace rc::reference {

const rc_plugin* plugin();

}  // namespace rc::reference
