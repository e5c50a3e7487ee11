// Measuring the devices of a chain.
#include "api/backend.h"
#include "api/guard.h"
#include "api/progress.h"
#include "api/returned_memory.h"
#include "base/json_value.h"
#include "base/quote.h"
#include "compute/measure.h"
#include "runtime/candidates.h"
#include "runtime/plugin_list.h"
#include "runtime/registry.h"

namespace rc::api {
namespace {

// Of the devices one after another.
class Calibration {
 public:
  Calibration(rc_progress_callback progress, void* user)
      : progress_(progress), user_(user) {}

  std::string run(const OpenRequest& request) {
    const std::string spec = runtime::spec_or_default(request.spec());
    const runtime::DeviceOptions options = request.device_options();
    runtime::check(options);
    runtime::PluginList::instance().load_modules();
    const auto devices =
        runtime::candidate_devices(spec, request.options().required_memory);
    if (devices.empty()) {
      fail(RC_E_NOT_FOUND, "no device for ", quote(spec),
           " is here; rc_discover lists those that are");
    }
    std::string list;
    for (size_t i = 0; i < devices.size(); ++i) {
      std::string failure;
      const runtime::Calibration* found = nullptr;
      try {
        found =
            compute::calibrate(devices[i], options, true, [&](double fraction) {
              return report_progress(progress_, user_,
                                     (static_cast<double>(i) + fraction) /
                                         static_cast<double>(devices.size()));
            });
      } catch (const Error& error) {
        switch (error.status()) {
          case RC_E_CANCELLED:
          case RC_E_OUT_OF_MEMORY:
          case RC_E_INTERNAL:  // the callback threw
            throw;
        }
        failure = error.message();
      }
      list +=
          cat(list.empty() ? "" : ",", "{\"id\":", json_text(devices[i].id()),
              ",\"failure\":", failure.empty() ? "null" : json_text(failure),
              ",", compute::calibration_json(found), "}");
    }
    return cat("{\"devices\":[", list, "]}");
  }

 private:
  const rc_progress_callback progress_;
  void* const user_;
};

}  // namespace
}  // namespace rc::api

rc_status rc_calibrate(const char* spec, const rc_backend_options* options,
                       rc_progress_callback progress, void* user, char** json) {
  return rc::api::guard([&] {
    const rc::api::OpenRequest request(spec, options);
    const std::string text = rc::api::Calibration(progress, user).run(request);
    if (json != nullptr) *json = rc::api::return_text(text).release();
  });
}
