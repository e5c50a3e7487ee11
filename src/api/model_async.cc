// Loading a model on a thread of its own.
#include "api/async_work.h"
#include "api/backend.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/model.h"
#include "api/model_memory.h"

namespace rc::api {
namespace {

class AsyncLoad final : public AsyncWork {
 public:
  AsyncLoad(LoadRequest request, std::shared_ptr<engine::Loop> loop,
            rc_model_callback callback, void* user)
      : AsyncWork(std::move(loop), "loading", "rc_model_load_async"),
        request_(std::move(request)),
        callback_(callback),
        user_(user) {}

  ~AsyncLoad() override { release_handle(model_, "model"); }

 private:
  void work() override {
    model_ = add_handle(request_.load([this] { return !stopped(); }));
  }

  void tell(rc_status status, const char* message) override {
    rc_model* model = model_;
    model_ = nullptr;  // the receiver's, however it ends
    callback_(user_, status, message, model);
  }

  const LoadRequest request_;
  const rc_model_callback callback_;
  void* const user_;
  rc_model* model_ = nullptr;
};

}  // namespace
}  // namespace rc::api

namespace {

void start_load(rc::api::LoadRequest request, rc_loop* loop,
                rc_model_callback callback, void* user) {
  if (callback == nullptr) rc::fail(RC_E_INVALID_ARGUMENT, "callback: NULL");
  rc::api::AsyncWork::start(std::make_unique<rc::api::AsyncLoad>(
      std::move(request), rc::api::loop_or_own(loop), callback, user));
}

}  // namespace

rc_status rc_model_load_async(rc_backend* backend, const char* path,
                              const rc_model_options* options, rc_loop* loop,
                              rc_model_callback callback, void* user) {
  return rc::api::guard([&] {
    start_load(rc::api::LoadRequest(backend, path, options), loop, callback,
               user);
  });
}

rc_status rc_model_load_memory_async(rc_backend* backend,
                                     const rc_model_memory* memory,
                                     const rc_model_options* options,
                                     rc_loop* loop, rc_model_callback callback,
                                     void* user) {
  return rc::api::guard([&] {
    start_load(rc::api::LoadRequest(
                   backend, rc::api::ModelMemory(memory).keep(), options),
               loop, callback, user);
  });
}
