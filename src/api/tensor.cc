#include "api/tensor.h"

#include <cmath>

#include "api/backend.h"
#include "api/options.h"

namespace rc::api {
namespace {

constexpr rc_random_options kRandomDefaults = RC_RANDOM_OPTIONS_INIT;

void need_finite(float value, const char* name) {
  if (!std::isfinite(value)) {
    fail(RC_E_INVALID_ARGUMENT, name, ": ", value, " is not finite");
  }
}

compute::RandomNumbers random_numbers(const rc_random_options& options) {
  need_range<int32_t>(options.distribution, RC_RANDOM_NORMAL, RC_RANDOM_UNIFORM,
                      "options->distribution");
  need_finite(options.mean, "options->mean");
  need_finite(options.deviation, "options->deviation");
  need_finite(options.low, "options->low");
  need_finite(options.high, "options->high");
  if (options.deviation < 0) {
    fail(RC_E_INVALID_ARGUMENT, "options->deviation: ", options.deviation,
         " is negative");
  }
  if (options.low > options.high) {
    fail(RC_E_INVALID_ARGUMENT, "options->low: ", options.low,
         " is above options->high, ", options.high);
  }
  compute::RandomNumbers numbers;
  numbers.seed = options.seed;
  numbers.uniform = options.distribution == RC_RANDOM_UNIFORM;
  numbers.mean = options.mean;
  numbers.deviation = options.deviation;
  numbers.low = options.low;
  numbers.high = options.high;
  return numbers;
}

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_tensor;
using rc::api::need;
using rc::api::need_array;
using rc::api::need_shape;
using rc::api::need_tensor;

rc_status rc_tensor_create(rc_backend* backend, rc_dtype dtype,
                           const int64_t* shape, int32_t rank,
                           rc_tensor** tensor) {
  return guard_tensor(tensor, "tensor", [&] {
    return rc::compute::make_tensor(need(backend, "backend").home(), dtype,
                                    need_shape(shape, rank));
  });
}

rc_status rc_tensor_from_data(rc_backend* backend, rc_dtype dtype,
                              const int64_t* shape, int32_t rank,
                              const void* data, size_t bytes,
                              rc_tensor** tensor) {
  return guard_tensor(tensor, "tensor", [&] {
    const auto context = need(backend, "backend").home();
    need_array(data, bytes, 1, "data");
    return rc::compute::from_data(context, dtype, need_shape(shape, rank),
                                  {static_cast<const std::byte*>(data), bytes});
  });
}

rc_status rc_tensor_ones(rc_backend* backend, rc_dtype dtype,
                         const int64_t* shape, int32_t rank,
                         rc_tensor** tensor) {
  return guard_tensor(tensor, "tensor", [&] {
    return rc::compute::ones(need(backend, "backend").home(), dtype,
                             need_shape(shape, rank));
  });
}

rc_status rc_tensor_arange(rc_backend* backend, rc_dtype dtype, double start,
                           double stop, double step, rc_tensor** tensor) {
  return guard_tensor(tensor, "tensor", [&] {
    return rc::compute::arange(need(backend, "backend").home(), dtype, start,
                               stop, step);
  });
}

void rc_random_options_init(rc_random_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kRandomDefaults);
}

rc_status rc_tensor_random(rc_backend* backend, const int64_t* shape,
                           int32_t rank, const rc_random_options* options,
                           rc_tensor** tensor) {
  return guard_tensor(tensor, "tensor", [&] {
    return rc::compute::random(
        need(backend, "backend").home(), need_shape(shape, rank),
        rc::api::random_numbers(rc::api::read_options(
            options, rc::api::kRandomDefaults, "options")));
  });
}

rc_status rc_tensor_outline(rc_backend* backend, rc_dtype dtype,
                            const int64_t* shape, int32_t rank,
                            rc_tensor** tensor) {
  return guard_tensor(tensor, "tensor", [&] {
    return rc::compute::make_outline(need(backend, "backend").home(), dtype,
                                     need_shape(shape, rank));
  });
}

rc_tensor* rc_tensor_retain(rc_tensor* tensor) {
  return rc::api::retain_handle(tensor, "tensor");
}

void rc_tensor_release(rc_tensor* tensor) {
  rc::api::release_handle(tensor, "tensor");
}

rc_status rc_tensor_dtype(rc_tensor* tensor, rc_dtype* dtype) {
  return guard([&] {
    const rc::compute::Tensor& found = need_tensor(tensor, "tensor");
    rc::api::need_pointer(dtype, "dtype");
    *dtype = found.dtype;
  });
}

rc_status rc_tensor_shape(rc_tensor* tensor, int64_t* shape, int32_t* rank) {
  return guard([&] {
    const rc::compute::Shape& found = need_tensor(tensor, "tensor").shape;
    for (size_t i = 0; shape != nullptr && i < RC_TENSOR_MAX_RANK; ++i) {
      shape[i] = i < found.size() ? found[i] : 0;
    }
    if (rank != nullptr) *rank = static_cast<int32_t>(found.size());
  });
}

rc_status rc_tensor_size(rc_tensor* tensor, int64_t* elements, size_t* bytes) {
  return guard([&] {
    const rc::compute::Tensor& found = need_tensor(tensor, "tensor");
    if (elements != nullptr) *elements = found.elements();
    if (bytes != nullptr) *bytes = found.bytes();
  });
}

rc_status rc_tensor_read(rc_tensor* tensor, void* data, size_t bytes) {
  return guard([&] {
    const rc::compute::Tensor& found = need_tensor(tensor, "tensor");
    need_array(data, bytes, 1, "data");
    rc::compute::read(found, {static_cast<std::byte*>(data), bytes});
  });
}

rc_status rc_tensor_reshape(rc_tensor* tensor, const int64_t* shape,
                            int32_t rank, rc_tensor** view) {
  return guard_tensor(view, "view", [&] {
    return rc::compute::reshape(need_tensor(tensor, "tensor"),
                                need_shape(shape, rank));
  });
}

rc_status rc_tensor_slice(rc_tensor* tensor, int32_t dimension, int64_t begin,
                          int64_t end, int64_t step, rc_tensor** view) {
  return guard_tensor(view, "view", [&] {
    return rc::compute::slice(need_tensor(tensor, "tensor"), dimension, begin,
                              end, step);
  });
}

rc_status rc_tensor_transpose(rc_tensor* tensor, int32_t dimension,
                              int32_t other, rc_tensor** view) {
  return guard_tensor(view, "view", [&] {
    return rc::compute::transpose(need_tensor(tensor, "tensor"), dimension,
                                  other);
  });
}
