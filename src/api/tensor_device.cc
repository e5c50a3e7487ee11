// Where tensors lie, moving them, and where ops would run.
#include <utility>

#include "api/async_work.h"
#include "api/backend.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/returned_memory.h"
#include "api/tensor.h"
#include "api/tensor_context.h"

namespace rc::api {
namespace {

// The arguments of rc_tensor_to, checked and held.
class MoveRequest {
 public:
  MoveRequest(rc_tensor* tensor, rc_backend* backend, const char* device)
      : tensor_(need_tensor(tensor, "tensor")),
        device_(device == nullptr ? "" : device) {
    if (backend == nullptr) {
      placement_ = tensor_.context->placement();
      opened_ = tensor_.context;
    } else {
      const rc_backend& handle = need(backend, "backend");
      const auto now = handle.opened();
      placement_ = now->placement;
      opened_ = now->compute;
    }
  }

  compute::Tensor run() const { return compute::move(tensor_, target()); }

 private:
  std::shared_ptr<compute::Context> target() const {
    return context_of(placement_, opened_, device_);
  }

  const compute::Tensor tensor_;
  const std::string device_;
  std::shared_ptr<compute::Placement> placement_;
  std::shared_ptr<compute::Context> opened_;
};

class AsyncMove final : public AsyncWork {
 public:
  AsyncMove(MoveRequest request, std::shared_ptr<engine::Loop> loop,
            rc_tensor_callback callback, void* user)
      : AsyncWork(std::move(loop), "moving", "rc_tensor_to_async"),
        request_(std::move(request)),
        callback_(callback),
        user_(user) {}

  ~AsyncMove() override { release_handle(moved_, "tensor"); }

 private:
  void work() override {
    moved_ = add_handle(std::make_unique<rc_tensor>(request_.run()));
  }

  void deliver(rc_status status, const char* message) override {
    // The receiver's, however it ends.
    callback_(user_, status, message, std::exchange(moved_, nullptr));
  }

  const MoveRequest request_;
  const rc_tensor_callback callback_;
  void* const user_;
  rc_tensor* moved_ = nullptr;
};

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::need;
using rc::api::need_pointer;

rc_status rc_tensor_device(rc_tensor* tensor, const char** device) {
  return guard([&] {
    rc_tensor& found = need(tensor, "tensor");
    need_pointer(device, "device");
    std::call_once(found.named, [&] {
      found.device = found.tensor.context->device()->id();
    });
    *device = found.device.c_str();
  });
}

rc_status rc_tensor_to(rc_tensor* tensor, rc_backend* backend,
                       const char* device_id, rc_tensor** moved) {
  return rc::api::guard_tensor(moved, "moved", [&] {
    return rc::api::MoveRequest(tensor, backend, device_id).run();
  });
}

rc_status rc_tensor_to_async(rc_tensor* tensor, rc_backend* backend,
                             const char* device_id, rc_loop* loop,
                             rc_tensor_callback callback, void* user) {
  return guard([&] {
    rc::api::MoveRequest request(tensor, backend, device_id);
    need_pointer(reinterpret_cast<const void*>(callback), "callback");
    rc::api::AsyncWork::start(std::make_unique<rc::api::AsyncMove>(
        std::move(request), rc::api::loop_or_own(loop), callback, user));
  });
}

rc_status rc_op_choose(rc_tensor* outline, char** json) {
  return guard([&] {
    const rc::compute::Tensor& found = rc::api::need_tensor(outline, "outline");
    need_pointer(json, "json");
    if (!found.outline()) {
      rc::fail(RC_E_INVALID_ARGUMENT, "outline: the ", found.text(),
               " is none; make one of its operands by rc_tensor_outline");
    }
    if (found.storage->choice() == nullptr) {
      rc::fail(RC_E_INVALID_ARGUMENT, "outline: no op gave the ", found.text());
    }
    *json = rc::api::return_text(found.storage->choice()->json()).release();
  });
}
