#include "cpu/event_count.h"

namespace rc::cpu {

void EventCount::wait(uint32_t seen, int looks, std::chrono::nanoseconds most) {
  for (int i = 0; i < looks; ++i) {
    if (news() != seen) return;
    pause();
  }
  // A thread that rings after this sees that one is asleep, or its ring was
  // noticed.
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  if (news() == seen) sleep(seen, most);
  asleep_.fetch_sub(1, std::memory_order_seq_cst);
}

void EventCount::sleep(uint32_t seen, std::chrono::nanoseconds most) {
  do {
    futex_wait(news_, seen, most);
  } while (most.count() == 0 && news() == seen);  // a signal wakes, too
}

}  // namespace rc::cpu
