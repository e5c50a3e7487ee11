// The ops of op.h, which says what they compute. Each checks its operands
// (RC_E_INVALID_ARGUMENT with all their shapes) and deals with empty ones,
// which no backend ever sees. Thread-safe.
//
// With a destination the op writes its result there, if it has to compute one:
// see deliver.
#pragma once

#include <initializer_list>
#include <span>

#include "compute/destination.h"
#include "compute/tensor.h"
#include "runcible/plugin.h"

namespace rc::compute {

// arrangement.cc
Tensor dense(const Tensor& x);
// Returns a dense copy in new memory. Requires: x is not empty.
Tensor copy(const Tensor& x, const Destination* into = nullptr);
// Throws RC_E_UNSUPPORTED.
void check_decodable(const Tensor& x);
// The type in which an op of these numbers computes (see tensor.h). NULL:
// absent.
DType number_type(std::initializer_list<const Tensor*> operands);
// Dense, in that type.
Tensor numbers(const Tensor& x, DType type = RC_DTYPE_F32);
Tensor quantize(const Tensor& x, DType dtype,
                const Destination* into = nullptr);
Tensor dequantize(const Tensor& x, const Destination* into = nullptr);
// Dimensions of 1 repeated; the shape is a broadcast of x's.
Tensor expand(const Tensor& x, const Shape& shape);
Tensor gather_rows(const Tensor& table, const Tensor& ids,
                   const Destination* into = nullptr);

// elementwise.cc
Tensor unary(const Tensor& x, int32_t function,
             const Destination* into = nullptr);
Tensor binary(const Tensor& a, const Tensor& b, int32_t function,
              const Destination* into = nullptr);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b,
             const Destination* into = nullptr);
Tensor rope(const Tensor& x, const Tensor& positions, const Tensor* frequencies,
            int32_t style, int32_t dimensions, float theta, float scale,
            const Destination* into = nullptr);

// reduction.cc
// NULL: absent.
Tensor layer_norm(const Tensor& x, const Tensor* weight, const Tensor* bias,
                  float epsilon, bool center,
                  const Destination* into = nullptr);
Tensor softmax(const Tensor& x, int32_t dimension,
               const Destination* into = nullptr);
Tensor reduce(const Tensor& x, int32_t dimension, bool keep, int32_t function,
              const Destination* into = nullptr);
Tensor argmax(const Tensor& x, int32_t dimension, bool keep,
              const Destination* into = nullptr);

// ordering.cc
// Along one dimension; NaN is larger than every number, equals stay in order.
// The first k, or kAllOfThem.
inline constexpr int64_t kAllOfThem = -1;
Tensor argsort(const Tensor& x, int64_t k, int32_t dimension, bool descending,
               const Destination* into = nullptr);
Tensor sort(const Tensor& x, int64_t k, int32_t dimension, bool descending,
            const Destination* into = nullptr);
Tensor take_along(const Tensor& x, const Tensor& indices, int32_t dimension,
                  const Destination* into = nullptr);
Tensor cumsum(const Tensor& x, int32_t dimension,
              const Destination* into = nullptr);

// joining.cc
Tensor concat(std::span<const Tensor> tensors, int32_t dimension,
              const Destination* into = nullptr);
Tensor pad(const Tensor& x, int32_t dimension, int64_t before, int64_t after,
           float value, const Destination* into = nullptr);

// product.cc
Tensor matmul(const Tensor& a, const Tensor& b, bool transposed,
              const Destination* into = nullptr);
Tensor matmul_quantized(const Tensor& a, const Tensor& weight,
                        const Destination* into = nullptr);
Tensor fused_linear(const Tensor& x, const Tensor& weight, const Tensor* bias,
                    int32_t function, const Destination* into = nullptr);
struct Convolution {
  int32_t stride[2] = {1, 1};
  int32_t padding[2] = {0, 0};
  int32_t dilation[2] = {1, 1};
  int32_t groups = 1;
};
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor* bias,
              const Convolution& convolution,
              const Destination* into = nullptr);
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, float scale,
                 float softcap, bool causal, const Destination* into = nullptr);

}  // namespace rc::compute
