// Products of tensors: see product.cl.
#pragma once

#include "opencl/arguments.h"
#include "opencl/device.h"
#include "opencl/step.h"

namespace rc::opencl {

struct Product {
  int64_t matrices = 1;  // of the result
  int64_t a_count = 1;
  int64_t b_count = 1;
  int64_t m = 0, n = 0, k = 0;
  cl_mem a = nullptr;
  cl_ulong a_at = 0;
  cl_mem b = nullptr;
  cl_ulong b_at = 0;         // bytes
  cl_ulong b_bytes = 0;      // of a matrix
  cl_ulong b_row_bytes = 0;  // if it is transposed
  bool transposed = false;
  rc_dtype b_dtype = RC_DTYPE_F32;
  cl_mem bias = nullptr;
  cl_ulong bias_at = 0;
  bool bias_of_rows = false;  // else of columns, if there is one
  cl_mem out = nullptr;
  cl_ulong out_at = 0;
  int32_t function = RC_FUNCTION_NONE;

  // By the kernel for small matrices, and by that for large ones, with further
  // definitions; arguments that these need follow after kArguments.
  Step small(Device& device) const;
  Step tiled(Device& device, const std::string& further) const;
  static constexpr cl_uint kArguments = 16;

 private:
  std::string definitions() const;
  void set(const Kernel& kernel) const;
};

}  // namespace rc::opencl
