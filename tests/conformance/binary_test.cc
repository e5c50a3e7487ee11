#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor_util.h"

namespace rc::test {
namespace {

using compute::element_count;

// Returns the number of the element of an operand that broadcasting uses for
// element i.
int64_t place(const Shape& from, const Shape& shape, int64_t i) {
  int64_t number = 0;
  int64_t stride = 1;
  for (size_t k = 1; k <= shape.size(); ++k) {
    const int64_t index = i % shape[shape.size() - k];
    i /= shape[shape.size() - k];
    if (k > from.size()) continue;
    if (from[from.size() - k] != 1) number += index * stride;
    stride *= from[from.size() - k];
  }
  return number;
}

void run_binary(bool product, DType type_a, const Case& a, DType type_b,
                const Case& b) {
  TensorTest test("BINARY", cat(product ? "mul " : "add ", dtype_name(type_a),
                                " ", dtype_name(type_b)));
  const std::vector<double> va = test.random(type_a, a.shape, a.layout);
  const std::vector<double> vb = test.random(type_b, b.shape, b.layout);
  const Shape shape = *compute::broadcast(a.shape, b.shape);
  std::vector<double> expected;
  for (int64_t i = 0; i < element_count(shape); ++i) {
    const double u = va[place(a.shape, shape, i)];
    const double v = vb[place(b.shape, shape, i)];
    expected.push_back(product ? u * v : u + v);
  }
  test.run(
      [&](rc_tensor* const* x, rc_tensor** y) {
        return product ? rc_op_mul(x[0], x[1], y) : rc_op_add(x[0], x[1], y);
      },
      shape, expected, kF32Tolerance);
}

TEST(Binary, EveryTypeAndShapeMatchesDoubles) {
  for (const DType dtype : number_types()) {
    for (const Case& one : cases(dtype)) {
      run_binary(false, dtype, one, dtype, {one.shape});
      run_binary(true, dtype, {one.shape}, dtype, one);
    }
  }
  run_binary(false, RC_DTYPE_F16, {{3, 64}}, RC_DTYPE_Q8_0, {{1, 64}});
}

struct BinaryFunction {
  const char* name;
  rc_status (*op)(rc_tensor*, rc_tensor*, rc_tensor**);
  double (*exact)(double, double);
};

const BinaryFunction kBinaryFunctions[] = {
    {"sub", rc_op_sub, [](double a, double b) { return a - b; }},
    {"div", rc_op_div, [](double a, double b) { return a / b; }},
    {"minimum", rc_op_minimum,
     [](double a, double b) { return std::min(a, b); }},
    {"maximum", rc_op_maximum,
     [](double a, double b) { return std::max(a, b); }},
    {"equal", rc_op_equal, [](double a, double b) { return a == b ? 1. : 0.; }},
    {"not_equal", rc_op_not_equal,
     [](double a, double b) { return a != b ? 1. : 0.; }},
    {"less", rc_op_less, [](double a, double b) { return a < b ? 1. : 0.; }},
    {"less_equal", rc_op_less_equal,
     [](double a, double b) { return a <= b ? 1. : 0.; }},
    {"greater", rc_op_greater,
     [](double a, double b) { return a > b ? 1. : 0.; }},
    {"greater_equal", rc_op_greater_equal,
     [](double a, double b) { return a >= b ? 1. : 0.; }},
};

// The larger one of a column and a row, both ways round, and a column with
// itself, where all are equal in the diagonal.
TEST(Binary, EveryFunctionMatchesDoubles) {
  for (const BinaryFunction& function : kBinaryFunctions) {
    TensorTest test("BINARY", cat(function.name, " F32"));
    const std::vector<double> a = test.random(RC_DTYPE_F32, {37, 1});
    std::vector<double> expected;
    for (const double u : a) {
      for (const double v : a) expected.push_back(function.exact(u, v));
    }
    test.run(
        [&](rc_tensor* const* x, rc_tensor** y) {
          rc_tensor* row = nullptr;
          const rc_status status = rc_tensor_transpose(x[0], 0, 1, &row);
          if (status != RC_OK) return status;
          const rc_status done = function.op(x[0], row, y);
          rc_tensor_release(row);
          return done;
        },
        {37, 37}, expected, kF32Tolerance);
  }
}

TEST(Binary, PowersMatchDoubles) {
  TensorTest test("BINARY", "pow F32");
  const std::vector<double> a = test.random(RC_DTYPE_F32, {1000});
  const std::vector<double> b = test.random(RC_DTYPE_F32, {1000});
  std::vector<double> expected;
  for (size_t i = 0; i < a.size(); ++i) {
    expected.push_back(std::pow(std::fabs(a[i]), b[i]));
  }
  test.run(
      [](rc_tensor* const* x, rc_tensor** y) {
        rc_tensor* positive = nullptr;
        const rc_status status = rc_op_abs(x[0], &positive);
        if (status != RC_OK) return status;
        const rc_status done = rc_op_pow(positive, x[1], y);
        rc_tensor_release(positive);
        return done;
      },
      {1000}, expected, kF32Tolerance);
}

TEST(Binary, PowersOfAllSignsMatchDoubles) {
  TensorTest test("BINARY", "pow F32");
  std::vector<float> a, b;
  std::vector<double> expected;
  for (const float base : {-7.5f, -3.0f, -1.0f, -0.5f, 0.25f, 1.0f, 9.75f}) {
    for (float power = -8; power <= 8; power += 0.5f) {
      const double exact = std::pow(static_cast<double>(base), power);
      if (std::isnan(exact)) continue;
      // Errors of small results would be invisible next to large ones.
      if (std::fabs(exact) > 100 || std::fabs(exact) < 0.01) continue;
      a.push_back(base);
      b.push_back(power);
      expected.push_back(exact);
    }
  }
  const auto count = static_cast<int64_t>(a.size());
  test.given(RC_DTYPE_F32, {count}, floats(a));
  test.given(RC_DTYPE_F32, {count}, floats(b));
  test.run([](rc_tensor* const* x,
              rc_tensor** y) { return rc_op_pow(x[0], x[1], y); },
           {count}, expected, kF32Tolerance);
}

// Where pow of C says exactly what it is.
TEST(Binary, PowersOfSpecialNumbersMatchDoubles) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const float bases[] = {0.0f,  -0.0f,     1.0f,       -1.0f, 0.5f,
                         -2.0f, kInfinity, -kInfinity, kNan};
  const float powers[] = {0.0f,  1.0f,  3.0f, 2.0f,      0.5f,       -1.0f,
                          -2.0f, -3.0f, 1e8f, kInfinity, -kInfinity, kNan};
  std::vector<float> a, b, exact;
  for (const float base : bases) {
    for (const float power : powers) {
      const float result = std::pow(base, power);
      const bool known = result == 0 || std::isinf(result) ||
                         std::fabs(result) == 1 || std::isnan(result);
      if (!known) continue;
      a.push_back(base);
      b.push_back(power);
      exact.push_back(result);
    }
  }
  const auto count = static_cast<int64_t>(a.size());
  TensorTest test("BINARY", "pow F32");
  test.given(RC_DTYPE_F32, {count}, floats(a));
  test.given(RC_DTYPE_F32, {count}, floats(b));
  test.given(RC_DTYPE_F32, {count}, floats(exact));
  // The result is what is expected, or neither is equal to itself.
  test.run(
      [](rc_tensor* const* x, rc_tensor** y) {
        rc_tensor *power = nullptr, *same = nullptr, *own = nullptr,
                  *expected = nullptr, *both = nullptr;
        rc_status status = rc_op_pow(x[0], x[1], &power);
        if (status == RC_OK) status = rc_op_equal(power, x[2], &same);
        if (status == RC_OK) status = rc_op_equal(power, power, &own);
        if (status == RC_OK) status = rc_op_equal(x[2], x[2], &expected);
        if (status == RC_OK) status = rc_op_equal(own, expected, &both);
        if (status == RC_OK) status = rc_op_where(own, same, both, y);
        for (rc_tensor* each : {power, same, own, expected, both}) {
          rc_tensor_release(each);
        }
        return status;
      },
      {count}, std::vector<double>(a.size(), 1.0), 0);
}

TEST(Where, BroadcastingMatchesDoubles) {
  const Shape shapes[][4] = {
      {{5}, {5}, {5}, {5}},
      {{3, 1}, {4}, {1}, {3, 4}},
      {{1}, {2, 3, 4}, {3, 1}, {2, 3, 4}},
      {{2, 1, 4, 1}, {3, 1, 5}, {5}, {2, 3, 4, 5}},
      {{17, 4099}, {17, 1}, {4099}, {17, 4099}},
      {{0, 1}, {3}, {1}, {0, 3}},
  };
  for (const auto& [condition, a, b, shape] : shapes) {
    TensorTest test("WHERE", "F32");
    // Half of the conditions are 0.
    std::vector<float> conditions;
    for (int64_t i = 0; i < element_count(condition); ++i) {
      conditions.push_back(i * 7 % 4 < 2 ? 0.0f : static_cast<float>(i) - 2.5f);
    }
    const auto vc = test.given(RC_DTYPE_F32, condition, floats(conditions));
    const auto va = test.random(RC_DTYPE_F32, a);
    const auto vb = test.random(RC_DTYPE_F32, b);
    std::vector<double> expected;
    for (int64_t i = 0; i < element_count(shape); ++i) {
      const bool chosen = vc[place(condition, shape, i)] != 0;
      expected.push_back(chosen ? va[place(a, shape, i)]
                                : vb[place(b, shape, i)]);
    }
    test.run([](rc_tensor* const* x,
                rc_tensor** y) { return rc_op_where(x[0], x[1], x[2], y); },
             shape, expected, kF32Tolerance);
  }
}

TEST(Binary, BroadcastingMatchesDoubles) {
  const Shape pairs[][2] = {
      {{1}, {5}},          {{3, 1}, {5}},          {{4, 1, 3}, {5, 1}},
      {{2, 3, 4, 5}, {1}}, {{2, 3, 4, 5}, {5}},    {{2, 3, 4, 5}, {3, 1, 5}},
      {{2, 1, 4}, {3, 1}}, {{1, 7, 1}, {7, 1, 7}}, {{1000, 1}, {1, 70}},
      {{5, 1}, {5, 0}},    {{0, 1}, {1, 3}},       {{17, 1}, {17, 4099}},
  };
  for (const auto& pair : pairs) {
    run_binary(false, RC_DTYPE_F32, {pair[0]}, RC_DTYPE_F32, {pair[1]});
    run_binary(true, RC_DTYPE_F32, {pair[1]}, RC_DTYPE_F32, {pair[0]});
  }
  run_binary(false, RC_DTYPE_F32, {{4, 6}, Layout::kTransposed}, RC_DTYPE_F32,
             {{4, 1}, Layout::kSteps});
}

}  // namespace
}  // namespace rc::test
