// The handles of an opened backend and of a list of devices.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "api/device_text.h"
#include "api/handle.h"
#include "api/tenant.h"
#include "compute/tensor.h"
#include "runcible/backend.h"
#include "runtime/device_chain.h"
#include "runtime/explain.h"
#include "runtime/search_progress.h"

struct rc_backend {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kBackend;

  const rc::runtime::DeviceChain chain;
  const std::shared_ptr<rc::api::Tenant> tenant;
  const int64_t timeout_ms;
  const rc::api::DeviceText text;
  const rc::runtime::Explanation explanation;
  const std::shared_ptr<rc::compute::Context> compute;
  // nullptr: tensors lie on the opened device.
  const std::shared_ptr<rc::compute::Placement> placement;
  // What rc_backend_explain has given so far, which lives as long as the
  // handle.
  std::mutex mutex;
  std::set<std::string> explanations;  // JSON

  // Where new tensors lie.
  std::shared_ptr<rc::compute::Context> home() const {
    return placement == nullptr ? compute : placement->home();
  }

  // Tensors outlive the handle; what is kept for others does not.
  ~rc_backend() { compute->pool()->close(); }
};

struct rc_device_list {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kDeviceList;
  std::vector<rc::api::DeviceText> devices;
  std::string automatic;
};

namespace rc::api {

std::unique_ptr<rc_device_list> list_devices(runtime::SearchProgress progress);

// What rc_backend_open was asked for, checked and copied.
class OpenRequest {
 public:
  OpenRequest(const char* spec, const rc_backend_options* given);

  // `stopped` is another who may want an end.
  std::unique_ptr<rc_backend> open(
      const std::function<bool()>& stopped = {}) const;

  const rc_backend_options& options() const { return options_; }
  const std::string& spec() const { return spec_; }

 private:
  // nullptr: everything is done on the opened device.
  std::shared_ptr<compute::Placement> place(
      const compute::Context& compute, const runtime::DeviceChain& chain,
      const runtime::Selected& selected) const;
  rc_backend_options options_;
  std::string spec_;
};

}  // namespace rc::api
