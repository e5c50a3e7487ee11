// Loads a model on a dedicated thread.
#include <optional>
#include <string>
#include <utility>

#include "api/async_work.h"
#include "api/backend.h"
#include "api/configured.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/model.h"
#include "api/model_memory.h"
#include "api/model_path.h"

namespace rc::api {
namespace {

class AsyncLoad final : public AsyncWork {
 public:
  // `memory` holds the file of a request without a path.
  AsyncLoad(LoadRequest request, const GivenOptions<rc_model_options>& given,
            std::optional<ModelMemory> memory,
            std::shared_ptr<engine::Loop> loop, rc_model_callback callback,
            void* user)
      : AsyncWork(std::move(loop), "loading", "rc_model_load_async"),
        request_(std::move(request)),
        memory_(std::move(memory)),
        options_(given.options),
        callback_(callback),
        user_(user) {
    if (options_.quantize != nullptr) {
      quantize_ = options_.quantize;
      options_.quantize = quantize_.c_str();
    }
  }

  ~AsyncLoad() override { release_handle(model_, "model"); }

 private:
  void work() override {
    request_.take(&options_);
    if (memory_) request_.given = memory_->look();
    model_ = add_handle(request_.load([this] { return !stopped(); }));
  }

  void deliver(rc_status status, const char* message) override {
    rc_model* model = model_;
    model_ = nullptr;  // the receiver's, however it ends
    callback_(user_, status, message, model);
  }

  LoadRequest request_;
  const std::optional<ModelMemory> memory_;
  std::string quantize_;
  rc_model_options options_;
  const rc_model_callback callback_;
  void* const user_;
  rc_model* model_ = nullptr;
};

void start_load(rc_backend* backend, const char* path,
                std::optional<ModelMemory> memory,
                const rc_model_options* options, rc_loop* loop,
                rc_model_callback callback, void* user) {
  const GivenOptions<rc_model_options> given(options);
  // Options that the caller has set are checked at once; files are read later.
  LoadRequest request(backend, &given.known);
  if (!memory) request.path = need_model_path(path);
  if (callback == nullptr) fail(RC_E_INVALID_ARGUMENT, "callback: NULL");
  AsyncWork::start(
      std::make_unique<AsyncLoad>(std::move(request), given, std::move(memory),
                                  loop_or_own(loop), callback, user));
}

}  // namespace
}  // namespace rc::api

rc_status rc_model_load_async(rc_backend* backend, const char* path,
                              const rc_model_options* options, rc_loop* loop,
                              rc_model_callback callback, void* user) {
  return rc::api::guard([&] {
    rc::api::start_load(backend, path, {}, options, loop, callback, user);
  });
}

rc_status rc_model_load_memory_async(rc_backend* backend,
                                     const rc_model_memory* memory,
                                     const rc_model_options* options,
                                     rc_loop* loop, rc_model_callback callback,
                                     void* user) {
  return rc::api::guard([&] {
    rc::api::start_load(backend, nullptr, rc::api::ModelMemory(memory).kept(),
                        options, loop, callback, user);
  });
}
