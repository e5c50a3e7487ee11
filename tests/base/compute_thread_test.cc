#include "base/compute_thread.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <thread>

namespace rc {
namespace {

// What a thread may do afterwards is what it might before.
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

}  // namespace
}  // namespace rc
