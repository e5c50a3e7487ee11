// Loading a model on a thread of its own.
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>

#include "api/backend.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/model.h"
#include "base/callback.h"
#include "base/library_thread.h"
#include "base/log.h"

namespace rc::api {
namespace {

// One load under way. The thread owns it; then the loop does, as the delivery
// of its result, so that reporting the result needs no memory.
class AsyncLoad final : public engine::Delivery {
 public:
  AsyncLoad(LoadRequest request, std::shared_ptr<engine::Loop> loop,
            rc_model_callback callback, void* user)
      : request_(std::move(request)),
        loop_(std::move(loop)),
        callback_(callback),
        user_(user),
        stop_(std::make_shared<Stop>()) {
    loop_->enter(stop_);
    entered_ = true;
  }

  ~AsyncLoad() override {
    // Not delivered: the loop was abandoned, or the thread did not start.
    if (entered_) loop_->leave(stop_.get());
    release_handle(model_, "model");
  }

  // The progress callback may end the thread.
  void load() {
    status_ = RC_E_INTERNAL;
    std::strncpy(message_,
                 "the progress callback ended the loading thread; it has to "
                 "return",
                 sizeof(message_) - 1);
    status_ = guard([&] {
      model_ =
          add_handle(request_.load([this] { return !stop_->wanted.load(); }));
    });
    std::strncpy(message_, status_ == RC_OK ? "" : last_error_message(),
                 sizeof(message_) - 1);
  }

  // Hands the load over to its loop.
  static void deliver(std::unique_ptr<AsyncLoad> load) noexcept {
    const std::shared_ptr<engine::Loop> loop = load->loop_;
    loop->post(std::move(load));
  }

  void run() override {
    rc_model* model = model_;
    model_ = nullptr;  // the receiver's, however it ends
    call_out(
        "the callback of rc_model_load_async",
        [&] { callback_(user_, status_, message_, model); },
        [](const char* message) { log(RC_LOG_ERROR, message); });
    loop_->leave(stop_.get());
    entered_ = false;
  }

 private:
  struct Stop final : engine::InFlight {
    void cancel() noexcept override { wanted.store(true); }
    std::atomic<bool> wanted{false};
  };

  const LoadRequest request_;
  const std::shared_ptr<engine::Loop> loop_;
  const rc_model_callback callback_;
  void* const user_;
  const std::shared_ptr<Stop> stop_;
  bool entered_ = false;
  rc_status status_ = RC_OK;
  rc_model* model_ = nullptr;
  char message_[1024] = "";
};

}  // namespace
}  // namespace rc::api

rc_status rc_model_load_async(rc_backend* backend, const char* path,
                              const rc_model_options* options, rc_loop* loop,
                              rc_model_callback callback, void* user) {
  using rc::api::AsyncLoad;
  return rc::api::guard([&] {
    rc::api::LoadRequest request(backend, path, options);
    if (callback == nullptr) {
      rc::fail(RC_E_INVALID_ARGUMENT, "callback: NULL");
    }
    auto load = std::make_unique<AsyncLoad>(
        std::move(request), rc::api::loop_or_own(loop), callback, user);
    try {
      // A raw pointer, for a thread that did not start leaves `load` alone.
      std::thread([under_way = load.get()] {
        rc::become_library_thread();
        struct Delivering {
          std::unique_ptr<AsyncLoad> load;
          ~Delivering() { AsyncLoad::deliver(std::move(load)); }
        } const delivering{std::unique_ptr<AsyncLoad>(under_way)};
        delivering.load->load();
      }).detach();
    } catch (const std::system_error& error) {
      rc::fail(RC_E_OUT_OF_MEMORY,
               "the loading thread did not start: ", error.what());
    }
    static_cast<void>(load.release());  // the thread's now
  });
}
