// Ops of numbers at the ends of what F32 can hold. Results that are ordinary
// numbers must not be lost to an overflow on the way.
#include "special_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor_util.h"

namespace rc::test {
namespace {

using runtime::ProgramBuilder;
using runtime::Value;

std::vector<double> normed(const std::vector<double>& x, bool center) {
  const auto count = static_cast<long double>(x.size());
  long double mean = 0, squares = 0;
  for (const double number : x) mean += center ? number : 0.0L;
  mean /= count;
  for (const double number : x) squares += (number - mean) * (number - mean);
  const long double root = std::sqrt(squares / count);
  std::vector<double> y;
  for (const double number : x) {
    y.push_back(static_cast<double>((number - mean) / root));
  }
  return y;
}

const int64_t kLengths[] = {2, 7, 64, 127, 1024, 2050};

TEST(SpecialValues, NormsOfRowsStayAccurate) {
  for (const int64_t d : kLengths) {
    for (const SpecialRow& row : rows_without_squares(d)) {
      SCOPED_TRACE(row.name);
      // An ordinary row on each side.
      const Data ordinary = random_f32(d);
      std::vector<float> numbers;
      for (const double x : ordinary.values) {
        numbers.push_back(static_cast<float>(x));
      }
      std::vector<float> all = numbers;
      all.insert(all.end(), row.values.begin(), row.values.end());
      all.insert(all.end(), numbers.begin(), numbers.end());
      const Data x = floats(all);
      const Data w = random_f32(d);
      std::vector<double> expected;
      for (int64_t r = 0; r < 3; ++r) {
        const auto begin = x.values.begin() + r * d;
        const std::vector<double> y = normed({begin, begin + d}, false);
        for (int64_t i = 0; i < d; ++i) {
          expected.push_back(y[static_cast<size_t>(i)] *
                             w.values[static_cast<size_t>(i)]);
        }
      }
      OpTest test("RMS_NORM", "special values", {3, 0, 0});
      const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, d}, x);
      const Value wv = test.weight(RC_DTYPE_F32, {d}, RC_USE_ELEMENTS, w);
      test.expect(test.builder.rms_norm(xv, wv, 0), expected);
      test.run(kF32Tolerance);
    }
  }
}

TEST(SpecialValues, NormsOfTensorsStayAccurate) {
  for (const int64_t d : kLengths) {
    for (const SpecialRow& row : rows_without_squares(d)) {
      SCOPED_TRACE(row.name);
      for (const bool center : {false, true}) {
        TensorTest test(center ? "LAYER_NORM" : "LAYER_NORM, rms",
                        "special values F32");
        const std::vector<double> x =
            test.given(RC_DTYPE_F32, {1, d}, floats(row.values));
        test.run(
            [&](rc_tensor* const* t, rc_tensor** y) {
              return center ? rc_op_layer_norm(t[0], nullptr, nullptr, 0, y)
                            : rc_op_rms_norm(t[0], nullptr, 0, y);
            },
            {1, d}, normed(x, center), kF32Tolerance);
      }
    }
  }
}

TEST(SpecialValues, NormsOfDoublesStayAccurate) {
  for (const double scale : {1e305, 1e200, 1e-200, 1e-300}) {
    for (const bool center : {false, true}) {
      TensorTest test(center ? "LAYER_NORM" : "LAYER_NORM, rms",
                      "special values F64");
      Data data = random_f32(77);
      for (double& number : data.values) number *= scale;
      data.bytes.resize(data.values.size() * sizeof(double));
      std::memcpy(data.bytes.data(), data.values.data(), data.bytes.size());
      const std::vector<double> x = test.given(RC_DTYPE_F64, {1, 77}, data);
      test.run(
          [&](rc_tensor* const* t, rc_tensor** y) {
            return center ? rc_op_layer_norm(t[0], nullptr, nullptr, 0, y)
                          : rc_op_rms_norm(t[0], nullptr, 0, y);
          },
          {1, 77}, normed(x, center), kF32Tolerance);
    }
  }
}

TEST(SpecialValues, FunctionsOfLargeNumbersStayAccurate) {
  struct {
    const char* name;
    rc_status (*op)(rc_tensor*, rc_tensor**);
    rc_function function;
  } const functions[] = {
      {"relu", rc_op_relu, RC_FUNCTION_RELU},
      {"sigmoid", rc_op_sigmoid, RC_FUNCTION_SIGMOID},
      {"silu", rc_op_silu, RC_FUNCTION_SILU},
      {"gelu", rc_op_gelu, RC_FUNCTION_GELU},
      {"gelu_tanh", rc_op_gelu_tanh, RC_FUNCTION_GELU_TANH},
      {"gelu_quick", rc_op_gelu_quick, RC_FUNCTION_GELU_QUICK},
      {"tanh", rc_op_tanh, RC_FUNCTION_TANH},
  };
  for (const auto& function : functions) {
    for (const float sign : {1.0f, -1.0f}) {
      SCOPED_TRACE(sign);
      const std::vector<float> values = outward(sign);
      const auto count = static_cast<int64_t>(values.size());
      TensorTest test("UNARY", cat(function.name, " special values"));
      std::vector<double> expected;
      for (const double x : test.given(RC_DTYPE_F32, {count}, floats(values))) {
        expected.push_back(exact_function(function.function, x));
      }
      test.run([&](rc_tensor* const* x,
                   rc_tensor** y) { return function.op(x[0], y); },
               {count}, expected, kF32Tolerance);
    }
  }
}

