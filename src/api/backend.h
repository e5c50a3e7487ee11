// The handles of an opened backend and of a list of devices.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/device_text.h"
#include "api/handle.h"
#include "api/handle_account.h"
#include "compute/tensor.h"
#include "runcible/backend.h"
#include "runtime/device_chain.h"
#include "runtime/explain.h"
#include "runtime/search_progress.h"

namespace rc::api {

// The devices that a spec was resolved to.
struct OpenedDevice {
  const runtime::DeviceChain chain;
  const std::shared_ptr<const DeviceText> text;
  const runtime::Explanation explanation;
  const std::shared_ptr<compute::Context> compute;
  // nullptr: tensors lie on the opened device.
  const std::shared_ptr<compute::Placement> placement;
};

}  // namespace rc::api

struct rc_backend {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kBackend;

  const std::shared_ptr<rc::api::HandleAccount> account;
  // With which it was opened; without `progress`.
  const rc_backend_options options;

  rc_backend(std::shared_ptr<rc::api::HandleAccount> account,
             const rc_backend_options& options,
             std::shared_ptr<rc::api::OpenedDevice> opened)
      : account(std::move(account)),
        options(options),
        opened_(std::move(opened)) {}

  // The device that it is on now.
  std::shared_ptr<rc::api::OpenedDevice> opened() const {
    const std::lock_guard lock(mutex);
    return opened_;
  }
  // Where new tensors lie.
  std::shared_ptr<rc::compute::Context> home() const {
    const auto now = opened();
    return now->placement == nullptr ? now->compute : now->placement->home();
  }

  mutable std::mutex mutex;
  // The texts that rc_backend_explain and rc_backend_device have returned so
  // far, which live as long as the handle.
  std::set<std::string> explanations;  // JSON
  std::vector<std::shared_ptr<const rc::api::DeviceText>> texts;
  // While it is switched.
  std::mutex switching;

  // Makes room, so that exchanging the device cannot fail.
  void prepare_exchange() {
    const std::lock_guard lock(mutex);
    texts.reserve(texts.size() + 1);
  }
  // Goes on on another device; gives the one before.
  std::shared_ptr<rc::api::OpenedDevice> exchange(
      std::shared_ptr<rc::api::OpenedDevice> next) noexcept {
    const std::lock_guard lock(mutex);
    texts.push_back(opened_->text);
    return std::exchange(opened_, std::move(next));
  }

  // Tensors outlive the handle; what is kept for others does not.
  ~rc_backend() { opened()->compute->pool()->close(); }

 private:
  std::shared_ptr<rc::api::OpenedDevice> opened_;
};

struct rc_device_list {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kDeviceList;
  std::vector<rc::api::DeviceText> devices;
  std::string automatic;
};

namespace rc::api {

std::unique_ptr<rc_device_list> list_devices(runtime::SearchProgress progress);

// The arguments of rc_backend_open, checked and copied.
class OpenRequest {
 public:
  OpenRequest(const char* spec, const rc_backend_options* given);
  // With options that were configured before.
  OpenRequest(const char* spec, const rc_backend_options& configured);

  // `stopped` is another who may want an end.
  std::unique_ptr<rc_backend> open(
      const std::function<bool()>& stopped = {}) const;
  // The device alone, on a given account.
  std::shared_ptr<OpenedDevice> open_device(
      const std::shared_ptr<HandleAccount>& account,
      const std::function<bool()>& stopped) const;

  const rc_backend_options& options() const { return options_; }
  runtime::DeviceOptions device_options() const;
  const std::string& spec() const { return spec_; }

 private:
  // nullptr: everything is done on the opened device.
  std::shared_ptr<compute::Placement> place(
      const compute::Context& compute, const runtime::DeviceChain& chain,
      const runtime::Selected& selected,
      const std::vector<runtime::SpecItem>& allowed) const;
  rc_backend_options options_;  // without the tenant
  std::shared_ptr<Tenant> tenant_;
  std::string spec_;
};

}  // namespace rc::api
