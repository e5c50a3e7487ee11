// The ops of tensor.h, which says what they compute. Each checks its operands
// (RC_E_INVALID_ARGUMENT with all their shapes) and deals with empty ones,
// which no backend ever sees. Thread-safe.
#pragma once

#include "compute/tensor.h"
#include "runcible/plugin.h"

namespace rc::compute {

// arrangement.cc
Tensor dense(const Tensor& x);
// A dense copy, in memory of its own; x is not empty.
Tensor copy(const Tensor& x);
// Throws RC_E_UNSUPPORTED.
void check_decodable(const Tensor& x);
// As dense F32.
Tensor numbers(const Tensor& x);
Tensor quantize(const Tensor& x, DType dtype);
// Dimensions of 1 repeated; the shape is a broadcast of x's.
Tensor expand(const Tensor& x, const Shape& shape);
Tensor gather_rows(const Tensor& table, const Tensor& ids);

// elementwise.cc
Tensor unary(const Tensor& x, int32_t function);
Tensor binary(const Tensor& a, const Tensor& b, int32_t function);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor rope(const Tensor& x, const Tensor& positions, const Tensor* frequencies,
            int32_t style, int32_t dimensions, float theta, float scale);

// reduction.cc
// NULL: absent.
Tensor layer_norm(const Tensor& x, const Tensor* weight, const Tensor* bias,
                  float epsilon, bool center);
Tensor softmax(const Tensor& x, int32_t dimension);
Tensor reduce(const Tensor& x, int32_t dimension, bool keep, int32_t function);
Tensor argmax(const Tensor& x, int32_t dimension, bool keep);

// product.cc
Tensor matmul(const Tensor& a, const Tensor& b, bool transposed);
Tensor matmul_quantized(const Tensor& a, const Tensor& weight);
Tensor fused_linear(const Tensor& x, const Tensor& weight, const Tensor* bias,
                    int32_t function);
struct Convolution {
  int32_t stride[2] = {1, 1};
  int32_t padding[2] = {0, 0};
  int32_t dilation[2] = {1, 1};
  int32_t groups = 1;
};
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor* bias,
              const Convolution& convolution);
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, float scale,
                 float softcap, bool causal);

}  // namespace rc::compute
