// A first test of a backend module, in a separate process.
#pragma once

#include <string>

#include "runtime/search_progress.h"

namespace rc::runtime {

struct ModuleProbe {
  std::string reason;  // why the module must not be loaded; "" if it may be
  // Its devices are software alone (RC_DEVICE_SOFTWARE).
  bool only_software = false;
};

// Has the program runcible-probe load the module and ask it for its devices, so
// that a driver that crashes or hangs then does it there. It is given half a
// minute. The answer is remembered until the module, the drivers, the limits of
// the process or the running system change; if it is a crash or a hang, for an
// hour at most, and not where the quarantine is ignored (see quarantine.h).
// Nothing is tried without the program, which may be absent where a host was
// linked statically. Asks `progress` several times a second whether to go on.
ModuleProbe probe_module(const std::string& path,
                         const SearchProgress& progress = {});

// Whether a crash or a hang was remembered; it is no more.
bool forget_failed_probe(const std::string& path);

}  // namespace rc::runtime
