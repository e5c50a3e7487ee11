// Tensor ops driven the way of GPUs, against the reference backend. How they
// are driven on the device at hand is the conformance suite's matter.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "base/error.h"
#include "device/module_util.h"
#include "runcible/runcible.h"

namespace rc::test {
namespace {

void require(rc_status status) {
  if (status != RC_OK) fail(status, rc_error_message());
}

using Shape = std::vector<int64_t>;
using Operands = std::vector<rc_tensor*>;
using TensorOp = std::function<rc_status(const Operands&, rc_tensor**)>;

rc_tensor* random(rc_backend* backend, const Shape& shape, uint64_t seed) {
  rc_random_options options = RC_RANDOM_OPTIONS_INIT;
  options.seed = seed;
  rc_tensor* tensor = nullptr;
  require(rc_tensor_random(backend, shape.data(),
                           static_cast<int32_t>(shape.size()), &options,
                           &tensor));
  return tensor;
}

// The result of the op on random operands of these shapes, as numbers.
std::vector<float> result_of(rc_backend* backend,
                             const std::vector<Shape>& shapes,
                             const TensorOp& op) {
  Operands operands;
  for (const Shape& shape : shapes) {
    operands.push_back(random(backend, shape, operands.size() + 1));
  }
  rc_tensor* result = nullptr;
  require(op(operands, &result));
  rc_dtype dtype = RC_DTYPE_F32;
  require(rc_tensor_dtype(result, &dtype));
  if (dtype != RC_DTYPE_F32) {
    rc_tensor* numbers = nullptr;
    require(rc_op_dequantize(result, &numbers));
    rc_tensor_release(result);
    result = numbers;
  }
  int64_t elements = 0;
  size_t bytes = 0;
  require(rc_tensor_size(result, &elements, &bytes));
  std::vector<float> numbers(elements);
  require(rc_tensor_read(result, numbers.data(), bytes));
  rc_tensor_release(result);
  for (rc_tensor* operand : operands) rc_tensor_release(operand);
  return numbers;
}

class OpenclTensors : public testing::Test {
 protected:
  void SetUp() override {
    RC_NEEDS_DEVICE("opencl");
    const TemporaryVariable tuning("RUNCIBLE_OPENCL_TUNING",
                                   "lanes=1,product_lanes=8,reduce=16,"
                                   "attention=4,plain=16,product_rows=16,"
                                   "product_columns=64,product_depth=32");
    require(rc_backend_open("opencl", nullptr, &device_));
    require(rc_backend_open("reference", nullptr, &reference_));
  }
  void TearDown() override {
    if (device_ != nullptr) {
      const char* json = nullptr;
      require(rc_backend_explain(device_, &json));
      EXPECT_EQ(std::string(json).find("\"op\":"), std::string::npos)
          << "not all was done by the device: " << json;
    }
    rc_backend_release(device_);
    rc_backend_release(reference_);
  }

  // Normalised mean square errors are at most as large as in the suite.
  void expect_same(const std::vector<Shape>& shapes, const TensorOp& op) {
    const std::vector<float> actual = result_of(device_, shapes, op);
    const std::vector<float> expected = result_of(reference_, shapes, op);
    ASSERT_EQ(actual.size(), expected.size());
    double difference = 0;
    double size = 0;
    for (size_t i = 0; i < actual.size(); ++i) {
      const double error = static_cast<double>(actual[i]) - expected[i];
      difference += error * error;
      size += static_cast<double>(expected[i]) * expected[i];
    }
    EXPECT_LE(difference, 1e-11 * size);
    EXPECT_GT(size, 0);
  }

 private:
  rc_backend* device_ = nullptr;
  rc_backend* reference_ = nullptr;
};

TEST_F(OpenclTensors, ArrangementsMatchTheReference) {
  expect_same({{5, 6, 7}}, [](const Operands& t, rc_tensor** y) {
    rc_tensor* view = nullptr;
    require(rc_tensor_transpose(t[0], 0, 2, &view));
    const rc_status status = rc_op_relu(view, y);
    rc_tensor_release(view);
    return status;
  });
  for (const rc_dtype dtype : {RC_DTYPE_F16, RC_DTYPE_Q5_0, RC_DTYPE_Q4_K}) {
    expect_same({{5, 512}}, [&](const Operands& t, rc_tensor** y) {
      return rc_op_quantize(t[0], dtype, y);
    });
  }
  expect_same({{5, 1, 37}, {7, 1}}, [](const Operands& t, rc_tensor** y) {
    return rc_op_add(t[0], t[1], y);
  });
}

TEST_F(OpenclTensors, ProductsMatchTheReference) {
  for (const int64_t m : {1, 5, 67}) {
    expect_same({{m, 131}, {131, 77}}, [](const Operands& t, rc_tensor** y) {
      return rc_op_matmul(t[0], t[1], y);
    });
    expect_same({{m, 131}, {77, 131}}, [](const Operands& t, rc_tensor** y) {
      return rc_op_matmul_transposed(t[0], t[1], y);
    });
    for (const rc_dtype dtype : {RC_DTYPE_Q5_1, RC_DTYPE_Q5_K, RC_DTYPE_Q6_K}) {
      expect_same({{m, 512}, {77, 512}}, [&](const Operands& t, rc_tensor** y) {
        rc_tensor* weight = nullptr;
        require(rc_op_quantize(t[1], dtype, &weight));
        const rc_status status = rc_op_matmul_quantized(t[0], weight, y);
        rc_tensor_release(weight);
        return status;
      });
    }
  }
  expect_same({{2, 6, 15, 17}, {20, 3, 3, 5}, {20}},
              [](const Operands& t, rc_tensor** y) {
                rc_conv2d_options options = RC_CONV2D_OPTIONS_INIT;
                options.groups = 2;
                options.padding[0] = 1;
                options.stride[1] = 2;
                return rc_op_conv2d(t[0], t[1], t[2], &options, y);
              });
}

TEST_F(OpenclTensors, LinesMatchTheReference) {
  for (const Shape& shape : {Shape{3, 20011}, Shape{20011, 3}, Shape{5, 7}}) {
    for (const int32_t dimension : {0, 1}) {
      expect_same({shape}, [&](const Operands& t, rc_tensor** y) {
        return rc_op_softmax(t[0], dimension, y);
      });
      expect_same({shape}, [&](const Operands& t, rc_tensor** y) {
        return rc_op_reduce_max(t[0], dimension, 0, y);
      });
      expect_same({shape}, [&](const Operands& t, rc_tensor** y) {
        return rc_op_argmax(t[0], dimension, 0, y);
      });
    }
    expect_same({shape, {shape[1]}}, [&](const Operands& t, rc_tensor** y) {
      return rc_op_layer_norm(t[0], t[1], nullptr, 1e-5f, y);
    });
  }
}

TEST_F(OpenclTensors, AttentionMatchesTheReference) {
  for (const int32_t causal : {0, 1}) {
    expect_same({{7, 6, 40}, {133, 2, 40}, {133, 2, 40}},
                [&](const Operands& t, rc_tensor** y) {
                  rc_attention_options options = RC_ATTENTION_OPTIONS_INIT;
                  options.causal = causal;
                  return rc_op_attention(t[0], t[1], t[2], &options, y);
                });
  }
}

}  // namespace
}  // namespace rc::test
