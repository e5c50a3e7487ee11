// Tensors of the caller's memory, and memory of tensors.
#include <memory>

#include "api/backend.h"
#include "api/tensor.h"
#include "base/callback.h"
#include "base/log.h"

namespace rc::api {
namespace {

// Notifies the caller that its memory is free again.
class Loan {
 public:
  Loan(rc_tensor_borrow_callback ended, void* user)
      : ended_(ended), user_(user) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (ended_ == nullptr) return;
    call_out(
        "the callback of rc_tensor_borrow", [&] { ended_(user_); },
        [](const char* message) { log(RC_LOG_ERROR, message); });
  }
  // Nothing was lent.
  void forget() { ended_ = nullptr; }

 private:
  rc_tensor_borrow_callback ended_;
  void* user_;
};

}  // namespace
}  // namespace rc::api

rc_status rc_tensor_borrow(rc_backend* backend, rc_dtype dtype,
                           const int64_t* shape, int32_t rank, void* data,
                           size_t bytes, rc_tensor_borrow_callback ended,
                           void* user, rc_tensor** tensor) {
  return rc::api::guard_handle(tensor, "tensor", [&] {
    const auto context = rc::api::need(backend, "backend").home();
    rc::api::need_array(data, bytes, 1, "data");
    const auto loan = std::make_shared<rc::api::Loan>(ended, user);
    try {
      return rc::api::add_handle(std::make_unique<rc_tensor>(
          rc::compute::borrow(context, dtype, rc::api::need_shape(shape, rank),
                              {static_cast<std::byte*>(data), bytes}, loan)));
    } catch (...) {
      loan->forget();
      throw;
    }
  });
}

rc_status rc_tensor_memory(rc_tensor* tensor, void** data) {
  return rc::api::guard([&] {
    rc::api::need_pointer(data, "data");
    *data = nullptr;
    *data = rc::compute::memory_of(rc::api::need_tensor(tensor, "tensor"));
  });
}
