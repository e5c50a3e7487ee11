#include <cmath>
#include <cstring>
#include <limits>

#include "tensor_util.h"

namespace rc::test {
namespace {

Tensor make_places(rc_backend* backend, const std::vector<int32_t>& places) {
  const auto count = static_cast<int64_t>(places.size());
  rc_tensor* tensor = nullptr;
  EXPECT_OK(rc_tensor_from_data(backend, RC_DTYPE_I32, &count, 1, places.data(),
                                places.size() * sizeof(int32_t), &tensor));
  return Tensor(tensor);
}

// Every op, with as many operands as it takes; each gets the same handle.
using UnaryOp = std::function<rc_status(rc_tensor* x, rc_tensor** result)>;
std::vector<UnaryOp> every_op() {
  return {
      [](auto* x, auto** y) { return rc_op_matmul(x, x, y); },
      [](auto* x, auto** y) { return rc_op_matmul_transposed(x, x, y); },
      [](auto* x, auto** y) { return rc_op_matmul_quantized(x, x, y); },
      [](auto* x, auto** y) { return rc_op_fused_linear(x, x, nullptr, 0, y); },
      [](auto* x, auto** y) { return rc_op_add(x, x, y); },
      [](auto* x, auto** y) { return rc_op_sub(x, x, y); },
      [](auto* x, auto** y) { return rc_op_mul(x, x, y); },
      [](auto* x, auto** y) { return rc_op_div(x, x, y); },
      [](auto* x, auto** y) { return rc_op_pow(x, x, y); },
      [](auto* x, auto** y) { return rc_op_minimum(x, x, y); },
      [](auto* x, auto** y) { return rc_op_maximum(x, x, y); },
      [](auto* x, auto** y) { return rc_op_equal(x, x, y); },
      [](auto* x, auto** y) { return rc_op_not_equal(x, x, y); },
      [](auto* x, auto** y) { return rc_op_less(x, x, y); },
      [](auto* x, auto** y) { return rc_op_less_equal(x, x, y); },
      [](auto* x, auto** y) { return rc_op_greater(x, x, y); },
      [](auto* x, auto** y) { return rc_op_greater_equal(x, x, y); },
      [](auto* x, auto** y) { return rc_op_where(x, x, x, y); },
      [](auto* x, auto** y) { return rc_op_relu(x, y); },
      [](auto* x, auto** y) { return rc_op_sigmoid(x, y); },
      [](auto* x, auto** y) { return rc_op_silu(x, y); },
      [](auto* x, auto** y) { return rc_op_gelu(x, y); },
      [](auto* x, auto** y) { return rc_op_gelu_tanh(x, y); },
      [](auto* x, auto** y) { return rc_op_gelu_quick(x, y); },
      [](auto* x, auto** y) { return rc_op_tanh(x, y); },
      [](auto* x, auto** y) { return rc_op_exp(x, y); },
      [](auto* x, auto** y) { return rc_op_log(x, y); },
      [](auto* x, auto** y) { return rc_op_sqrt(x, y); },
      [](auto* x, auto** y) { return rc_op_abs(x, y); },
      [](auto* x, auto** y) { return rc_op_neg(x, y); },
      [](auto* x, auto** y) { return rc_op_softmax(x, 0, y); },
      [](auto* x, auto** y) { return rc_op_rms_norm(x, nullptr, 0, y); },
      [](auto* x, auto** y) {
        return rc_op_layer_norm(x, nullptr, nullptr, 0, y);
      },
      [](auto* x, auto** y) { return rc_op_rope(x, x, nullptr, nullptr, y); },
      [](auto* x, auto** y) { return rc_op_attention(x, x, x, nullptr, y); },
      [](auto* x, auto** y) { return rc_op_reduce_sum(x, 0, 0, y); },
      [](auto* x, auto** y) { return rc_op_reduce_mean(x, 0, 0, y); },
      [](auto* x, auto** y) { return rc_op_reduce_max(x, 0, 0, y); },
      [](auto* x, auto** y) { return rc_op_argmax(x, 0, 0, y); },
      [](auto* x, auto** y) { return rc_op_conv2d(x, x, nullptr, nullptr, y); },
      [](auto* x, auto** y) { return rc_op_gather_rows(x, x, y); },
      [](auto* x, auto** y) { return rc_op_quantize(x, RC_DTYPE_F16, y); },
      [](auto* x, auto** y) { return rc_op_dequantize(x, y); },
      [](auto* x, auto** y) { return rc_op_into(x, x, y); },
      [](auto* x, auto** y) { return rc_op_concat(&x, 1, 0, y); },
      [](auto* x, auto** y) { return rc_op_pad(x, 0, 1, 2, 3, y); },
      [](auto* x, auto** y) { return rc_op_cumsum(x, 0, y); },
      [](auto* x, auto** y) { return rc_op_sort(x, 0, 0, y); },
      [](auto* x, auto** y) { return rc_op_argsort(x, 0, 1, y); },
      [](auto* x, auto** y) { return rc_op_topk(x, 1, 0, y); },
      [](auto* x, auto** y) { return rc_op_argtopk(x, 1, 0, y); },
      [](auto* x, auto** y) { return rc_op_take_along(x, x, 0, y); },
      [](auto* x, auto** y) { return rc_tensor_transpose(x, 0, 0, y); },
      [](auto* x, auto** y) { return rc_tensor_slice(x, 0, 0, 0, 1, y); },
      [](auto* x, auto** y) {
        const int64_t all = -1;
        return rc_tensor_reshape(x, &all, 1, y);
      },
  };
}

TEST(Tensor, InvalidHandlesAreRefused) {
  const Backend backend = open_backend();
  Tensor released = make(backend.get(), {1}, {1});
  rc_tensor* const gone = released.get();
  released.reset();
  int number = 0;
  rc_tensor* const handles[] = {nullptr, gone,
                                reinterpret_cast<rc_tensor*>(backend.get()),
                                reinterpret_cast<rc_tensor*>(&number)};
  for (rc_tensor* handle : handles) {
    for (const UnaryOp& op : every_op()) {
      rc_tensor* result = gone;
      EXPECT_EQ(op(handle, &result), RC_E_INVALID_ARGUMENT);
      EXPECT_EQ(result, nullptr);
      EXPECT_EQ(op(handle, nullptr), RC_E_INVALID_ARGUMENT);
    }
    rc_dtype dtype = 0;
    EXPECT_EQ(rc_tensor_dtype(handle, &dtype), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(rc_tensor_shape(handle, nullptr, nullptr), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(rc_tensor_size(handle, nullptr, nullptr), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(rc_tensor_read(handle, &number, 4), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(rc_tensor_retain(handle), nullptr);
    rc_tensor_release(handle);
  }
}

// Whatever the shapes, types and ranks are, there is a status, and a message.
TEST(Tensor, EveryOpTakesEveryShape) {
  for (const char* spec : {"reference", "cpu"}) {
    const Backend backend = open_backend(spec);
    const Shape shapes[] = {{1},       {0},          {4},         {2, 2},
                            {0, 3},    {3, 0},       {4, 256},    {2, 2, 2},
                            {1, 0, 1}, {2, 2, 2, 2}, {1, 1, 1, 1}};
    for (const Shape& shape : shapes) {
      for (rc_dtype dtype = 0; dtype < 45; ++dtype) {
        rc_tensor* tensor = nullptr;
        if (rc_tensor_create(backend.get(), dtype, shape.data(),
                             static_cast<int32_t>(shape.size()),
                             &tensor) != RC_OK) {
          continue;
        }
        const Tensor x(tensor);
        for (const UnaryOp& op : every_op()) {
          rc_tensor* result = nullptr;
          const rc_status status = op(x.get(), &result);
          const Tensor y(result);
          EXPECT_TRUE(status == RC_OK || status == RC_E_INVALID_ARGUMENT ||
                      status == RC_E_UNSUPPORTED)
              << rc_error_message();
          EXPECT_EQ(status == RC_OK, result != nullptr);
          if (status == RC_OK) bytes_of(result);
        }
      }
    }
  }
}

TEST(Tensor, ShapesBeyondMemoryAreRefused) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const char* spec : {"reference", "cpu"}) {
    const Backend backend = open_backend(spec);
    rc_tensor* tensor = nullptr;
    const Shape impossible[] = {{kMost},    {kMost, 2},          {-1},
                                {2, -5},    {kMost, kMost},      {0, kMost, 3},
                                {1l << 62}, {1l << 40, 1l << 40}};
    for (const Shape& shape : impossible) {
      EXPECT_FAILS(
          RC_E_INVALID_ARGUMENT,
          rc_tensor_create(backend.get(), RC_DTYPE_F32, shape.data(),
                           static_cast<int32_t>(shape.size()), &tensor),
          std::to_string(shape[0]));
      EXPECT_EQ(tensor, nullptr);
    }
    const int64_t large = 1l << 50;
    EXPECT_FAILS(
        RC_E_DEVICE_MEMORY,
        rc_tensor_create(backend.get(), RC_DTYPE_F32, &large, 1, &tensor),
        std::to_string(4 * large));
    // A broadcast of small tensors to a large one.
    const int64_t row[] = {1, 1 << 24};
    const int64_t column[] = {1 << 24, 1};
    rc_tensor *a = nullptr, *b = nullptr;
    ASSERT_OK(rc_tensor_create(backend.get(), RC_DTYPE_F32, row, 2, &a));
    const Tensor first(a);
    ASSERT_OK(rc_tensor_create(backend.get(), RC_DTYPE_F32, column, 2, &b));
    const Tensor second(b);
    EXPECT_FAILS(RC_E_DEVICE_MEMORY, rc_op_add(a, b, &tensor));
    EXPECT_FAILS(RC_E_DEVICE_MEMORY, rc_op_matmul(b, a, &tensor));
  }
}

TEST(Tensor, InvalidOptionsAreRefused) {
  const Backend backend = open_backend();
  const Tensor x = make(backend.get(), {1, 1, 2, 2}, {1, 2, 3, 4});
  rc_tensor* y = nullptr;
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  for (int32_t number : {kMost, -kMost, 0, -1}) {
    for (int i = 0; i < 7; ++i) {
      rc_conv2d_options options = RC_CONV2D_OPTIONS_INIT;
      int32_t* const members[] = {
          &options.stride[0],  &options.stride[1],   &options.padding[0],
          &options.padding[1], &options.dilation[0], &options.dilation[1],
          &options.groups,
      };
      // Large paddings are no mistake, only large.
      if (number == kMost && (i == 2 || i == 3)) continue;
      *members[i] = number;
      const rc_status status =
          rc_op_conv2d(x.get(), x.get(), nullptr, &options, &y);
      EXPECT_TRUE(status == RC_OK || status == RC_E_INVALID_ARGUMENT ||
                  status == RC_E_DEVICE_MEMORY || status == RC_E_OUT_OF_MEMORY)
          << rc_error_message();
      rc_tensor_release(y);
    }
  }
  rc_conv2d_options convolution = RC_CONV2D_OPTIONS_INIT;
  convolution.struct_size = 4097;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_conv2d(x.get(), x.get(), nullptr, &convolution, &y),
               "struct_size");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  rc_attention_options attention = RC_ATTENTION_OPTIONS_INIT;
  attention.scale = nan;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_attention(x.get(), x.get(), x.get(), &attention, &y),
               "scale");
  attention.scale = 1;
  attention.causal = 2;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_attention(x.get(), x.get(), x.get(), &attention, &y),
               "causal");
  const Tensor places = make_places(backend.get(), {0});
  rc_rope_options rope = RC_ROPE_OPTIONS_INIT;
  rope.theta = 0;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_rope(x.get(), places.get(), nullptr, &rope, &y), "theta");
  rope.theta = 10;
  rope.style = 2;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_rope(x.get(), places.get(), nullptr, &rope, &y), "style");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_op_layer_norm(x.get(), nullptr, nullptr, nan, &y), "epsilon");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_argmax(x.get(), 4, 0, &y), "-4");
  rc_random_options random = RC_RANDOM_OPTIONS_INIT;
  const int64_t one = 1;
  random.distribution = 2;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tensor_random(backend.get(), &one, 1, &random, &y),
               "distribution");
  random.distribution = RC_RANDOM_UNIFORM;
  random.low = 2;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_tensor_random(backend.get(), &one, 1, &random, &y), "low");
}

