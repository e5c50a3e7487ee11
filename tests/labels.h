// Labels of tests: the builds and stages that run a test. A test without labels
// runs in every build.
//
//   TEST(Perplexity, IsTheSameInBatches) {
//     RC_TEST_LABELS(kNumbers);
//
// The fixture of a suite may do the same in SetUp().
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <string_view>

namespace rc::test {

enum class Label {
  kFull,     // runs in `tests/run.sh full` alone: TEST_SET is "full"
  kNumbers,  // is about numbers, time or the size of stacks: not under
             // sanitizers
  kSerial,   // has no threads: not under the thread sanitizer
  kDriver,   // runs kernels of a driver, which sanitizers do not see
};

inline bool under_thread_sanitizer() {
#if defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

inline bool under_address_sanitizer() {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

inline bool under_sanitizer() {
  return under_thread_sanitizer() || under_address_sanitizer();
}

// Whether everything is tested, also each step of long walks: TEST_SET is
// "full".
inline bool is_full_set() {
  const char* set = std::getenv("TEST_SET");
  return set != nullptr && std::string_view(set) == "full";
}

// Returns the reason not to run a test with these labels here, or nullptr.
// tests/skipped.py knows the reasons by their first word.
inline const char* reason_to_skip(std::initializer_list<Label> labels) {
  for (const Label label : labels) {
    switch (label) {
      case Label::kFull:
        if (!is_full_set()) return "label kFull: runs in `tests/run.sh full`";
        break;
      case Label::kNumbers:
        if (under_address_sanitizer()) {
          return "label kNumbers: runs without the address sanitizer";
        }
        break;
      case Label::kSerial:
        if (under_thread_sanitizer()) {
          return "label kSerial: runs without the thread sanitizer";
        }
        break;
      case Label::kDriver:
        if (under_sanitizer()) return "label kDriver: runs without sanitizers";
        break;
    }
  }
  return nullptr;
}

}  // namespace rc::test

// Skips the test if one of its labels says so.
#define RC_TEST_LABELS(...)                                               \
  do {                                                                    \
    using enum ::rc::test::Label;                                         \
    if (const char* reason = ::rc::test::reason_to_skip({__VA_ARGS__})) { \
      GTEST_SKIP() << reason;                                             \
    }                                                                     \
  } while (false)
