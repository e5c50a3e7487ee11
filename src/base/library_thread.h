// For threads of our own.
#pragma once

namespace rc {

// Makes the calling thread one of the library's, whatever it has inherited from
// the one that started it; the first call of every thread of ours. A callback
// that runs on it may know its pthread_t: it cannot be cancelled. Its
// floating-point environment is the default one.
void become_library_thread() noexcept;

}  // namespace rc
