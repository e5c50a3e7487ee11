// The ops of op.h.
#include <utility>
#include <vector>

#include "api/options.h"
#include "api/tensor.h"
#include "compute/ops.h"
#include "runcible/op.h"

namespace rc::api {
namespace {

constexpr rc_rope_options kRopeDefaults = RC_ROPE_OPTIONS_INIT;
constexpr rc_attention_options kAttentionDefaults = RC_ATTENTION_OPTIONS_INIT;
constexpr rc_conv2d_options kConv2dDefaults = RC_CONV2D_OPTIONS_INIT;

using compute::Destination;
using compute::Tensor;

// `op` is the name of the function, for messages.
rc_status unary(const char* op, rc_tensor* x, int32_t function,
                rc_tensor** result) {
  return guard_op(op, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    return compute::unary(from, function, into);
                  });
}

rc_status binary(const char* op, rc_tensor* a, rc_tensor* b, int32_t function,
                 rc_tensor** result) {
  return guard_op(
      op, a, "a", result, [&](const Tensor& left, const Destination* into) {
        return compute::binary(left, need_tensor(b, "b"), function, into);
      });
}

rc_status matmul(const char* op, rc_tensor* a, rc_tensor* b, bool transposed,
                 rc_tensor** result) {
  return guard_op(
      op, a, "a", result, [&](const Tensor& left, const Destination* into) {
        return compute::matmul(left, need_tensor(b, "b"), transposed, into);
      });
}

rc_status reduce(const char* op, rc_tensor* x, int32_t dimension, int32_t keep,
                 int32_t function, rc_tensor** result) {
  return guard_op(
      op, x, "x", result, [&](const Tensor& from, const Destination* into) {
        need_flag(keep, "keep");
        return compute::reduce(from, dimension, keep != 0, function, into);
      });
}

}  // namespace
}  // namespace rc::api

using rc::api::guard_op;
using rc::api::need_tensor;
using rc::api::optional_tensor;
using rc::api::read_options;
using rc::compute::Destination;
using rc::compute::Tensor;

void rc_rope_options_init(rc_rope_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kRopeDefaults);
}
void rc_attention_options_init(rc_attention_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kAttentionDefaults);
}
void rc_conv2d_options_init(rc_conv2d_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kConv2dDefaults);
}

rc_status rc_op_into(rc_tensor* x, rc_tensor* target, rc_tensor** result) {
  return rc::api::guard_handle(result, "result", [&] {
    const Tensor& from = need_tensor(x, "x");
    static_cast<void>(need_tensor(target, "target"));
    rc_tensor::Reference kept(rc_tensor_retain(target));
    return rc::api::add_handle(
        std::make_unique<rc_tensor>(from, std::move(kept)));
  });
}

rc_status rc_op_matmul(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::matmul(__func__, a, b, false, result);
}
rc_status rc_op_matmul_transposed(rc_tensor* a, rc_tensor* b,
                                  rc_tensor** result) {
  return rc::api::matmul(__func__, a, b, true, result);
}

rc_status rc_op_matmul_quantized(rc_tensor* a, rc_tensor* weight,
                                 rc_tensor** result) {
  return guard_op(__func__, a, "a", result,
                  [&](const Tensor& left, const Destination* into) {
                    return rc::compute::matmul_quantized(
                        left, need_tensor(weight, "weight"), into);
                  });
}

rc_status rc_op_fused_linear(rc_tensor* x, rc_tensor* weight, rc_tensor* bias,
                             rc_function function, rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    const Tensor& matrix = need_tensor(weight, "weight");
                    return rc::compute::fused_linear(
                        from, matrix, optional_tensor(bias, "bias"), function,
                        into);
                  });
}

rc_status rc_op_add(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_ADD, result);
}
rc_status rc_op_mul(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_MUL, result);
}
rc_status rc_op_sub(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_SUB, result);
}
rc_status rc_op_div(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_DIV, result);
}
rc_status rc_op_pow(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_POW, result);
}
rc_status rc_op_minimum(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_MINIMUM, result);
}
rc_status rc_op_maximum(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_MAXIMUM, result);
}
rc_status rc_op_equal(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_EQUAL, result);
}
rc_status rc_op_not_equal(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_NOT_EQUAL, result);
}
rc_status rc_op_less(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_LESS, result);
}
rc_status rc_op_less_equal(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_LESS_EQUAL, result);
}
rc_status rc_op_greater(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_GREATER, result);
}
rc_status rc_op_greater_equal(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc::api::binary(__func__, a, b, RC_BINARY_GREATER_EQUAL, result);
}

