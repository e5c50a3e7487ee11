// With RUNCIBLE_VULKAN_VALIDATION=1 in the environment the program fails if the
// validation layer had anything to say.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "runcible/base.h"

namespace rc::test {
namespace {

class SilentValidation : public testing::Environment {
  void SetUp() override {
    if (std::getenv("RUNCIBLE_VULKAN_VALIDATION") == nullptr) return;
    rc_log_set(
        [](void* messages, rc_log_level, const char* message) {
          ++*static_cast<std::atomic<int>*>(messages);
          std::fprintf(stderr, "%s\n", message);
        },
        &messages_, RC_LOG_ERROR);
  }
  void TearDown() override {
    rc_log_set(nullptr, nullptr, RC_LOG_NONE);
    EXPECT_EQ(messages_, 0);
  }
  std::atomic<int> messages_ = 0;
};
const auto* const g_silent_validation =
    testing::AddGlobalTestEnvironment(new SilentValidation);

}  // namespace

}  // namespace rc::test
