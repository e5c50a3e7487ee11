// For threads that compute for long.
#pragma once

#include <cstdint>

namespace rc {

// Makes the calling thread one of the library's (library_thread.h), and asks
// the system to let threads that wake for a moment, such as the one of the
// caller's event loop, interrupt the calling thread at once. Its share of the
// processor stays the same: it gets longer turns, but fewer. Where the system
// knows no such wish, nothing happens.
void become_compute_thread() noexcept;

// Has the calling thread give way to the others of the process wherever they
// want the processors, but for a twentieth or so of one. For threads of the
// library alone: it can't be taken back. Where the system has no such wish,
// nothing happens.
void become_background_thread() noexcept;

// The wish of become_compute_thread() for a thread of the caller's, as long as
// this lives.
class LongTurns {
 public:
  LongTurns() noexcept;
  ~LongTurns();
  LongTurns(const LongTurns&) = delete;
  LongTurns& operator=(const LongTurns&) = delete;

 private:
  [[maybe_unused]] const uint64_t before_;
};

}  // namespace rc
