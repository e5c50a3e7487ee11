// What steps are made with: arguments of kernels and numbers in their options.
#pragma once

#include <limits>
#include <string>

#include "base/error.h"
#include "opencl/api.h"
#include "runcible/plugin.h"

namespace rc::opencl {

// Dimensions are int in kernels, and so are sums of two of them.
inline constexpr int64_t kLargest = std::numeric_limits<cl_int>::max() / 2;

inline cl_int number(int64_t value) {
  if (value > kLargest) {
    fail(RC_E_UNSUPPORTED, "a dimension of ", value,
         " is beyond the numbers that kernels count with; they go to ",
         kLargest);
  }
  return static_cast<cl_int>(value);
}

template <class T>
void set_argument(cl_kernel kernel, cl_uint index, const T& value) {
  check(api().SetKernelArg(kernel, index, sizeof value, &value),
        "clSetKernelArg");
}

// All arguments of a kernel from `first` on; their types are those of the
// parameters.
template <class... Arguments>
void set_arguments(const Kernel& kernel, cl_uint first,
                   const Arguments&... arguments) {
  (set_argument(kernel.get(), first++, arguments), ...);
}

// A number for the compiler of kernels, in options.
inline std::string definition(const char* name, int64_t value) {
  return cat(" -D", name, "=", value);
}

// Elements in the dimensions from `from` to before `to`.
inline int64_t product_of(const rc_plugin_value& value, int from, int to) {
  int64_t product = 1;
  for (int i = from; i < to; ++i) product *= value.shape[i];
  return product;
}

}  // namespace rc::opencl
