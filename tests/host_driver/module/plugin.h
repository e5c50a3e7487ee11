// The table of a backend that runs the C dialect of kernels on the host, for
// tests. backends/gpu/README.md says what a driver is.
#pragma once

#include "runcible/plugin.h"

namespace rc::host {

// The backend is called "host" and has one device.
const rc_plugin& plugin();

}  // namespace rc::host
