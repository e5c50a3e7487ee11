// Calls on as small a stack as base.h lets callers have.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>

#include "base/error.h"

namespace rc::test {

// Sanitizers make frames several times as large.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr size_t kStackScale = 8;
#else
inline constexpr size_t kStackScale = 1;
#endif
inline constexpr size_t kSmallStack = kStackScale * (size_t{64} << 10);

// Calls function() in a child process, on a thread with such a stack. Succeeds
// if it returned or threw an rc::Error; an overflow ends the child, not the
// test.
inline testing::AssertionResult fits_small_stack(
    const std::function<void()>& function) {
  constexpr int kNoThread = 100;
  constexpr int kThrew = 101;
  const pid_t child = fork();
  if (child == 0) {
    struct Call {
      const std::function<void()>& function;
      int result = kThrew;
    } call{function};
    pthread_attr_t attributes;
    pthread_t thread;
    const auto run = [](void* data) -> void* {
      auto& given = *static_cast<Call*>(data);
      try {
        given.function();
        given.result = 0;
      } catch (const Error&) {
        given.result = 0;
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      return nullptr;
    };
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, kSmallStack) != 0 ||
        pthread_create(&thread, &attributes, run, &call) != 0) {
      _exit(kNoThread);
    }
    pthread_join(thread, nullptr);
    _exit(call.result);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    return testing::AssertionFailure() << "no child";
  }
  if (WIFSIGNALED(status)) {
    return testing::AssertionFailure()
           << "the child was ended by signal " << WTERMSIG(status);
  }
  if (WEXITSTATUS(status) != 0) {
    return testing::AssertionFailure()
           << "the child ended with status " << WEXITSTATUS(status);
  }
  return testing::AssertionSuccess();
}

}  // namespace rc::test
