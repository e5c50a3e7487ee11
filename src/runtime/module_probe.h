// A first look at a backend module, from a process of its own.
#pragma once

#include <string>

namespace rc::runtime {

// Has the program runcible-probe load the module and ask it for its devices, so
// that a driver that crashes or hangs then does it there. "" if that went well,
// whatever the answers were; otherwise what happened. A success is remembered
// until the module, the drivers, or the running system change. Without the
// program, which a host that was linked statically may lack, nothing is tried.
std::string probe_module(const std::string& path);

}  // namespace rc::runtime
