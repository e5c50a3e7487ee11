#include "base/compute_thread.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

namespace rc {
namespace {

// The limits of a thread are the same afterwards.
TEST(ComputeThread, KeepsPolicyAndPriority) {
  std::thread([] {
    setpriority(PRIO_PROCESS, 0, 3);  // of this thread alone, on Linux
    const int policy = sched_getscheduler(0);
    const int priority = getpriority(PRIO_PROCESS, 0);
    become_compute_thread();
    EXPECT_EQ(sched_getscheduler(0), policy);
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), priority);
  }).join();
}

TEST(ComputeThread, LeavesAChosenPolicyAlone) {
  std::thread([] {
    const sched_param none = {};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    become_compute_thread();
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  }).join();
}

// Returns the time slice that the system reports, in nanoseconds; 0 if unknown.
uint64_t turn() {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {};
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0),
            0);
  return attributes.runtime;
}

TEST(ComputeThread, LongTurnsEndWithTheirScope) {
  std::thread([] {
    const uint64_t before = turn();
    {
      const LongTurns turns;
      if (before != 0) {
        EXPECT_GT(turn(), before);
      }
    }
    EXPECT_EQ(turn(), before);
  }).join();
}

}  // namespace
}  // namespace rc
