// Testing what devices compute, and lifting the quarantine of those that
// failed.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "api/backend.h"
#include "api/guard.h"
#include "api/progress.h"
#include "api/returned_memory.h"
#include "base/deep_stack.h"
#include "base/json_value.h"
#include "base/quote.h"
#include "runtime/backend_spec.h"
#include "runtime/candidates.h"
#include "runtime/explain.h"
#include "runtime/open_devices.h"
#include "runtime/quarantine.h"
#include "runtime/self_test.h"

namespace rc::api {
namespace {

using runtime::ReportedDevice;

// The devices of the chain, each once: of "auto" and "gpu" those that might be
// opened, of a named backend the quarantined ones too.
std::vector<ReportedDevice> tested_devices(const std::string& spec,
                                           uint64_t required_memory) {
  std::vector<ReportedDevice> devices =
      runtime::candidate_devices(spec, required_memory);
  for (const runtime::SpecItem& item : runtime::parse_spec(spec)) {
    const runtime::PluginEntry* plugin =
        runtime::PluginList::instance().find(item.name);
    if (item.is_any() || plugin == nullptr) continue;
    for (ReportedDevice& device : runtime::reported_devices(*plugin).devices) {
      const bool asked = !item.index || *item.index == device.index;
      if (asked && !device.reason.empty()) {
        devices.push_back(std::move(device));
      }
    }
  }
  return devices;
}

// Of the devices one after another.
class DeviceTest {
 public:
  DeviceTest(rc_progress_callback progress, void* user)
      : progress_(progress), user_(user) {}

  std::string run(const OpenRequest& request) {
    const std::string spec = runtime::spec_or_default(request.spec());
    const runtime::DeviceOptions options = request.device_options();
    runtime::check(options);
    runtime::PluginList::instance().load_modules();
    const auto devices =
        tested_devices(spec, request.options().required_memory);
    if (devices.empty()) {
      fail(RC_E_NOT_FOUND, "no device for ", quote(spec),
           " is here; rc_discover lists those that are");
    }
    count_ = devices.size();
    std::string list;
    for (; done_ < count_; ++done_) {
      list.append(list.empty() ? "" : ",").append(of(devices[done_], options));
    }
    return cat("{\"devices\":[", list, "]}");
  }

 private:
  using Outcomes = std::vector<runtime::SelfTest::Outcome>;

  std::string of(const ReportedDevice& device,
                 const runtime::DeviceOptions& options) {
    std::string failure = device.reason;
    Outcomes outcomes;
    const auto start = std::chrono::steady_clock::now();
    if (failure.empty()) {
      try {
        on_deep_stack([&] { outcomes = outcomes_of(device, options); });
      } catch (const Error& error) {
        switch (error.status()) {
          case RC_E_CANCELLED:
          case RC_E_OUT_OF_MEMORY:
          case RC_E_INTERNAL:  // the callback threw
            throw;
        }
        failure = error.message();
      }
    }
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    std::string tests;
    for (const auto& outcome : outcomes) {
      const bool failed = !outcome.failure.empty();
      tests += cat(tests.empty() ? "" : ",",
                   "{\"test\":", json_text(outcome.test), ",\"outcome\":",
                   failed            ? "\"failed\""
                   : outcome.lacking ? "\"lacking\""
                                     : "\"passed\"",
                   ",\"reason\":", failed ? json_text(outcome.failure) : "null",
                   "}");
    }
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3f", seconds.count());
    return cat("{\"id\":", json_text(device.id()),
               ",\"failure\":", failure.empty() ? "null" : json_text(failure),
               ",\"seconds\":", digits, ",\"tests\":[", tests, "]}");
  }

  Outcomes outcomes_of(const ReportedDevice& reported,
                       const runtime::DeviceOptions& options) {
    const auto device = runtime::open_device(reported, options);
    const auto go_on = [&](double fraction) {
      if (report_progress(progress_, user_,
                          (static_cast<double>(done_) + fraction) /
                              static_cast<double>(count_))) {
        return;
      }
      fail(RC_E_CANCELLED, "the test of ", reported.id(), " was cancelled");
    };
    if (device->self_test() != nullptr) {
      return device->self_test()->of_everything(go_on);
    }
    return runtime::SelfTest(device, "").of_everything(go_on);
  }

  const rc_progress_callback progress_;
  void* const user_;
  size_t count_ = 0;
  size_t done_ = 0;
};

}  // namespace
}  // namespace rc::api

rc_status rc_device_test(const char* spec, const rc_backend_options* options,
                         rc_progress_callback progress, void* user,
                         char** json) {
  return rc::api::guard([&] {
    const rc::api::OpenRequest request(spec, options);
    const std::string text = rc::api::DeviceTest(progress, user).run(request);
    if (json != nullptr) *json = rc::api::return_text(text).release();
  });
}

rc_status rc_quarantine_forget(const char* spec, int32_t* lifted) {
  return rc::api::guard([&] {
    const int count =
        rc::runtime::forget_quarantine(spec == nullptr ? "" : spec);
    if (lifted != nullptr) *lifted = count;
  });
}