TEST(Tensor, ReductionsHandleEmptyAndNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* spec : {"reference", "cpu"}) {
    const Backend backend = open_backend(spec);
    rc_tensor* y = nullptr;
    const Tensor none = make(backend.get(), {0, 2}, {});
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_reduce_max(none.get(), 0, 0, &y),
                 "F32 [0, 2]");
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_op_argmax(none.get(), RC_ALL_DIMENSIONS, 0, &y));
    ASSERT_OK(rc_op_reduce_mean(none.get(), 0, 0, &y));
    EXPECT_TRUE(std::isnan(numbers_of(y)[1]));
    rc_tensor_release(y);
    const Tensor x = make(backend.get(), {2, 3}, {1, nan, 3, 7, 9, 9});
    ASSERT_OK(rc_op_reduce_max(x.get(), 1, 0, &y));
    EXPECT_TRUE(std::isnan(numbers_of(y)[0]));
    EXPECT_EQ(numbers_of(y)[1], 9);
    rc_tensor_release(y);
    ASSERT_OK(rc_op_argmax(x.get(), 1, 0, &y));
    int32_t places[2] = {};
    ASSERT_OK(rc_tensor_read(y, places, sizeof places));
    EXPECT_EQ(places[0], 1);
    EXPECT_EQ(places[1], 1);
    rc_tensor_release(y);
    ASSERT_OK(rc_op_relu(x.get(), &y));
    EXPECT_TRUE(std::isnan(numbers_of(y)[1]));
    rc_tensor_release(y);
  }
}

