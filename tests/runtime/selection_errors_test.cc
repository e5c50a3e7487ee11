// Choices of a device that cannot be made, each with its message, and the
// nearest that can.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "expect_error.h"
#include "fake_plugin.h"
#include "runtime/quarantine.h"
#include "runtime/registry.h"

namespace rc::runtime {
namespace {

using test::error_of;

// A backend of one GPU.
class SelectionErrors : public testing::Test {
 protected:
  SelectionErrors() { state.devices.resize(1); }
  ~SelectionErrors() override { state = {}; }

  static test::FakeState& registered() {
    static test::FakeState& state = []() -> test::FakeState& {
      const test::FakePlugin made = test::make_fake_plugin("limited");
      register_plugin(made.table);
      return made.state;
    }();
    return state;
  }
  static std::string chosen(const std::string& spec, uint64_t memory = 0) {
    return select({spec, memory, {}}).device->id();
  }
  static void expect_none(rc_status status, const std::string& message,
                          const std::string& spec, uint64_t memory = 0) {
    const Error error = error_of([&] { chosen(spec, memory); });
    EXPECT_EQ(error.status(), status) << message;
    EXPECT_EQ(error.message(), message);
  }

  test::FakeState& state = registered();
};

TEST_F(SelectionErrors, MemoryIsNamedInMegabytesRoundedUp) {
  state.devices[0].total_memory = 2'000'000;
  EXPECT_EQ(chosen("limited", 2'000'000), "limited:0");
  expect_none(RC_E_BACKEND_UNAVAILABLE,
              "no device for 'limited': limited:0: has 2 MB in all, but 3 MB "
              "are needed",
              "limited", 2'000'001);
  state.devices[0].free_memory = 1'000'001;
  EXPECT_EQ(chosen("limited", 1'000'001), "limited:0");
  expect_none(RC_E_BACKEND_UNAVAILABLE,
              "no device for 'limited': limited:0: has 2 MB free, but 2 MB "
              "are needed",
              "limited", 1'000'002);
  // Nothing is known of it.
  state.devices[0].free_memory = state.devices[0].total_memory = 0;
  EXPECT_EQ(chosen("limited", UINT64_MAX), "limited:0");
}

TEST_F(SelectionErrors, StatusIsThatOfTheMostSevereReason) {
  state.count_status = RC_E_OUT_OF_MEMORY;
  expect_none(RC_E_OUT_OF_MEMORY,
              "no device for 'limited': limited: fake failure -2", "limited");
  EXPECT_EQ(error_of([] { chosen("limited,no_such"); }).status(),
            RC_E_OUT_OF_MEMORY);
  state.count_status = RC_E_DEVICE;
  expect_none(RC_E_BACKEND_UNAVAILABLE,
              "no device for 'limited': limited: fake failure -8", "limited");
  EXPECT_EQ(error_of([] { chosen("limited,no_such"); }).status(),
            RC_E_NOT_FOUND);
  state.count_status = RC_OK;
  EXPECT_EQ(chosen("no_such,limited"), "limited:0");
}

TEST_F(SelectionErrors, DeviceNumberOutOfRangeIsRefused) {
  expect_none(RC_E_BACKEND_UNAVAILABLE,
              "no device for 'limited:1': limited:1: the backend has 1 "
              "devices, numbered from 0",
              "limited:1");
  EXPECT_EQ(chosen("limited:0"), "limited:0");
  state.devices.resize(2);
  EXPECT_EQ(chosen("limited:1"), "limited:1");
}

TEST_F(SelectionErrors, UnknownNameErrorListsTheNearestAndAllKnownNames) {
  const struct {
    const char* spec;
    const char* near;
  } cases[] = {
      {"limitde", ", did you mean limited?"},
      {"lmitd", ""},  // two letters are missing, and a third of five is one
      {"imited", ", did you mean limited?"},
      {"quantum", ""},
  };
  for (const auto& c : cases) {
    const Error error = error_of([&] { chosen(c.spec); });
    EXPECT_EQ(error.status(), RC_E_NOT_FOUND);
    const std::string begin = std::string("no device for '") + c.spec +
                              "': " + c.spec +
                              ": there is no backend of this name" + c.near +
                              "; known are auto, gpu, cpu, reference, limited";
    EXPECT_EQ(error.message().find(begin), 0u) << error.message();
  }
}

TEST_F(SelectionErrors, ThreadsAndNumaHaveLimits) {
  const auto check_with = [](int threads, rc_numa numa) {
    DeviceOptions options;
    options.threads = threads;
    options.numa = numa;
    check(options);
  };
  for (const int threads : {-1, 1025}) {
    const Error error = error_of([&] { check_with(threads, RC_NUMA_AUTO); });
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(error.message(),
              "threads is " + std::to_string(threads) +
                  "; 0 leaves the choice to the backend, otherwise 1 to 1024");
  }
  for (const int threads : {0, 1, 1024}) {
    EXPECT_NO_THROW(check_with(threads, RC_NUMA_AUTO));
  }
  for (const rc_numa numa : {RC_NUMA_AUTO - 1, RC_NUMA_LOCAL + 1}) {
    const Error error = error_of([&] { check_with(0, numa); });
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(error.message(),
              "numa is " + std::to_string(numa) + "; it must be 0 to 3");
  }
  for (const rc_numa numa : {RC_NUMA_OFF, RC_NUMA_LOCAL}) {
    EXPECT_NO_THROW(check_with(0, numa));
  }
}

TEST_F(SelectionErrors, AQuarantineIsLiftedFromOneBackendOrDevice) {
  for (const std::string name : {"auto", "gpu", "limited,cpu"}) {
    const Error error = error_of([&] { forget_quarantine(name); });
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(error.message(), "'" + name +
                                   "' is not one backend or device, such as "
                                   "vulkan or vulkan:0");
  }
  for (const std::string name : {"limited:1", "quantum", "quantum:0"}) {
    const Error error = error_of([&] { forget_quarantine(name); });
    EXPECT_EQ(error.status(), RC_E_NOT_FOUND);
    EXPECT_EQ(error.message(), "there is no backend or device called '" + name +
                                   "'; rc_discover lists those here");
  }
  // They were under none.
  EXPECT_EQ(forget_quarantine("limited"), 0);
  EXPECT_EQ(forget_quarantine("limited:0"), 0);
  state.devices.clear();
  EXPECT_EQ(forget_quarantine("limited"), 0);
}

}  // namespace
}  // namespace rc::runtime
