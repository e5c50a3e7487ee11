#include "tensor_limit_cases.h"

#include "runcible/custom_op.h"
#include "runcible/graph.h"
#include "tensor/dtype.h"

namespace rc::test {
namespace {

constexpr int64_t kHuge = 3'000'000'000;
// 10 MB of F32: one fits below the limit, two do not.
constexpr int64_t kMany = 2'500'000;
// A row and a column of these broadcast to 14 GB of F32.
constexpr int64_t kSide = 60'000;

using Unary = rc_status (*)(rc_tensor*, rc_tensor**);
using Binary = rc_status (*)(rc_tensor*, rc_tensor*, rc_tensor**);
using Reduction = rc_status (*)(rc_tensor*, int32_t, int32_t, rc_tensor**);
using Shorter = rc_status (*)(rc_tensor*, int64_t, int32_t, rc_tensor**);

Case unary(Unary op, rc_dtype dtype = RC_DTYPE_F32, int64_t size = kMany) {
  return {[=](Operands& with) -> Call {
    rc_tensor* x = with.make({size}, dtype);
    return [=](rc_tensor** y) { return op(x, y); };
  }};
}

Case binary(Binary op) {
  return {[=](Operands& with) -> Call {
    rc_tensor* a = with.floats({kSide, 1});
    rc_tensor* b = with.floats({1, kSide});
    return [=](rc_tensor** y) { return op(a, b, y); };
  }};
}

Case product(Binary op, const Shape& left, const Shape& right,
             rc_dtype weight = RC_DTYPE_F32) {
  return {[=](Operands& with) -> Call {
    rc_tensor* a = with.floats(left);
    rc_tensor* b =
        weight == RC_DTYPE_F32 ? with.floats(right) : with.make(right, weight);
    return [=](rc_tensor** y) { return op(a, b, y); };
  }};
}

Case reduction(Reduction op, const Shape& shape, int32_t dimension,
               rc_dtype dtype = RC_DTYPE_F32) {
  return {[=](Operands& with) -> Call {
    rc_tensor* x = with.make(shape, dtype);
    return [=](rc_tensor** y) { return op(x, dimension, 1, y); };
  }};
}

Case shorter(Shorter op) {
  return {[=](Operands& with) -> Call {
    rc_tensor* x = with.floats({kMany});
    return [=](rc_tensor** y) { return op(x, kMany, 0, y); };
  }};
}

Case padded(int64_t size, rc_dtype dtype, float value) {
  return {[=](Operands& with) -> Call {
    rc_tensor* x = with.make({size}, dtype);
    return [=](rc_tensor** y) { return rc_op_pad(x, 0, 1, kHuge, value, y); };
  }};
}

Case counted(rc_dtype dtype) {
  return {[=](Operands& with) -> Call {
    return [=, &with](rc_tensor** y) {
      return rc_tensor_arange(with.backend(), dtype, 0, kHuge, 1, y);
    };
  }};
}

Case convolved(int64_t channels, int64_t outputs, bool biased) {
  return {[=](Operands& with) -> Call {
    rc_tensor* x = with.floats({1, channels, 1, 1});
    rc_tensor* weight = with.floats({outputs, channels, 1, 1});
    rc_tensor* bias = biased ? with.floats({outputs}) : nullptr;
    return [=](rc_tensor** y) {
      rc_conv2d_options options = RC_CONV2D_OPTIONS_INIT;
      options.padding[0] = options.padding[1] = 30'000;
      return rc_op_conv2d(x, weight, bias, &options, y);
    };
  }};
}

Case linear(int64_t k, bool biased) {
  return {[=](Operands& with) -> Call {
    rc_tensor* x = with.floats({kSide, k});
    rc_tensor* weight = with.floats({kSide, k});
    rc_tensor* bias = biased ? with.floats({kSide}) : nullptr;
    return [=](rc_tensor** y) {
      return rc_op_fused_linear(x, weight, bias, RC_FUNCTION_SILU, y);
    };
  }};
}

Case making_case(rc_status (*create)(rc_backend* backend, const int64_t* shape,
                                     rc_tensor** result)) {
  return {[=](Operands& with) -> Call {
    return
        [=, &with](rc_tensor** y) { return create(with.backend(), &kHuge, y); };
  }};
}

rc_status computes_nothing(void*, const rc_custom_call*, char*) {
  return RC_OK;
}

}  // namespace

std::map<std::string, Case> tensor_limit_cases() {
  std::map<std::string, Case> all;
#define RC_CASE(kind, name) all.emplace("rc_op_" #name, kind(rc_op_##name))
  RC_CASE(unary, relu);
  RC_CASE(unary, sigmoid);
  RC_CASE(unary, silu);
  RC_CASE(unary, gelu);
  RC_CASE(unary, gelu_tanh);
  RC_CASE(unary, gelu_quick);
  RC_CASE(unary, tanh);
  RC_CASE(unary, exp);
  RC_CASE(unary, log);
  RC_CASE(unary, sqrt);
  RC_CASE(unary, abs);
  RC_CASE(unary, neg);
  RC_CASE(binary, add);
  RC_CASE(binary, sub);
  RC_CASE(binary, mul);
  RC_CASE(binary, div);
  RC_CASE(binary, pow);
  RC_CASE(binary, minimum);
  RC_CASE(binary, maximum);
  RC_CASE(binary, equal);
  RC_CASE(binary, not_equal);
  RC_CASE(binary, less);
  RC_CASE(binary, less_equal);
  RC_CASE(binary, greater);
  RC_CASE(binary, greater_equal);
  RC_CASE(shorter, topk);
  RC_CASE(shorter, argtopk);
#undef RC_CASE
#define RC_REDUCTION(name)                                             \
  all.emplace("rc_op_" #name, reduction(rc_op_##name, {kMany, 1}, 1)); \
  all.emplace("rc_op_" #name ", F16",                                  \
              reduction(rc_op_##name, {2 * kMany, 1}, 1, RC_DTYPE_F16))
  RC_REDUCTION(reduce_sum);
  RC_REDUCTION(reduce_mean);
  RC_REDUCTION(reduce_max);
  RC_REDUCTION(argmax);
#undef RC_REDUCTION
  // Results of empty tensors.
  for (const rc_dtype dtype :
       {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_BF16, RC_DTYPE_F64}) {
    const std::string type = ", empty, " + std::string(dtype_name(dtype));
    all["rc_op_reduce_sum" + type] =
        reduction(rc_op_reduce_sum, {kHuge, 0}, 1, dtype);
    all["rc_op_reduce_mean" + type] =
        reduction(rc_op_reduce_mean, {kHuge, 0}, 1, dtype);
    all["rc_op_pad, zeros" + type] = padded(0, dtype, 0);
    all["rc_op_pad, ones" + type] = padded(0, dtype, 1);
  }
  all["rc_op_pad"] = padded(1, RC_DTYPE_F32, 0);
  for (const rc_dtype dtype :
       {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_BF16, RC_DTYPE_F64, RC_DTYPE_I8,
        RC_DTYPE_I16, RC_DTYPE_I32, RC_DTYPE_I64}) {
    const bool first = dtype == RC_DTYPE_F32;
    all["rc_tensor_arange" +
        (first ? "" : ", " + std::string(dtype_name(dtype)))] = counted(dtype);
  }
  all["rc_op_conv2d"] = convolved(1, 1, false);
  all["rc_op_conv2d, bias"] = convolved(1, 1, true);
  all["rc_op_conv2d, empty"] = convolved(0, 4, false);
  all["rc_op_conv2d, empty, bias"] = convolved(0, 4, true);
  all["rc_op_fused_linear"] = linear(1, false);
  all["rc_op_fused_linear, bias"] = linear(1, true);
  all["rc_op_fused_linear, empty"] = linear(0, false);
  all["rc_op_fused_linear, empty, bias"] = linear(0, true);
  all["rc_op_matmul"] = product(rc_op_matmul, {kSide, 1}, {1, kSide});
  all["rc_op_matmul, empty"] = product(rc_op_matmul, {kSide, 0}, {0, kSide});
  all["rc_op_matmul, to be converted"] =
      product(rc_op_matmul, {1, 1}, {1, 3'000'000});
  all["rc_op_matmul_transposed"] =
      product(rc_op_matmul_transposed, {kSide, 1}, {kSide, 1});
  all["rc_op_matmul_quantized"] =
      product(rc_op_matmul_quantized, {kSide, 32}, {kSide, 32}, RC_DTYPE_Q8_0);
  all["rc_op_dequantize"] = unary(rc_op_dequantize, RC_DTYPE_F16, 2 * kMany);
  all["rc_op_quantize"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.floats({kMany});
    return [=](rc_tensor** y) { return rc_op_quantize(x, RC_DTYPE_F64, y); };
  };
  all["rc_op_where"].prepare = [](Operands& with) -> Call {
    rc_tensor* a = with.floats({kSide, 1});
    rc_tensor* b = with.floats({1, kSide});
    rc_tensor* condition = with.floats({1});
    return [=](rc_tensor** y) { return rc_op_where(condition, a, b, y); };
  };
  all["rc_op_softmax"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.floats({kMany});
    return [=](rc_tensor** y) { return rc_op_softmax(x, 0, y); };
  };
  all["rc_op_cumsum"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.floats({kMany});
    return [=](rc_tensor** y) { return rc_op_cumsum(x, 0, y); };
  };
  all["rc_op_sort"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.floats({kMany});
    return [=](rc_tensor** y) { return rc_op_sort(x, 0, 0, y); };
  };
  all["rc_op_argsort"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.floats({kMany});
    return [=](rc_tensor** y) { return rc_op_argsort(x, 0, 0, y); };
  };
  all["rc_op_rms_norm"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.floats({kMany / 1000, 1000});
    rc_tensor* weight = with.floats({1000});
    return [=](rc_tensor** y) { return rc_op_rms_norm(x, weight, 0, y); };
  };
  all["rc_op_layer_norm"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.floats({kMany / 1000, 1000});
    rc_tensor* weight = with.floats({1000});
    return [=](rc_tensor** y) {
      return rc_op_layer_norm(x, weight, weight, 0, y);
    };
  };
  all["rc_op_rope"].prepare = [](Operands& with) -> Call {
    // Its frequencies alone do not fit.
    rc_tensor* x = with.floats({1, 1, 3'200'000});
    rc_tensor* positions = with.make({1}, RC_DTYPE_I32);
    return [=](rc_tensor** y) {
      return rc_op_rope(x, positions, nullptr, nullptr, y);
    };
  };
  all["rc_op_attention"].prepare = [](Operands& with) -> Call {
    rc_tensor* q = with.floats({40'000, 1, 64});
    rc_tensor* k = with.floats({1, 1, 64});
    rc_tensor* v = with.floats({1, 1, 64});
    return [=](rc_tensor** y) { return rc_op_attention(q, k, v, nullptr, y); };
  };
  all["rc_op_gather_rows"].prepare = [](Operands& with) -> Call {
    rc_tensor* table = with.floats({2, 100'000});
    rc_tensor* ids = with.make({100'000}, RC_DTYPE_I32);
    return [=](rc_tensor** y) { return rc_op_gather_rows(table, ids, y); };
  };
  all["rc_op_take_along"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.floats({1});
    rc_tensor* indices = with.make({kMany}, RC_DTYPE_I32);
    return [=](rc_tensor** y) { return rc_op_take_along(x, indices, 0, y); };
  };
  all["rc_op_concat"].prepare = [](Operands& with) -> Call {
    const int64_t size = 1'500'000;
    rc_tensor* a = with.make({size}, RC_DTYPE_F32);
    rc_tensor* b = with.make({size}, RC_DTYPE_F32);
    return [=](rc_tensor** y) {
      rc_tensor* const parts[] = {a, b};
      return rc_op_concat(parts, 2, 0, y);
    };
  };
  all["rc_op_concat, empty"].prepare = [](Operands& with) -> Call {
    rc_tensor* a = with.make({kHuge, 0}, RC_DTYPE_F32);
    rc_tensor* b = with.make({kHuge, 0}, RC_DTYPE_F32);
    return [=](rc_tensor** y) {
      rc_tensor* const parts[] = {a, b};
      return rc_op_concat(parts, 2, 1, y);
    };
  };
  all["rc_op_concat, empty"].takes = Takes::kNothing;
  all["rc_tensor_reshape"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.floats({kMany / 1000, 1000});
    rc_tensor* turned = nullptr;
    EXPECT_OK(rc_tensor_transpose(x, 0, 1, &turned));
    with.keep(turned);
    return
        [=](rc_tensor** y) { return rc_tensor_reshape(turned, &kMany, 1, y); };
  };
  all["rc_tensor_slice"] = {[](Operands& with) -> Call {
                              rc_tensor* x = with.floats({kMany});
                              return [=](rc_tensor** y) {
                                return rc_tensor_slice(x, 0, 1, kMany, 2, y);
                              };
                            },
                            Takes::kNothing};
  all["rc_tensor_transpose"] = {[](Operands& with) -> Call {
                                  rc_tensor* x = with.floats({1, kMany});
                                  return [=](rc_tensor** y) {
                                    return rc_tensor_transpose(x, 0, 1, y);
                                  };
                                },
                                Takes::kNothing};
  all["rc_tensor_to"].prepare = [](Operands& with) -> Call {
    const auto other = std::make_shared<Operands>(Kind::kNumbers);
    other->make({kMany}, RC_DTYPE_F32);
    rc_tensor* x = with.floats({kMany});
    return [=](rc_tensor** y) {
      return rc_tensor_to(x, other->backend(), nullptr, y);
    };
  };
  all["rc_op_into"] = {[](Operands& with) -> Call {
                         rc_tensor* x = with.floats({kMany});
                         return
                             [=](rc_tensor** y) { return rc_op_into(x, x, y); };
                       },
                       Takes::kNothing};
  all["rc_op_into, an op"].prepare = [](Operands& with) -> Call {
    rc_tensor* x = with.make({6'000'000}, RC_DTYPE_F16);
    rc_tensor* target = with.make({1}, RC_DTYPE_F32);
    rc_tensor* into = nullptr;
    EXPECT_OK(rc_op_into(x, target, &into));
    with.keep(into);
    return [=](rc_tensor** y) { return rc_op_quantize(into, RC_DTYPE_I64, y); };
  };
  all["rc_tensor_create"] =
      making_case([](rc_backend* backend, const int64_t* shape, rc_tensor** y) {
        return rc_tensor_create(backend, RC_DTYPE_F32, shape, 1, y);
      });
  all["rc_tensor_ones"] =
      making_case([](rc_backend* backend, const int64_t* shape, rc_tensor** y) {
        return rc_tensor_ones(backend, RC_DTYPE_F32, shape, 1, y);
      });
  all["rc_tensor_ones, Q4_K"] =
      making_case([](rc_backend* backend, const int64_t* shape, rc_tensor** y) {
        const int64_t whole = *shape / 256 * 256;
        return rc_tensor_ones(backend, RC_DTYPE_Q4_K, &whole, 1, y);
      });
  all["rc_tensor_random"] =
      making_case([](rc_backend* backend, const int64_t* shape, rc_tensor** y) {
        return rc_tensor_random(backend, shape, 1, nullptr, y);
      });
  all["rc_tensor_outline"] =
      making_case([](rc_backend* backend, const int64_t* shape, rc_tensor** y) {
        return rc_tensor_outline(backend, RC_DTYPE_F32, shape, 1, y);
      });
  all["rc_tensor_outline"].takes = Takes::kNothing;
  all["rc_pinned_create"] =
      making_case([](rc_backend* backend, const int64_t* shape, rc_tensor**) {
        rc_pinned* pinned = nullptr;
        const rc_status status = rc_pinned_create(
            backend, nullptr, static_cast<size_t>(*shape), &pinned);
        rc_pinned_release(pinned);
        return status;
      });
  all["rc_tensor_from_data"].prepare = [](Operands& with) -> Call {
    const auto data = std::make_shared<std::vector<float>>(2 * kMany);
    return [=, &with](rc_tensor** y) {
      const auto size = static_cast<int64_t>(data->size());
      return rc_tensor_from_data(with.backend(), RC_DTYPE_F32, &size, 1,
                                 data->data(), data->size() * sizeof(float), y);
    };
  };
  all["rc_tensor_borrow"].prepare = [](Operands& with) -> Call {
    const auto data = std::make_shared<std::vector<float>>(2 * kMany);
    return [=, &with](rc_tensor** y) {
      const auto size = static_cast<int64_t>(data->size());
      return rc_tensor_borrow(with.backend(), RC_DTYPE_F32, &size, 1,
                              data->data(), data->size() * sizeof(float),
                              nullptr, nullptr, y);
    };
  };
  all["rc_tensor_borrow"].takes = Takes::kNothing;
  all["rc_graph_input"].prepare = [](Operands& with) -> Call {
    rc_graph* graph = nullptr;
    EXPECT_OK(rc_graph_begin(with.backend(), &graph));
    const std::shared_ptr<rc_graph> kept(graph, rc_graph_release);
    return [=](rc_tensor** y) {
      return rc_graph_input(kept.get(), RC_DTYPE_F32, &kHuge, 1, y);
    };
  };
  all["rc_graph_input"].takes = Takes::kNothing;
  all["rc_graph_run"].prepare = [](Operands& with) -> Call {
    rc_graph* graph = nullptr;
    EXPECT_OK(rc_graph_begin(with.backend(), &graph));
    const std::shared_ptr<rc_graph> kept(graph, rc_graph_release);
    rc_tensor *x = nullptr, *y = nullptr;
    EXPECT_OK(rc_graph_input(graph, RC_DTYPE_F32, &kMany, 1, &x));
    EXPECT_OK(rc_op_neg(x, &y));
    EXPECT_OK(rc_graph_end(graph, &y, 1));
    rc_tensor_release(x);
    rc_tensor_release(y);
    rc_tensor* given = nullptr;
    EXPECT_OK(
        rc_tensor_create(with.backend(), RC_DTYPE_F32, &kMany, 1, &given));
    const std::shared_ptr<rc_tensor> input(given, rc_tensor_release);
    return [=](rc_tensor** result) {
      rc_tensor* const inputs[] = {input.get()};
      return rc_graph_run(kept.get(), inputs, 1, nullptr, result, 1);
    };
  };
  all["rc_custom_op_compute"].prepare = [](Operands& with) -> Call {
    rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
    options.name = "outer";
    options.signature = "x F32 [n] -> y F32 [n, n]";
    options.function = computes_nothing;
    rc_custom_op* op = nullptr;
    EXPECT_OK(rc_custom_op_create(&options, &op));
    const std::shared_ptr<rc_custom_op> kept(op, rc_custom_op_release);
    rc_tensor* given = nullptr;
    EXPECT_OK(
        rc_tensor_create(with.backend(), RC_DTYPE_F32, &kSide, 1, &given));
    const std::shared_ptr<rc_tensor> input(given, rc_tensor_release);
    return [=](rc_tensor** result) {
      rc_tensor* const inputs[] = {input.get()};
      return rc_custom_op_compute(kept.get(), inputs, 1, nullptr, 0, result, 1);
    };
  };
  return all;
}

}  // namespace rc::test