TEST(SpecialValues, SoftmaxOfLargeAndMaskedNumbersStaysAccurate) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> rows = {
      {kLargest, -kLargest, 0},       {-kLargest, -kLargest, -kLargest},
      {kLargest, kLargest, kLargest}, {kNone, 1, 2},
      {kNone, kNone, -kLargest},      {1e30f, 1e30f, -1e30f}};
  for (const std::vector<float>& row : rows) {
    for (const int64_t times : {1, 50, 2000}) {
      std::vector<float> line;
      for (int64_t i = 0; i < times; ++i) {
        line.insert(line.end(), row.begin(), row.end());
      }
      const auto n = static_cast<int64_t>(line.size());
      TensorTest test("SOFTMAX", "special values F32");
      const std::vector<double> x =
          test.given(RC_DTYPE_F32, {1, n}, floats(line));
      const double most = *std::max_element(x.begin(), x.end());
      double total = 0;
      for (const double number : x) total += std::exp(number - most);
      std::vector<double> expected;
      for (const double number : x) {
        expected.push_back(std::exp(number - most) / total);
      }
      test.run([](rc_tensor* const* t,
                  rc_tensor** y) { return rc_op_softmax(t[0], 1, y); },
               {1, n}, expected, kF32Tolerance);
    }
  }
}

TEST(SpecialValues, AttentionWithLargeScoresStaysFinite) {
  TensorTest test("ATTEND", "special values F32");
  const std::vector<float> far(8, 1e18f);
  std::vector<float> keys = far;
  keys.insert(keys.end(), 8, -1e18f);
  test.given(RC_DTYPE_F32, {1, 1, 8}, floats(far));
  test.given(RC_DTYPE_F32, {2, 1, 8}, floats(keys));
  const std::vector<double> v = test.random(RC_DTYPE_F32, {2, 1, 8});
  test.run(
      [](rc_tensor* const* t, rc_tensor** y) {
        return rc_op_attention(t[0], t[1], t[2], nullptr, y);
      },
      {1, 1, 8}, {v.begin(), v.begin() + 8}, kF32Tolerance);
}

// GPUs add up in F32, where a part of a sum can overflow although the whole
// does not.
TEST(SpecialValues, SumsWithOverflowingPartsStayAccurate) {
  for (const char* id : {"cpu", "reference"}) {
    SCOPED_TRACE(id);
    rc_backend* backend = nullptr;
    ASSERT_EQ(rc_backend_open(id, nullptr, &backend), RC_OK);
    for (const int64_t n : {3, 301, 40003}) {
      for (const int32_t dimension : {0, 1}) {
        // The same number of both signs, and one more.
        std::vector<float> line;
        for (int64_t i = 0; i < n; ++i) {
          line.push_back(i <= n / 2 ? kLargest : -kLargest);
        }
        const int64_t shape[] = {dimension == 0 ? n : 1,
                                 dimension == 0 ? 1 : n};
        rc_tensor *x = nullptr, *sum = nullptr, *mean = nullptr;
        ASSERT_EQ(
            rc_tensor_from_data(backend, RC_DTYPE_F32, shape, 2, line.data(),
                                line.size() * sizeof(float), &x),
            RC_OK);
        EXPECT_EQ(rc_op_reduce_sum(x, dimension, 0, &sum), RC_OK);
        EXPECT_EQ(rc_op_reduce_mean(x, dimension, 0, &mean), RC_OK);
        float numbers[2] = {};
        EXPECT_EQ(rc_tensor_read(sum, numbers, sizeof *numbers), RC_OK);
        EXPECT_EQ(rc_tensor_read(mean, numbers + 1, sizeof *numbers), RC_OK);
        EXPECT_FLOAT_EQ(numbers[0], kLargest) << n;
        EXPECT_FLOAT_EQ(numbers[1], kLargest / static_cast<float>(n)) << n;
        for (rc_tensor* tensor : {x, sum, mean}) rc_tensor_release(tensor);
      }
    }
    rc_backend_release(backend);
  }
}

}  // namespace
}  // namespace rc::test
