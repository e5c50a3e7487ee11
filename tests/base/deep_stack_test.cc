#include "base/deep_stack.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <new>
#include <string>

#include "base/error.h"

namespace rc {
namespace {

// Touches half of what is promised.
size_t use_stack() {
  volatile char bytes[size_t{4} << 20];
  std::memset(const_cast<char*>(bytes), 1, sizeof bytes);
  return sizeof bytes + static_cast<size_t>(bytes[0]) - 1;
}

TEST(DeepStack, IsDeepOnCallersWithSmallStacks) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{64} << 10), 0);
  size_t used = 0;
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* data) -> void* {
                  *static_cast<size_t*>(data) = on_deep_stack(use_stack);
                  return nullptr;
                },
                &used),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(used, size_t{4} << 20);
}

TEST(DeepStack, PassesOnResultsAndExceptions) {
  EXPECT_EQ(on_deep_stack([] { return std::string("text"); }), "text");
  int calls = 0;
  on_deep_stack([&] { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(on_deep_stack([] { throw std::bad_alloc(); }), std::bad_alloc);
  try {
    on_deep_stack([] { fail(RC_E_FORMAT, "why"); });
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_FORMAT);
    EXPECT_EQ(error.message(), "why");
  }
}

TEST(DeepStack, NestedCallStaysOnItsThread) {
  const pthread_t caller = pthread_self();
  EXPECT_TRUE(on_deep_stack([caller] {
    const pthread_t outer = pthread_self();
    return pthread_equal(outer, caller) == 0 && on_deep_stack([outer] {
             return pthread_equal(outer, pthread_self()) != 0;
           });
  }));
  // The next one has another again.
  EXPECT_TRUE(on_deep_stack(
      [caller] { return pthread_equal(caller, pthread_self()) == 0; }));
}

TEST(DeepStack, LeavesTheSignalsOfTheProcessToTheHost) {
  sigset_t before, inside, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  on_deep_stack([&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); });
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int number : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD}) {
    EXPECT_EQ(sigismember(&inside, number), 1) << number;
    EXPECT_EQ(sigismember(&after, number), sigismember(&before, number));
  }
  // Signals that an instruction causes.
  for (const int number : {SIGSEGV, SIGFPE, SIGBUS, SIGILL}) {
    EXPECT_EQ(sigismember(&inside, number), 0) << number;
  }
}

}  // namespace
}  // namespace rc
