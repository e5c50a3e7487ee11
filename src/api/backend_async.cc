// Looking for devices and opening one on a thread of its own.
#include <utility>

#include "api/async_work.h"
#include "api/backend.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/progress.h"

namespace rc::api {
namespace {

// A search that both its caller and the loop can cancel.
class AsyncSearch : public AsyncWork {
 protected:
  AsyncSearch(std::shared_ptr<engine::Loop> loop, const char* name,
              const char* function, rc_progress_callback progress,
              void* progress_user)
      : AsyncWork(std::move(loop), name, function),
        progress_(progress),
        progress_user_(progress_user) {}

  runtime::SearchProgress progress() {
    return runtime::SearchProgress([this](double fraction) {
      return !stopped() && report_progress(progress_, progress_user_, fraction);
    });
  }

 private:
  const rc_progress_callback progress_;
  void* const progress_user_;
};

class AsyncDiscovery final : public AsyncSearch {
 public:
  AsyncDiscovery(rc_progress_callback progress, void* progress_user,
                 std::shared_ptr<engine::Loop> loop,
                 rc_discover_callback callback, void* user)
      : AsyncSearch(std::move(loop), "discovery", "rc_discover_async", progress,
                    progress_user),
        callback_(callback),
        user_(user) {}

  ~AsyncDiscovery() override { release_handle(list_, "list"); }

 private:
  void work() override { list_ = add_handle(list_devices(progress())); }

  void tell(rc_status status, const char* message) override {
    // The receiver's, however it ends.
    callback_(user_, status, message, std::exchange(list_, nullptr));
  }

  const rc_discover_callback callback_;
  void* const user_;
  rc_device_list* list_ = nullptr;
};

class AsyncOpen final : public AsyncSearch {
 public:
  AsyncOpen(OpenRequest request, rc_progress_callback progress,
            void* progress_user, std::shared_ptr<engine::Loop> loop,
            rc_backend_callback callback, void* user)
      : AsyncSearch(std::move(loop), "opening", "rc_backend_open_async",
                    progress, progress_user),
        request_(std::move(request)),
        callback_(callback),
        user_(user) {}

  ~AsyncOpen() override { release_handle(backend_, "backend"); }

 private:
  void work() override { backend_ = add_handle(request_.open(progress())); }

  void tell(rc_status status, const char* message) override {
    // The receiver's, however it ends.
    callback_(user_, status, message, std::exchange(backend_, nullptr));
  }

  const OpenRequest request_;
  const rc_backend_callback callback_;
  void* const user_;
  rc_backend* backend_ = nullptr;
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
                                rc_progress_callback progress,
                                void* progress_user, rc_loop* loop,
                                rc_backend_callback callback, void* user) {
  return guard([&] {
    rc::api::OpenRequest request(spec, options);
    need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<rc::api::AsyncOpen>(
        std::move(request), progress, progress_user, rc::api::loop_or_own(loop),
        callback, user));
  });
}
