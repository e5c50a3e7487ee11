#include "base/compute_thread.h"

#include <cstdint>

#include "base/library_thread.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace rc {

// Since Linux 6.12 a thread that wakes interrupts a running one whose turns are
// longer; else it may have to wait for the end of the turn, some 3 ms and the
// rest of a tick. Earlier kernels take the length and do nothing with it.
void become_compute_thread() noexcept {
  become_library_thread();
#if defined(__linux__) && defined(SYS_sched_setattr)
  // As sched_setattr(2) describes it; the C library has no declaration of it.
  struct {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime;  // of a turn, in nanoseconds
    uint64_t deadline;
    uint64_t period;
  } attributes = {};
  attributes.size = sizeof attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER) {
    return;  // the process has chosen another policy: it knows better
  }
  attributes.runtime = 20'000'000;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

}  // namespace rc
