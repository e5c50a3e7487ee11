#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tensor_util.h"

namespace rc::test {
namespace {

struct UnaryFunction {
  const char* name;
  rc_status (*op)(rc_tensor*, rc_tensor**);
  rc_function function;
};

const UnaryFunction kUnaryFunctions[] = {
    {"relu", rc_op_relu, RC_FUNCTION_RELU},
    {"sigmoid", rc_op_sigmoid, RC_FUNCTION_SIGMOID},
    {"silu", rc_op_silu, RC_FUNCTION_SILU},
    {"gelu", rc_op_gelu, RC_FUNCTION_GELU},
    {"gelu_tanh", rc_op_gelu_tanh, RC_FUNCTION_GELU_TANH},
    {"gelu_quick", rc_op_gelu_quick, RC_FUNCTION_GELU_QUICK},
    {"tanh", rc_op_tanh, RC_FUNCTION_TANH},
};

// Returns the square to which errors of a function are related: that of its
// value, or of a hundredth of its argument if two numbers nearly cancel.
double square(double x, double y) { return std::max(y * y, 1e-4 * x * x); }

TEST(Unary, EveryFunctionTypeAndShapeMatchesDoubles) {
  for (const UnaryFunction& function : kUnaryFunctions) {
    for (const DType dtype : number_types()) {
      for (const Case& one : cases(dtype)) {
        TensorTest test("UNARY", cat(function.name, " ", dtype_name(dtype)));
        std::vector<double> expected;
        double squares = 0;
        for (double x : test.random(dtype, one.shape, one.layout)) {
          expected.push_back(exact_function(function.function, x));
          squares += square(x, expected.back());
        }
        test.run([&](rc_tensor* const* x,
                     rc_tensor** y) { return function.op(x[0], y); },
                 one.shape, expected, kF32Tolerance, squares);
      }
    }
  }
}

TEST(Unary, FunctionsOfTensorsMatchDoubles) {
  struct {
    const char* name;
    rc_status (*op)(rc_tensor*, rc_tensor**);
    double (*exact)(double);
    bool positive;
  } const functions[] = {
      {"exp", rc_op_exp, [](double x) { return std::exp(x); }, false},
      {"abs", rc_op_abs, [](double x) { return std::fabs(x); }, false},
      {"neg", rc_op_neg, [](double x) { return -x; }, false},
      {"log", rc_op_log, [](double x) { return std::log(x); }, true},
      {"sqrt", rc_op_sqrt, [](double x) { return std::sqrt(x); }, true},
  };
  for (const auto& function : functions) {
    for (const Case& one : cases(RC_DTYPE_F32)) {
      TensorTest test("UNARY", cat(function.name, " F32"));
      std::vector<double> expected;
      for (double x : test.random(RC_DTYPE_F32, one.shape, one.layout)) {
        expected.push_back(
            function.exact(function.positive ? std::fabs(x) : x));
      }
      test.run(
          [&](rc_tensor* const* x, rc_tensor** y) {
            if (!function.positive) return function.op(x[0], y);
            rc_tensor* positive = nullptr;
            const rc_status status = rc_op_abs(x[0], &positive);
            if (status != RC_OK) return status;
            const rc_status done = function.op(positive, y);
            rc_tensor_release(positive);
            return done;
          },
          one.shape, expected, kF32Tolerance);
    }
  }
}

TEST(Unary, LargeNumbersMatchDoubles) {
  for (const UnaryFunction& function : kUnaryFunctions) {
    TensorTest test("UNARY", cat(function.name, " F32"));
    const Data data = random_f32(100000, 100);
    std::vector<double> expected;
    for (double x : test.given(RC_DTYPE_F32, {100000}, data)) {
      expected.push_back(exact_function(function.function, x));
    }
    test.run([&](rc_tensor* const* x,
                 rc_tensor** y) { return function.op(x[0], y); },
             {100000}, expected, kF32Tolerance);
  }
}

}  // namespace
}  // namespace rc::test
