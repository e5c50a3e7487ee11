// The handle of a tensor.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "api/guard.h"
#include "api/handle.h"
#include "compute/tensor.h"
#include "runcible/tensor.h"

struct rc_tensor {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kTensor;
  explicit rc_tensor(rc::compute::Tensor tensor) : tensor(std::move(tensor)) {}

  const rc::compute::Tensor tensor;
  // The name of its device, once it was asked for.
  std::once_flag named;
  std::string device;
};

namespace rc::api {

// Runs a body that makes a tensor; *out is a handle to it, or NULL.
template <class Body>
rc_status guard_tensor(rc_tensor** out, const char* name,
                       Body&& body) noexcept {
  return guard_handle(out, name, [&] {
    return add_handle(std::make_unique<rc_tensor>(body()));
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
