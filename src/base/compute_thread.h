// For threads of our own that compute for long.
#pragma once

namespace rc {

// Makes the calling thread one of the library's (library_thread.h), and asks
// the system to let threads that wake for a moment, such as the one of the
// caller's event loop, interrupt the calling thread at once. Its share of the
// processor stays the same: it gets longer turns, but fewer. Where the system
// knows no such wish, nothing happens.
void become_compute_thread() noexcept;

}  // namespace rc