// By the rules of IEEE 754 and of NumPy.
TEST(Tensor, FunctionsHandleNanAndInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const char* spec : {"reference", "cpu"}) {
    const Backend backend = open_backend(spec);
    const Tensor a = make(backend.get(), {6}, {nan, 1, nan, inf, -inf, 0});
    const Tensor b = make(backend.get(), {6}, {1, nan, nan, inf, 2, -1});
    const auto expect = [&](rc_status status, rc_tensor*& y,
                            const std::vector<float>& wanted) {
      ASSERT_EQ(status, RC_OK) << rc_error_message();
      const std::vector<float> found = numbers_of(y);
      ASSERT_EQ(found.size(), wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_TRUE(found[i] == wanted[i] ||
                    (std::isnan(found[i]) && std::isnan(wanted[i])))
            << spec << " " << i << ": " << found[i] << ", " << wanted[i];
      }
      rc_tensor_release(y);
    };
    rc_tensor* y = nullptr;
    expect(rc_op_minimum(a.get(), b.get(), &y), y,
           {nan, nan, nan, inf, -inf, -1});
    expect(rc_op_maximum(a.get(), b.get(), &y), y, {nan, nan, nan, inf, 2, 0});
    expect(rc_op_equal(a.get(), b.get(), &y), y, {0, 0, 0, 1, 0, 0});
    expect(rc_op_not_equal(a.get(), b.get(), &y), y, {1, 1, 1, 0, 1, 1});
    expect(rc_op_less(a.get(), b.get(), &y), y, {0, 0, 0, 0, 1, 0});
    expect(rc_op_less_equal(a.get(), b.get(), &y), y, {0, 0, 0, 1, 1, 0});
    expect(rc_op_greater(a.get(), b.get(), &y), y, {0, 0, 0, 0, 0, 1});
    expect(rc_op_greater_equal(a.get(), b.get(), &y), y, {0, 0, 0, 1, 0, 1});
    expect(rc_op_where(a.get(), b.get(), a.get(), &y), y,
           {1, nan, nan, inf, 2, 0});
    expect(rc_op_div(b.get(), a.get(), &y), y, {nan, nan, nan, nan, 0, -inf});
    expect(rc_op_log(a.get(), &y), y, {nan, 0, nan, inf, nan, -inf});
    expect(rc_op_sqrt(a.get(), &y), y, {nan, 1, nan, inf, nan, 0});
    expect(rc_op_exp(a.get(), &y), y, {nan, std::exp(1.0f), nan, inf, 0, 1});
    expect(rc_op_abs(a.get(), &y), y, {nan, 1, nan, inf, inf, 0});
    expect(rc_op_neg(a.get(), &y), y, {nan, -1, nan, -inf, inf, 0});
  }
}

