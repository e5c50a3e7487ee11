// Every allocation of opening, loading and evaluating a model fails once: each
// time an error comes out, nothing leaks, and the next attempt succeeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "base/error.h"
#include "model/allocation_util.h"
#include "model/model_util.h"
#include "test_data.h"

namespace rc::test {
namespace {

class Allocation : public ::testing::TestWithParam<const char*> {};

// A device is closed on a thread, which allocates, too. Waits until there are
// no more than `most`.
int64_t live_when_closed(int64_t most) {
  for (int i = 0; i < 60000 && live_allocations() > most; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return live_allocations();
}

TEST_P(Allocation, FailureIsReportedAndLeaksNothing) {
  if (!kAllocationsCanFail) GTEST_SKIP() << "not with sanitizers";
  const std::string path =
      source_path("tests/golden/architectures/qwen3moe.gguf").string();
  const std::vector<int32_t> tokens = {1, 5, 7};
  const auto attempt = [&] {
    return evaluate(*load(model::ModelFile::open(path), GetParam(), {}, 2),
                    tokens);
  };
  const std::vector<float> expected = attempt();

  int64_t count = 0;
  int64_t live = live_allocations();
  for (bool failed = true; failed; ++count) {
    rc_status status = RC_OK;
    {
      std::vector<float> logits;
      fail_allocation_after(count);
      try {
        logits = attempt();
      } catch (const std::bad_alloc&) {
        status = RC_E_OUT_OF_MEMORY;
      } catch (const Error& error) {
        status = error.status();
      }
      failed = allocation_failed();
      EXPECT_TRUE(status != RC_OK || logits == expected) << count;
    }
    // The choice among devices reports a device without enough memory as
    // unavailable.
    EXPECT_TRUE(status == RC_OK || status == RC_E_OUT_OF_MEMORY ||
                status == RC_E_BACKEND_UNAVAILABLE)
        << count << ": " << status;
    const int64_t now = live_when_closed(live);
    ASSERT_LE(now, live) << count;
    live = std::min(live, now);
  }
  EXPECT_GT(count, 500);
}

INSTANTIATE_TEST_SUITE_P(Backends, Allocation,
                         ::testing::Values("reference", "cpu"),
                         [](const auto& info) {
                           return test_name(info.param);
                         });

}  // namespace
}  // namespace rc::test
