// Every function of the C ABI with each of its allocations failing in turn, on
// a thread that has never called the library: each failure is a clean error,
// gives everything back, and leaves usable what existed before.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <new>
#include <set>
#include <thread>

#include "failing_new.h"
#include "scenarios.h"
#include "test_data.h"

namespace rc::test {
namespace {

World& world() {
  static World* const world = new World;  // as long as the process
  return *world;
}

struct Outcome {
  rc_status status = RC_OK;
  bool failed = false;  // an allocation
  std::string message{};
};

// Runs the scenario on a new thread, where the n-th allocation fails.
Outcome run_failing(const Scenario& scenario, int64_t n) {
  Outcome outcome;
  std::thread([&] {
    fail_allocation(n);
    try {
      outcome.status = scenario.run(world());
    } catch (const std::bad_alloc&) {  // of the scenario itself
      outcome.status = RC_E_OUT_OF_MEMORY;
    }
    outcome.failed = allocation_failed();
    fail_allocation(-1);
    if (outcome.status != RC_OK) outcome.message = rc_error_message();
  }).join();
  return outcome;
}

// Whether all but `live` allocations are given back; threads of the library may
// release objects a moment later.
bool settles_at(int64_t live, int milliseconds) {
  for (int i = 0; i < milliseconds && live_allocations() > live; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return live_allocations() <= live;
}

class FailedAllocationsIn : public testing::TestWithParam<Scenario> {
 protected:
  void expect_success() const {
    const Outcome outcome = run_failing(GetParam(), -1);
    ASSERT_EQ(outcome.status, RC_OK)
        << rc_status_name(outcome.status) << ": " << outcome.message;
  }
};

TEST_P(FailedAllocationsIn, AreReportedAsErrors) {
  const Scenario& scenario = GetParam();
  const int64_t thinning = std::max<int64_t>(1, scenario.thinning / kSlowness);
  // Objects that are made once per process exist from now on.
  for (int i = 0; i < 2; ++i) {
    expect_success();
    if (HasFatalFailure()) return;
  }
  int64_t live = live_allocations();
  int64_t places = 0;
  for (int64_t n = 0;; n += 1 + n / thinning) {
    SCOPED_TRACE(testing::Message() << "allocation " << n);
    Outcome outcome = run_failing(scenario, n);
    if (!scenario.accumulates) {
      // Objects that are made once on the way of an error, or that pools keep
      // up to their limits, are no leaks: at last an error leaves nothing
      // behind.
      for (int kept = 0; kept < 40 && !settles_at(live, 20); ++kept) {
        live = live_allocations();
        outcome = run_failing(scenario, n);
      }
      ASSERT_TRUE(settles_at(live, 20000))
          << live_allocations() - live << " objects";
    }
    if (outcome.status != RC_OK) {
      ASSERT_EQ(outcome.status, RC_E_OUT_OF_MEMORY)
          << rc_status_name(outcome.status) << ": " << outcome.message;
      ASSERT_TRUE(outcome.failed);
    }
    ++places;
    if (!outcome.failed) break;
    if (places % 8 != 0) continue;
    expect_success();
    if (HasFatalFailure()) return;
  }
  expect_success();
  RecordProperty("places", std::to_string(places));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, FailedAllocationsIn,
                         testing::ValuesIn(all_scenarios()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(FailedAllocations, CoverEveryFunction) {
  for (const Scenario& scenario : all_scenarios()) {
    const Outcome outcome = run_failing(scenario, -1);
    EXPECT_EQ(outcome.status, RC_OK)
        << scenario.name << ": " << outcome.message;
  }
  std::set<std::string> exported;
  std::ifstream file(source_path("tests/abi/symbols.txt"));
  for (std::string name; std::getline(file, name);) exported.insert(name);
  EXPECT_GT(exported.size(), 200u);
  for (const std::string& name : CalledFunction::names()) exported.erase(name);
  for (const std::string& name : exported) {
    ADD_FAILURE() << "no scenario calls " << name;
  }
}

}  // namespace
}  // namespace rc::test
