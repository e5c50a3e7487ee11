#include "base/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace rc {
namespace {

struct Received {
  rc_log_level level;
  std::string message;
};

void receive(void* user, rc_log_level level, const char* message) {
  static_cast<std::vector<Received>*>(user)->push_back({level, message});
}

class LogTest : public testing::Test {
 protected:
  void TearDown() override { set_log(nullptr, nullptr, RC_LOG_NONE); }
  std::vector<Received> received_;
};

TEST_F(LogTest, PassesTheWantedLevels) {
  set_log(receive, &received_, RC_LOG_WARNING);
  log(RC_LOG_ERROR, "device ", 3, " failed");
  log(RC_LOG_WARNING, "slow");
  log(RC_LOG_INFO, "hello");
  log(RC_LOG_NONE, "never");
  log(-7, "never");
  ASSERT_EQ(received_.size(), 2u);
  EXPECT_EQ(received_[0].level, RC_LOG_ERROR);
  EXPECT_EQ(received_[0].message, "device 3 failed");
  EXPECT_EQ(received_[1].message, "slow");
  EXPECT_TRUE(log_wanted(RC_LOG_WARNING));
  EXPECT_FALSE(log_wanted(RC_LOG_INFO));
}

TEST_F(LogTest, WithoutACallbackMessagesAreDropped) {
  set_log(receive, &received_, RC_LOG_DEBUG);
  set_log(nullptr, &received_, RC_LOG_DEBUG);
  EXPECT_FALSE(log_wanted(RC_LOG_ERROR));
  log(RC_LOG_ERROR, "lost");
  EXPECT_TRUE(received_.empty());
}

TEST_F(LogTest, AMessageIsOneLine) {
  set_log(receive, &received_, RC_LOG_DEBUG);
  log(RC_LOG_ERROR, "a\nb\r\n\x1b[31mc\x7f");
  ASSERT_EQ(received_.size(), 1u);
  EXPECT_EQ(received_[0].message, "a b   [31mc ");
  log_message(RC_LOG_ERROR, nullptr);
  EXPECT_EQ(received_.size(), 1u);
}

// The data of a callback may be freed as soon as set_log has returned.
TEST_F(LogTest, SetLogWaitsForTheFormerCallback) {
  struct Target {
    std::atomic<bool> gone = false;
    std::atomic<int> late = 0;
    std::atomic<int> calls = 0;
  };
  const auto call = [](void* user, rc_log_level, const char*) {
    auto* target = static_cast<Target*>(user);
    ++target->calls;
    std::this_thread::yield();
    if (target->gone) ++target->late;
  };
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) log(RC_LOG_INFO, "message");
    });
  }
  int calls = 0;
  int late = 0;
  std::vector<std::unique_ptr<Target>> targets;
  for (int i = 0; i < 50; ++i) {
    targets.push_back(std::make_unique<Target>());
    set_log(call, targets.back().get(), RC_LOG_INFO);
    while (targets.back()->calls == 0) std::this_thread::yield();
    set_log(nullptr, nullptr, RC_LOG_NONE);
    targets.back()->gone = true;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  for (const auto& target : targets) {
    calls += target->calls;
    late += target->late;
  }
  EXPECT_GT(calls, 0);
  EXPECT_EQ(late, 0);
}

// RUNCIBLE_LOG is read once, at the first message of a process.
class LogDeathTest : public testing::Test {};

void log_with_variable(const char* value) {
  setenv("RUNCIBLE_LOG", value, 1);
  log(RC_LOG_INFO, "information");
  log(RC_LOG_ERROR, "trouble");
  _exit(0);
}

TEST_F(LogDeathTest, EnvironmentDirectsMessagesToStderr) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(log_with_variable("info"), testing::ExitedWithCode(0),
              "runcible: info: information\nruncible: error: trouble");
  EXPECT_EXIT(log_with_variable("error"), testing::ExitedWithCode(0),
              "^runcible: error: trouble\n$");
  EXPECT_EXIT(log_with_variable("loud"), testing::ExitedWithCode(0),
              "RUNCIBLE_LOG is 'loud'.*\nruncible: error: trouble");
  EXPECT_EXIT(log_with_variable(""), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace rc