rc_status rc_op_where(rc_tensor* condition, rc_tensor* a, rc_tensor* b,
                      rc_tensor** result) {
  return guard_op(__func__, condition, "condition", result,
                  [&](const Tensor& chosen, const Destination* into) {
                    const Tensor& left = need_tensor(a, "a");
                    return rc::compute::where(chosen, left, need_tensor(b, "b"),
                                              into);
                  });
}

rc_status rc_op_relu(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_FUNCTION_RELU, result);
}
rc_status rc_op_sigmoid(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_FUNCTION_SIGMOID, result);
}
rc_status rc_op_silu(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_FUNCTION_SILU, result);
}
rc_status rc_op_gelu(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_FUNCTION_GELU, result);
}
rc_status rc_op_gelu_tanh(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_FUNCTION_GELU_TANH, result);
}
rc_status rc_op_gelu_quick(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_FUNCTION_GELU_QUICK, result);
}
rc_status rc_op_tanh(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_FUNCTION_TANH, result);
}
rc_status rc_op_exp(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_UNARY_EXP, result);
}
rc_status rc_op_log(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_UNARY_LOG, result);
}
rc_status rc_op_sqrt(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_UNARY_SQRT, result);
}
rc_status rc_op_abs(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_UNARY_ABS, result);
}
rc_status rc_op_neg(rc_tensor* x, rc_tensor** result) {
  return rc::api::unary(__func__, x, RC_UNARY_NEG, result);
}

rc_status rc_op_softmax(rc_tensor* x, int32_t dimension, rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    return rc::compute::softmax(from, dimension, into);
                  });
}

rc_status rc_op_rms_norm(rc_tensor* x, rc_tensor* weight, float epsilon,
                         rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    return rc::compute::layer_norm(
                        from, optional_tensor(weight, "weight"), nullptr,
                        epsilon, false, into);
                  });
}

rc_status rc_op_layer_norm(rc_tensor* x, rc_tensor* weight, rc_tensor* bias,
                           float epsilon, rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    const Tensor* factors = optional_tensor(weight, "weight");
                    return rc::compute::layer_norm(
                        from, factors, optional_tensor(bias, "bias"), epsilon,
                        true, into);
                  });
}

rc_status rc_op_rope(rc_tensor* x, rc_tensor* positions, rc_tensor* frequencies,
                     const rc_rope_options* options, rc_tensor** result) {
  return guard_op(
      __func__, x, "x", result,
      [&](const Tensor& from, const Destination* into) {
        const Tensor& places = need_tensor(positions, "positions");
        const Tensor* pairs = optional_tensor(frequencies, "frequencies");
        const rc_rope_options read =
            read_options(options, rc::api::kRopeDefaults, "options");
        return rc::compute::rope(from, places, pairs, read.style,
                                 read.dimensions, read.theta, read.scale, into);
      });
}

rc_status rc_op_attention(rc_tensor* q, rc_tensor* k, rc_tensor* v,
                          const rc_attention_options* options,
                          rc_tensor** result) {
  return guard_op(
      __func__, q, "q", result,
      [&](const Tensor& queries, const Destination* into) {
        const Tensor& keys = need_tensor(k, "k");
        const Tensor& values = need_tensor(v, "v");
        const rc_attention_options read =
            read_options(options, rc::api::kAttentionDefaults, "options");
        rc::api::need_flag(read.causal, "options->causal");
        return rc::compute::attention(queries, keys, values, read.scale,
                                      read.softcap, read.causal != 0, into);
      });
}

rc_status rc_op_reduce_sum(rc_tensor* x, int32_t dimension, int32_t keep,
                           rc_tensor** result) {
  return rc::api::reduce(__func__, x, dimension, keep, RC_REDUCE_SUM, result);
}
rc_status rc_op_reduce_mean(rc_tensor* x, int32_t dimension, int32_t keep,
                            rc_tensor** result) {
  return rc::api::reduce(__func__, x, dimension, keep, RC_REDUCE_MEAN, result);
}
rc_status rc_op_reduce_max(rc_tensor* x, int32_t dimension, int32_t keep,
                           rc_tensor** result) {
  return rc::api::reduce(__func__, x, dimension, keep, RC_REDUCE_MAX, result);
}

