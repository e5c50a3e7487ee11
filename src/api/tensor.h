// The handle of a tensor.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "api/guard.h"
#include "api/handle.h"
#include "compute/destination.h"
#include "compute/tensor.h"
#include "runcible/tensor.h"

struct rc_tensor {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kTensor;
  static rc::api::HandleSlots& slots() noexcept;
  static void* operator new(size_t) { return slots().allocate(); }
  static void operator delete(void* memory) noexcept { slots().free(memory); }
  // A reference to the handle.
  struct Release {
    void operator()(rc_tensor* tensor) const { rc_tensor_release(tensor); }
  };
  using Reference = std::unique_ptr<rc_tensor, Release>;

  explicit rc_tensor(rc::compute::Tensor tensor, Reference target = nullptr)
      : tensor(std::move(tensor)), target(std::move(target)) {}

  const rc::compute::Tensor tensor;
  // The target of ops that have this as their first operand, or NULL.
  const Reference target;
  // The name of its device, once it was asked for.
  std::once_flag named;
  std::string device;
};

inline rc::api::HandleSlots& rc_tensor::slots() noexcept {
  // Never destroyed: handles are used and released while the process ends.
  alignas(rc::api::HandleSlots) static std::byte
      storage[sizeof(rc::api::HandleSlots)];
  static auto* const all =
      new (storage) rc::api::HandleSlots(sizeof(rc_tensor));
  return *all;
}

namespace rc::api {

// Runs a body that makes a tensor; *out is a handle to it, or NULL.
template <class Body>
rc_status guard_tensor(rc_tensor** out, const char* name,
                       Body&& body) noexcept {
  return guard_handle(out, name, [&] {
    return add_handle(std::make_unique<rc_tensor>(body()));
  });
}

// The same of an op, the function "rc_op_...", whose first operand is `first`:
// body(its tensor, destination). Where that has a target *result is it.
template <class Body>
rc_status guard_op(const char* op, rc_tensor* first, const char* name,
                   rc_tensor** result, Body&& body) noexcept {
  return guard_handle(result, "result", [&] {
    const rc_tensor& operand = need(first, name);
    if (operand.target == nullptr) {
      return add_handle(
          std::make_unique<rc_tensor>(body(operand.tensor, nullptr)));
    }
    const compute::Destination into{operand.target->tensor,
                                    op + sizeof "rc_op_" - 1};
    compute::deliver(body(operand.tensor, &into), into);
    return rc_tensor_retain(operand.target.get());
  });
}

inline const compute::Tensor& need_tensor(rc_tensor* tensor, const char* name) {
  return need(tensor, name).tensor;
}

// NULL for NULL.
inline const compute::Tensor* optional_tensor(rc_tensor* tensor,
                                              const char* name) {
  return tensor == nullptr ? nullptr : &need_tensor(tensor, name);
}

inline compute::Shape need_shape(const int64_t* shape, int32_t rank) {
  need_range<int32_t>(rank, 1, RC_TENSOR_MAX_RANK, "rank");
  need_pointer(shape, "shape");
  return {shape, shape + rank};
}

}  // namespace rc::api
