// Threads that run event loops, which nothing may hold up.
#pragma once

namespace rc {

// The calling thread delivers events, from now on.
void become_loop_thread() noexcept;
// Whether the calling thread ever has.
bool is_loop_thread() noexcept;

}  // namespace rc
