#include "base/compute_thread.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/library_thread.h"

namespace rc {

// Since Linux 6.12 a thread that wakes interrupts a running one whose turns are
// longer; else it may have to wait for the end of the turn, some 3 ms and the
// rest of a tick. Earlier kernels take the length and do nothing with it.

// Linux keeps a priority for each thread. With 13 steps less a thread gets a
// twentieth of what one with the usual priority gets.
void become_background_thread() noexcept {
  constexpr int kLess = 13;
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  const int now = getpriority(PRIO_PROCESS, thread);
  setpriority(PRIO_PROCESS, thread, now + kLess);
}

namespace {

constexpr uint64_t kLongTurn = 20'000'000;  // nanoseconds

// As sched_setattr(2) describes it; the C library has no declaration of it.
struct TurnAttributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime;  // of a turn, in nanoseconds
  uint64_t deadline;
  uint64_t period;
};

// False: nothing to set. A process that has chosen another policy knows better.
bool get_attributes(TurnAttributes* attributes) {
  *attributes = {};
  attributes->size = sizeof *attributes;
  return syscall(SYS_sched_getattr, 0, attributes, sizeof *attributes, 0) ==
             0 &&
         attributes->policy == SCHED_OTHER;
}

// The runtime that was before; 0: nothing was set.
uint64_t set_turn(uint64_t runtime) {
  TurnAttributes attributes;
  if (!get_attributes(&attributes)) return 0;
  const uint64_t before = attributes.runtime;
  attributes.runtime = runtime;
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 ? before : 0;
}

}  // namespace

void become_compute_thread() noexcept {
  become_library_thread();
  set_turn(kLongTurn);
}

LongTurns::LongTurns() noexcept : before_(set_turn(kLongTurn)) {}

LongTurns::~LongTurns() {
  if (before_ != 0) set_turn(before_);
}

}  // namespace rc
