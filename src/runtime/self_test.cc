#include "runtime/self_test.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/deep_stack.h"
#include "base/disk_cache.h"
#include "base/error.h"
#include "reference/plugin.h"
#include "runtime/program.h"
#include "runtime/self_test_case.h"

namespace rc::runtime {
namespace {

// Normalised mean squared error. Kernels that round activations to 8 bits stay
// below a tenth of it; a wrong kernel is far beyond.
constexpr double kTolerance = 1e-3;

thread_local bool t_under_way = false;

// What a test itself compiles is not tested.
struct UnderWay {
  UnderWay() { t_under_way = true; }
  ~UnderWay() { t_under_way = false; }
};

double error_of(const std::vector<double>& actual,
                const std::vector<double>& expected) {
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double d = actual[i] - expected[i];
    difference += d * d;
    size += expected[i] * expected[i];
  }
  return difference == 0 ? 0 : difference / size;
}

bool supports_all(const Device& device, const ProgramDescription& description) {
  for (const Op& op : description.ops) {
    Message message;
    if (device.op_supported(op, description.values.data(), message) != RC_OK) {
      return false;
    }
  }
  return true;
}

// "" if it passed.
std::string run(const SelfTestCase& test,
                const std::shared_ptr<Device>& device) {
  const UnderWay under_way;
  if (!supports_all(*device, test.description)) return "";
  try {
    const auto actual = results_of(test, device);
    const auto expected =
        results_of(test, Device::open(*reference::plugin(), 0, {}));
    const double tolerance = test.integers ? 0 : kTolerance;
    for (size_t i = 0; i < actual.size(); ++i) {
      const double error = error_of(actual[i], expected[i]);
      // Written so that a NaN fails.
      if (!(error <= tolerance)) {
        return cat("it fails its self-test: ", test.name, " of ",
                   test.row_counts[i],
                   " rows is off by a normalised mean squared error of ", error,
                   " from the reference; at most ", tolerance, " is allowed");
      }
    }
  } catch (const Error& error) {
    switch (error.status()) {
      case RC_E_OUT_OF_MEMORY:
      case RC_E_DEVICE_MEMORY:
      case RC_E_DEVICE_LOST:
        throw;
    }
    return cat("it fails its self-test: ", test.name, ": ", error.message());
  }
  return "";
}

std::string text_of(const SelfTest::Kind& kind) {
  std::string text = "op";
  for (const int64_t detail : kind) text += cat(" ", detail);
  return text;
}

}  // namespace

bool SelfTest::under_way() { return t_under_way; }

SelfTest::SelfTest(const std::shared_ptr<Device>& device,
                   const std::string& module)
    : device_(device), key_(cat("self-test of ", module, " ", device->id())) {
  const rc_plugin_device_info info = device->info();
  tested_ = cat(file_state(module), info.name, " ", info.driver);
}

std::string SelfTest::of_device() {
  if (recall(key_) == tested_) return "";
  const std::shared_ptr<Device> device = device_.lock();
  if (device == nullptr) return "";
  std::string reason = run(opening_case(), device);
  if (reason.empty()) remember(key_, tested_);
  return reason;
}

std::string SelfTest::of_op(const Op& op, const rc_plugin_value* values) {
  if (under_way()) return "";
  const std::optional<Kind> kind = kind_of(op, values);
  if (!kind) return "";
  const auto known = [&]() -> const std::string* {
    const std::lock_guard lock(mutex_);
    const auto found = verdicts_.find(*kind);
    return found == verdicts_.end() ? nullptr : &found->second;
  };
  if (const std::string* verdict = known()) return *verdict;
  // Not held by who only looks, for a test waits for the device.
  const std::lock_guard lock(running_);
  if (const std::string* verdict = known()) return *verdict;
  const std::shared_ptr<Device> device = device_.lock();
  if (device == nullptr) return "";
  const std::string key = cat(key_, " ", text_of(*kind));
  std::string verdict;
  if (recall(key) != tested_) {
    verdict = on_deep_stack([&] { return run(case_of(*kind), device); });
    if (verdict.empty()) remember(key, tested_);
  }
  const std::lock_guard entry(mutex_);
  return verdicts_.emplace(*kind, std::move(verdict)).first->second;
}

}  // namespace rc::runtime
