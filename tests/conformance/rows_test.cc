// Ops that are both of tensors and of rows, on a symbolic number of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::ProgramBuilder;
using runtime::Value;

ProgramBuilder::Shape shape_of(int64_t heads, int64_t d) {
  return heads == 0 ? ProgramBuilder::Shape{RC_DIM_ROWS, d}
                    : ProgramBuilder::Shape{RC_DIM_ROWS, heads, d};
}

// Values about `middle`.
void run_norm(int64_t rows, int64_t heads, int64_t d, float epsilon,
              double middle, bool weighted, bool biased) {
  OpTest test(
      "LAYER_NORM",
      cat("rows", weighted ? "" : ", no weight", biased ? "" : ", no bias"),
      {rows, 0, 0});
  const int64_t vectors = rows * std::max<int64_t>(heads, 1);
  Data x = random_f32(vectors * d);
  auto* stored = reinterpret_cast<float*>(x.bytes.data());
  for (size_t i = 0; i < x.values.size(); ++i) {
    stored[i] = static_cast<float>(x.values[i] + middle);
    x.values[i] = stored[i];
  }
  const Data w = random_f32(d);
  const Data b = random_f32(d, 0.5);
  std::vector<double> expected;
  for (int64_t v = 0; v < vectors; ++v) {
    const double* row = x.values.data() + v * d;
    double mean = 0;
    for (int64_t i = 0; i < d; ++i) mean += row[i] / static_cast<double>(d);
    double squares = 0;
    for (int64_t i = 0; i < d; ++i) squares += std::pow(row[i] - mean, 2);
    const double root = std::sqrt(squares / static_cast<double>(d) + epsilon);
    for (int64_t i = 0; i < d; ++i) {
      expected.push_back((row[i] - mean) / root * (weighted ? w.values[i] : 1) +
                         (biased ? b.values[i] : 0));
    }
  }
  const Value xv = test.input(RC_DTYPE_F32, shape_of(heads, d), x);
  const auto elements = [&](bool there, const Data& data) {
    return there ? test.weight(RC_DTYPE_F32, {d}, RC_USE_ELEMENTS, data)
                 : runtime::kAbsent;
  };
  const Value wv = elements(weighted, w);
  test.expect(test.builder.layer_norm(xv, wv, elements(biased, b), epsilon),
              expected);
  test.run(kF32Tolerance);
}

TEST(LayerNormOfRows, RowsAndHeadsMatchDoubles) {
  for (const int64_t d : {2, 7, 64, 127, 2048}) {
    for (const int64_t rows : {1, 5}) {
      run_norm(rows, 0, d, 1e-5f, 0, true, true);
      run_norm(rows, 3, d, 1e-3f, 0, true, true);
    }
    run_norm(3, 0, d, 1e-3f, 0, false, true);
    run_norm(3, 0, d, 1e-3f, 0, true, false);
    run_norm(3, 0, d, 1e-3f, 0, false, false);
  }
}

TEST(LayerNormOfRows, NumbersFarFromZeroMatchDoubles) {
  run_norm(4, 0, 96, 1e-5f, 8, true, true);
  run_norm(70, 0, 384, 1e-5f, -5, true, true);
}

void run_unary(int function, int64_t rows, int64_t heads, int64_t d,
               double deviation) {
  OpTest test("UNARY", cat("rows, function ", function), {rows, 0, 0});
  const Data x = random_f32(rows * std::max<int64_t>(heads, 1) * d, deviation);
  std::vector<double> expected;
  for (const double value : x.values) {
    expected.push_back(exact_function(function, value));
  }
  const Value xv = test.input(RC_DTYPE_F32, shape_of(heads, d), x);
  test.expect(test.builder.unary(xv, function), expected);
  test.run(kF32Tolerance);
}

TEST(UnaryOfRows, EveryFunctionAndShapeMatchesDoubles) {
  for (int function = RC_FUNCTION_RELU; function <= RC_FUNCTION_GELU_QUICK;
       ++function) {
    run_unary(function, 1, 0, 1, 1);
    run_unary(function, 3, 0, 7, 1);
    run_unary(function, 5, 3, 33, 1);
    run_unary(function, 2, 0, 4099, 1);
    run_unary(function, 67, 0, 128, 1);
    run_unary(function, 1, 0, 1000, 100);
  }
}

// The results of ops on rows are the input of products, for which a device may
// need another form.
TEST(RowsIntoProducts, EveryKindOfWeightMatchesDoubles) {
  for (const DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    constexpr int64_t kRows = 6;
    constexpr int64_t kInner = 64;
    constexpr int64_t kSize = 24;
    OpTest test("LINEAR", cat(dtype_name(dtype), " of rows"), {kRows, 0, 0});
    const Data x = random_f32(kRows * kInner);
    const Data one = random_data(dtype, kInner, kInner);
    const Data two = random_data(dtype, kSize, kInner);
    const Data w = random_f32(kInner);
    const Value weight =
        test.weight(RC_DTYPE_F32, {kInner}, RC_USE_ELEMENTS, w);
    const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, kInner}, x);
    const Value normed =
        test.builder.layer_norm(xv, weight, runtime::kAbsent, 1e-5f);
    const Value first = test.builder.linear(
        normed, test.weight(dtype, {kInner, kInner}, RC_USE_LINEAR, one));
    const Value turned = test.builder.unary(first, RC_FUNCTION_GELU);
    const Value last = test.builder.linear(
        turned, test.weight(dtype, {kSize, kInner}, RC_USE_LINEAR, two));
    std::vector<double> expected;
    for (int64_t r = 0; r < kRows; ++r) {
      const double* row = x.values.data() + r * kInner;
      double mean = 0;
      for (int64_t i = 0; i < kInner; ++i) mean += row[i] / kInner;
      double squares = 0;
      for (int64_t i = 0; i < kInner; ++i)
        squares += std::pow(row[i] - mean, 2);
      const double root = std::sqrt(squares / kInner + 1e-5f);
      std::vector<double> inner;
      for (int64_t n = 0; n < kInner; ++n) {
        double sum = 0;
        for (int64_t i = 0; i < kInner; ++i) {
          sum +=
              (row[i] - mean) / root * w.values[i] * one.values[n * kInner + i];
        }
        inner.push_back(exact_function(RC_FUNCTION_GELU, sum));
      }
      for (int64_t n = 0; n < kSize; ++n) {
        double sum = 0;
        for (int64_t i = 0; i < kInner; ++i) {
          sum += inner[i] * two.values[n * kInner + i];
        }
        expected.push_back(sum);
      }
    }
    test.expect(last, expected);
    // Two products, one behind the other.
    test.run(4 * product_tolerance(dtype));
  }
}

}  // namespace
}  // namespace rc::test