rc_status rc_op_argmax(rc_tensor* x, int32_t dimension, int32_t keep,
                       rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    rc::api::need_flag(keep, "keep");
                    return rc::compute::argmax(from, dimension, keep != 0,
                                               into);
                  });
}

rc_status rc_op_conv2d(rc_tensor* x, rc_tensor* weight, rc_tensor* bias,
                       const rc_conv2d_options* options, rc_tensor** result) {
  return guard_op(
      __func__, x, "x", result,
      [&](const Tensor& from, const Destination* into) {
        const Tensor& window = need_tensor(weight, "weight");
        const Tensor* added = optional_tensor(bias, "bias");
        const rc_conv2d_options read =
            read_options(options, rc::api::kConv2dDefaults, "options");
        rc::compute::Convolution convolution;
        for (int i = 0; i < 2; ++i) {
          convolution.stride[i] = read.stride[i];
          convolution.padding[i] = read.padding[i];
          convolution.dilation[i] = read.dilation[i];
        }
        convolution.groups = read.groups;
        return rc::compute::conv2d(from, window, added, convolution, into);
      });
}

rc_status rc_op_gather_rows(rc_tensor* table, rc_tensor* ids,
                            rc_tensor** result) {
  return guard_op(__func__, table, "table", result,
                  [&](const Tensor& rows, const Destination* into) {
                    return rc::compute::gather_rows(
                        rows, need_tensor(ids, "ids"), into);
                  });
}

rc_status rc_op_concat(rc_tensor* const* tensors, size_t count,
                       int32_t dimension, rc_tensor** result) {
  rc_tensor* const first =
      tensors == nullptr || count == 0 ? nullptr : tensors[0];
  return guard_op(
      __func__, first, "tensors[0]", result,
      [&](const Tensor& front, const Destination* into) {
        rc::api::need_array(tensors, count, sizeof *tensors, "tensors");
        std::vector<Tensor> operands = {front};
        for (size_t i = 1; i < count; ++i) {
          operands.push_back(
              need_tensor(tensors[i], rc::cat("tensors[", i, "]").c_str()));
        }
        return rc::compute::concat(operands, dimension, into);
      });
}

rc_status rc_op_pad(rc_tensor* x, int32_t dimension, int64_t before,
                    int64_t after, float value, rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    return rc::compute::pad(from, dimension, before, after,
                                            value, into);
                  });
}

rc_status rc_op_cumsum(rc_tensor* x, int32_t dimension, rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    return rc::compute::cumsum(from, dimension, into);
                  });
}

rc_status rc_op_sort(rc_tensor* x, int32_t dimension, int32_t descending,
                     rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    rc::api::need_flag(descending, "descending");
                    return rc::compute::sort(from, rc::compute::kAllOfThem,
                                             dimension, descending != 0, into);
                  });
}

rc_status rc_op_argsort(rc_tensor* x, int32_t dimension, int32_t descending,
                        rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    rc::api::need_flag(descending, "descending");
                    return rc::compute::argsort(from, rc::compute::kAllOfThem,
                                                dimension, descending != 0,
                                                into);
                  });
}

rc_status rc_op_topk(rc_tensor* x, int64_t k, int32_t dimension,
                     rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    rc::api::need_at_least_zero(k, "k");
                    return rc::compute::sort(from, k, dimension, true, into);
                  });
}

rc_status rc_op_argtopk(rc_tensor* x, int64_t k, int32_t dimension,
                        rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    rc::api::need_at_least_zero(k, "k");
                    return rc::compute::argsort(from, k, dimension, true, into);
                  });
}

rc_status rc_op_take_along(rc_tensor* x, rc_tensor* indices, int32_t dimension,
                           rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    return rc::compute::take_along(
                        from, need_tensor(indices, "indices"), dimension, into);
                  });
}

rc_status rc_op_quantize(rc_tensor* x, rc_dtype dtype, rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    return rc::compute::quantize(from, dtype, into);
                  });
}

rc_status rc_op_dequantize(rc_tensor* x, rc_tensor** result) {
  return guard_op(__func__, x, "x", result,
                  [&](const Tensor& from, const Destination* into) {
                    return rc::compute::dequantize(from, into);
                  });
}
