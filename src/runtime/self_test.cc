#include "runtime/self_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
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
// And what one number may be off, as a part of the root mean square of all:
// among many, one that is wrong would not be noticed otherwise.
constexpr double kNumberTolerance = 0.25;

// Behind the key of a device: everything was tested and passed.
constexpr const char* kEverything = " everything";

thread_local bool t_under_way = false;

// Marks the thread: programs that a test compiles are not tested.
struct Testing {
  Testing() { t_under_way = true; }
  ~Testing() { t_under_way = false; }
};

// Describes the difference of the result; "" if there is none.
std::string deviation(const SelfTestResult& actual,
                      const SelfTestResult& expected) {
  double difference = 0;
  double size = 0;
  size_t worst = 0;
  double worst_by = 0;
  for (size_t i = 0; i < expected.numbers.size(); ++i) {
    const double d = actual.numbers[i] - expected.numbers[i];
    difference += d * d;
    size += expected.numbers[i] * expected.numbers[i];
    // Written so that a NaN is the worst.
    if (!(std::abs(d) <= worst_by)) {
      worst = i;
      worst_by =
          std::isnan(d) ? std::numeric_limits<double>::infinity() : std::abs(d);
    }
  }
  if (difference == 0) return "";
  const double tolerance = expected.exact ? 0 : kTolerance;
  const double error = difference / size;
  if (!(error <= tolerance)) {
    return cat("off by a normalised mean squared error of ", error,
               " from the reference; at most ", tolerance, " is allowed");
  }
  const double typical =
      std::sqrt(size / static_cast<double>(expected.numbers.size()));
  if (worst_by > kNumberTolerance * typical) {
    return cat("off in number ", worst, ", which is ", actual.numbers[worst],
               " instead of ", expected.numbers[worst]);
  }
  return "";
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

std::string text_of(const SelfTest::Kind& kind) {
  std::string text = "op";
  for (const int64_t detail : kind) text += cat(" ", detail);
  return text;
}

}  // namespace

bool SelfTest::under_way() { return t_under_way; }

SelfTest::SelfTest(const std::shared_ptr<Device>& device,
                   const std::string& module)
    : device_(device),
      key_(cat("self-test of ", module, " ", device->id())),
      quarantines_(!module.empty()),
      quarantine_(device->plugin().name, module, device->info()) {
  const rc_plugin_device_info info = device->info();
  tested_ = cat(file_state(module), info.name, " ", info.driver);
}

SelfTest::Verdict SelfTest::run(const SelfTestCase& test,
                                const std::shared_ptr<Device>& device) {
  const Testing under_way;
  if (!supports_all(*device, test.description)) return {"", true, true};
  try {
    const auto actual = results_of(test, device);
    const auto expected =
        results_of(test, Device::open(*reference::plugin(), 0, {}));
    for (size_t i = 0; i < actual.size(); ++i) {
      for (size_t k = 0; k < actual[i].size(); ++k) {
        const std::string wrong = deviation(actual[i][k], expected[i][k]);
        if (wrong.empty()) continue;
        return {cat("it fails its self-test: ", test.name, " of ",
                    test.row_counts[i], " rows is ", wrong)};
      }
    }
  } catch (const Error& error) {
    switch (error.status()) {
      case RC_E_OUT_OF_MEMORY:
      case RC_E_DEVICE_MEMORY:
      case RC_E_DEVICE_LOST:
        throw;
    }
    return {cat("it fails its self-test: ", test.name, ": ", error.message()),
            error.status() != RC_E_TIMEOUT};
  }
  return {};
}

void SelfTest::record(const std::string& key, std::string_view subject,
                      const Verdict& verdict) {
  if (verdict.failure.empty()) {
    remember(key, tested_);
  } else if (quarantines_) {
    quarantine_.add(subject, verdict.failure, verdict.lasting);
  }
}

bool SelfTest::passed_with_everything(const Kind& kind) const {
  if (recall(cat(key_, kEverything)) != tested_) return false;
  const std::vector<Kind> kinds = every_kind();
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::string SelfTest::of_device() {
  if (recall(key_) == tested_) return "";
  const std::shared_ptr<Device> device = device_.lock();
  if (device == nullptr) return "";
  const Verdict verdict = run(opening_case(), device);
  record(key_, Quarantine::kDevice, verdict);
  return verdict.failure;
}

std::string SelfTest::of_op(const Op& op, const rc_plugin_value* values) {
  if (under_way()) return "";
  const std::optional<Kind> kind = kind_of(op, values);
  if (!kind) return "";
  const auto known = [&]() -> std::optional<std::string> {
    const std::lock_guard lock(mutex_);
    const auto found = verdicts_.find(*kind);
    if (found == verdicts_.end()) return std::nullopt;
    return found->second;
  };
  if (auto verdict = known()) return *std::move(verdict);
  // Not held by who only looks, for a test waits for the device.
  const std::lock_guard lock(running_);
  if (auto verdict = known()) return *std::move(verdict);
  const std::shared_ptr<Device> device = device_.lock();
  if (device == nullptr) return "";
  const std::string subject = text_of(*kind);
  const std::string key = cat(key_, " ", subject);
  Verdict verdict;
  verdict.failure = quarantine_.reason_of(subject);
  if (verdict.failure.empty() && recall(key) != tested_ &&
      !passed_with_everything(*kind)) {
    verdict = on_deep_stack([&] { return run(case_of(*kind), device); });
    record(key, subject, verdict);
  }
  const std::lock_guard entry(mutex_);
  return verdicts_.emplace(*kind, std::move(verdict.failure)).first->second;
}

std::vector<SelfTest::Outcome> SelfTest::of_everything(
    const std::function<void(double fraction)>& go_on) {
  std::vector<Outcome> outcomes;
  const std::shared_ptr<Device> device = device_.lock();
  if (device == nullptr) return outcomes;
  const std::lock_guard lock(running_);
  const std::vector<Kind> kinds = every_kind();
  for (size_t i = 0; i < kinds.size(); ++i) {
    go_on(static_cast<double>(i) / static_cast<double>(kinds.size()));
    const std::string subject = text_of(kinds[i]);
    const SelfTestCase test = case_of(kinds[i]);
    Verdict verdict;
    verdict.failure = quarantine_.reason_of(subject);
    if (verdict.failure.empty()) {
      verdict = on_deep_stack([&] { return run(test, device); });
      if (!verdict.failure.empty() && quarantines_) {
        quarantine_.add(subject, verdict.failure, verdict.lasting);
      }
      const std::lock_guard entry(mutex_);
      verdicts_.insert_or_assign(kinds[i], verdict.failure);
    }
    outcomes.push_back(
        {test.name, verdict.lacking, std::move(verdict.failure)});
  }
  // One fact for all that passed: to keep each takes longer than to test it.
  const bool passed =
      std::all_of(outcomes.begin(), outcomes.end(),
                  [](const Outcome& one) { return one.failure.empty(); });
  if (passed && quarantines_) remember(cat(key_, kEverything), tested_);
  go_on(1);
  return outcomes;
}

}  // namespace rc::runtime
