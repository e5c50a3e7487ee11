// Searches for devices and opens one on a dedicated thread.
#include <memory>
#include <string>
#include <utility>

#include "api/async_work.h"
#include "api/backend.h"
#include "api/configured.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/progress.h"
#include "api/switch.h"

namespace rc::api {
namespace {

class AsyncDiscovery final : public AsyncWork {
 public:
  AsyncDiscovery(rc_progress_callback progress, void* progress_user,
                 std::shared_ptr<engine::Loop> loop,
                 rc_discover_callback callback, void* user)
      : AsyncWork(std::move(loop), "discovery", "rc_discover_async"),
        progress_(progress),
        progress_user_(progress_user),
        callback_(callback),
        user_(user) {}

  ~AsyncDiscovery() override { release_handle(list_, "list"); }

 private:
  void work() override {
    list_ = add_handle(list_devices(runtime::SearchProgress([&](double done) {
      return !stopped() && report_progress(progress_, progress_user_, done);
    })));
  }

  void deliver(rc_status status, const char* message) override {
    // The receiver's, however it ends.
    callback_(user_, status, message, std::exchange(list_, nullptr));
  }

  const rc_progress_callback progress_;
  void* const progress_user_;
  const rc_discover_callback callback_;
  void* const user_;
  rc_device_list* list_ = nullptr;
};

class AsyncOpen final : public AsyncWork {
 public:
  AsyncOpen(const char* spec, const GivenOptions<rc_backend_options>& given,
            std::shared_ptr<engine::Loop> loop, rc_backend_callback callback,
            void* user)
      : AsyncWork(std::move(loop), "opening", "rc_backend_open_async"),
        spec_(spec == nullptr ? "" : spec),
        options_(given.options),
        tenant_(options_.tenant == nullptr ? nullptr
                                           : rc_tenant_retain(options_.tenant),
                rc_tenant_release),
        callback_(callback),
        user_(user) {}

  ~AsyncOpen() override { release_handle(backend_, "backend"); }

 private:
  void work() override {
    const OpenRequest request(spec_.c_str(), &options_);
    backend_ = add_handle(request.open([&] { return stopped(); }));
  }

  void deliver(rc_status status, const char* message) override {
    // The receiver's, however it ends.
    callback_(user_, status, message, std::exchange(backend_, nullptr));
  }

  const std::string spec_;
  const rc_backend_options options_;
  // Kept for the options, whose caller may release it meanwhile.
  const std::unique_ptr<rc_tenant, decltype(&rc_tenant_release)> tenant_;
  const rc_backend_callback callback_;
  void* const user_;
  rc_backend* backend_ = nullptr;
};

class AsyncSwitch final : public AsyncWork {
 public:
  AsyncSwitch(SwitchRequest request, rc_backend* backend,
              std::shared_ptr<engine::Loop> loop,
              rc_backend_switch_callback callback, void* user)
      : AsyncWork(std::move(loop), "switching", "rc_backend_switch_async"),
        request_(std::move(request)),
        backend_(rc_backend_retain(backend), rc_backend_release),
        callback_(callback),
        user_(user) {}

 private:
  void work() override {
    if (backend_ == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "backend: it was released");
    }
    request_.run(*backend_, [&] { return stopped(); });
  }

  void deliver(rc_status status, const char* message) override {
    callback_(user_, status, message);
  }

  const SwitchRequest request_;
  const std::unique_ptr<rc_backend, decltype(&rc_backend_release)> backend_;
  const rc_backend_switch_callback callback_;
  void* const user_;
};

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::need_pointer;

rc_status rc_discover_async(rc_progress_callback progress, void* progress_user,
                            rc_loop* loop, rc_discover_callback callback,
                            void* user) {
  return guard([&] {
    need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<rc::api::AsyncDiscovery>(
        progress, progress_user, rc::api::loop_or_own(loop), callback, user));
  });
}

rc_status rc_backend_open_async(const char* spec,
                                const rc_backend_options* options,
                                rc_loop* loop, rc_backend_callback callback,
                                void* user) {
  return guard([&] {
    const rc::api::GivenOptions<rc_backend_options> given(options);
    // Options that the caller has set are checked at once; files are read
    // later.
    const rc::api::OpenRequest checked(spec, &given.known);
    need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<rc::api::AsyncOpen>(
        spec, given, rc::api::loop_or_own(loop), callback, user));
  });
}

rc_status rc_backend_switch_async(rc_backend* backend, const char* spec,
                                  const rc_backend_switch_options* options,
                                  rc_loop* loop,
                                  rc_backend_switch_callback callback,
                                  void* user) {
  return guard([&] {
    rc::api::SwitchRequest request(backend, spec, options);
    need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<rc::api::AsyncSwitch>(
        std::move(request), backend, rc::api::loop_or_own(loop), callback,
        user));
  });
}