TEST(Tensor, NumberOfThreadsChangesNoBit) {
  std::vector<std::vector<std::byte>> first;
  for (int32_t threads : {1, 2, 5}) {
    rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
    options.threads = threads;
    rc_backend* opened = nullptr;
    ASSERT_OK(rc_backend_open("cpu", &options, &opened));
    const Backend backend(opened);
    const Tensor x = make_random(opened, {257, 300}, 1);
    const Tensor row = make_random(opened, {300001}, 7);
    const Tensor few = make_random(opened, {3, 300}, 2);
    const Tensor image = make_random(opened, {2, 3, 37, 41}, 3);
    const Tensor window = make_random(opened, {7, 3, 3, 3}, 4);
    const Tensor heads = make_random(opened, {65, 6, 32}, 5);
    const Tensor keys = make_random(opened, {65, 2, 32}, 6);
    std::vector<Tensor> results;
    const auto add = [&](auto&& op) {
      rc_tensor* y = nullptr;
      EXPECT_OK(op(&y));
      results.emplace_back(y);
    };
    add([&](auto** y) {
      return rc_op_matmul_transposed(few.get(), x.get(), y);
    });
    add([&](auto** y) {
      return rc_op_matmul_transposed(x.get(), few.get(), y);
    });
    add([&](auto** y) { return rc_op_matmul_transposed(x.get(), x.get(), y); });
    add([&](auto** y) { return rc_op_add(row.get(), row.get(), y); });
    add([&](auto** y) { return rc_op_gelu(x.get(), y); });
    add([&](auto** y) { return rc_op_div(x.get(), x.get(), y); });
    add([&](auto** y) { return rc_op_softmax(x.get(), 0, y); });
    add([&](auto** y) { return rc_op_softmax(x.get(), 1, y); });
    add([&](auto** y) {
      return rc_op_layer_norm(x.get(), nullptr, nullptr, 0, y);
    });
    add([&](auto** y) {
      return rc_op_reduce_sum(x.get(), RC_ALL_DIMENSIONS, 0, y);
    });
    add([&](auto** y) {
      return rc_op_reduce_sum(row.get(), RC_ALL_DIMENSIONS, 0, y);
    });
    add([&](auto** y) { return rc_op_reduce_mean(x.get(), 0, 0, y); });
    add([&](auto** y) {
      return rc_op_conv2d(image.get(), window.get(), nullptr, nullptr, y);
    });
    add([&](auto** y) {
      return rc_op_attention(heads.get(), keys.get(), keys.get(), nullptr, y);
    });
    for (size_t i = 0; i < results.size(); ++i) {
      const std::vector<std::byte> bytes = bytes_of(results[i].get());
      if (threads == 1) {
        first.push_back(bytes);
      } else {
        EXPECT_TRUE(first[i] == bytes) << "op " << i << ", " << threads;
      }
    }
  }
}

// Tensors on one opening of a device and on another.
TEST(Tensor, OperandsOfTwoOpeningsAreChecked) {
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  options.threads = 1;
  rc_backend *one = nullptr, *other = nullptr, *same = nullptr;
  ASSERT_OK(rc_backend_open("cpu", &options, &one));
  const Backend first(one);
  ASSERT_OK(rc_backend_open("cpu", &options, &same));
  const Backend second(same);
  options.threads = 2;
  ASSERT_OK(rc_backend_open("cpu", &options, &other));
  const Backend third(other);
  const Tensor a = make(one, {2}, {1, 2});
  const Tensor b = make(same, {2}, {3, 4});
  const Tensor c = make(other, {2}, {5, 6});
  rc_tensor* y = nullptr;
  ASSERT_OK(rc_op_add(a.get(), b.get(), &y));
  EXPECT_EQ(numbers_of(y), (std::vector<float>{4, 6}));
  rc_tensor_release(y);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_op_add(a.get(), c.get(), &y), "cpu:0",
               "another opening");
}

}  // namespace
}  // namespace rc::test
