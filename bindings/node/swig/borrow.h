// JavaScript memory that tensors borrow; included by the wrapper alone.
#ifndef RUNCIBLE_NODE_BORROW_H
#define RUNCIBLE_NODE_BORROW_H

#include <napi.h>
#include <runcible/runcible.h>

#include <memory>
#include <utility>

#include "environment.h"

// One loan: keeps an object until the library, on any thread, reports that the
// loan has ended.
class runcible_loan {
 public:
  static rc_status borrow(rc_backend* backend, rc_dtype dtype,
                          const int64_t* shape, int32_t rank, const void* data,
                          size_t bytes, const Napi::Value& owner,
                          rc_tensor** tensor) {
    auto loan = std::unique_ptr<runcible_loan>(new runcible_loan(owner));
    const rc_status status =
        rc_tensor_borrow(backend, dtype, shape, rank, const_cast<void*>(data),
                         bytes, on_end, loan.get(), tensor);
    if (status == RC_OK) {
      static_cast<void>(loan.release());
    } else {
      napi_delete_reference(owner.Env(), loan->reference_);
    }
    return status;
  }

 private:
  explicit runcible_loan(const Napi::Value& owner)
      : returns_(runcible_environment::of(owner.Env()).returns()) {
    if (napi_create_reference(owner.Env(), owner, 1, &reference_) != napi_ok) {
      throw Napi::Error::New(owner.Env(),
                             "no reference to the borrowed memory");
    }
  }

  static void on_end(void* user) {
    const std::unique_ptr<runcible_loan> loan(
        static_cast<runcible_loan*>(user));
    loan->returns_->give_back(loan->reference_);
  }

  const std::shared_ptr<runcible_returns> returns_;
  napi_ref reference_ = nullptr;
};

#endif  // RUNCIBLE_NODE_BORROW_H
