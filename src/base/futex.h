// Sleeping in the kernel until a word in memory changes.
//
// Faster than a condition variable, which takes several such calls with locks
// around them, and std::atomic::wait yields a few times before it sleeps and
// has no limit. Programs without threads (threads.h) must not sleep.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace rc {

// Sleeps if the word still has the value, until futex_wake() or until `most`
// has passed if that is not zero. May return earlier, as after a signal.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t value,
                std::chrono::nanoseconds most) noexcept;

// Wakes all threads of this process that sleep on the word.
void futex_wake(const std::atomic<uint32_t>& word) noexcept;

}  // namespace rc
