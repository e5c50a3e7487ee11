#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tensor_util.h"

namespace rc::test {
namespace {

constexpr double kPi = 3.14159265358979323846;

struct Function {
  const char* name;
  rc_status (*op)(rc_tensor*, rc_tensor**);
  double (*exact)(double);
};

const Function kFunctions[] = {
    {"relu", rc_op_relu, [](double x) { return x > 0 ? x : 0; }},
    {"sigmoid", rc_op_sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"silu", rc_op_silu, [](double x) { return x / (1 + std::exp(-x)); }},
    {"gelu", rc_op_gelu,
     [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"gelu_tanh", rc_op_gelu_tanh,
     [](double x) {
       return 0.5 * x *
              (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
     }},
    {"gelu_quick", rc_op_gelu_quick,
     [](double x) { return x / (1 + std::exp(-1.702 * x)); }},
    {"tanh", rc_op_tanh, [](double x) { return std::tanh(x); }},
};

// What a function is measured by: its value, or a hundredth of its argument
// where the value is next to nothing, because two numbers cancelled.
double square(double x, double y) { return std::max(y * y, 1e-4 * x * x); }

TEST(Unary, EveryFunctionTypeAndShape) {
  for (const Function& function : kFunctions) {
    for (const DType dtype : number_types()) {
      for (const Case& one : cases(dtype)) {
        TensorTest test("UNARY", cat(function.name, " ", dtype_name(dtype)));
        std::vector<double> expected;
        double squares = 0;
        for (double x : test.random(dtype, one.shape, one.layout)) {
          expected.push_back(function.exact(x));
          squares += square(x, expected.back());
        }
        test.run([&](rc_tensor* const* x,
                     rc_tensor** y) { return function.op(x[0], y); },
                 one.shape, expected, kF32Tolerance, squares);
      }
    }
  }
}

TEST(Unary, FarOutAndLarge) {
  for (const Function& function : kFunctions) {
    TensorTest test("UNARY", cat(function.name, " F32"));
    const Data data = random_f32(100000, 100);
    std::vector<double> expected;
    for (double x : test.given(RC_DTYPE_F32, {100000}, data)) {
      expected.push_back(function.exact(x));
    }
    test.run([&](rc_tensor* const* x,
                 rc_tensor** y) { return function.op(x[0], y); },
             {100000}, expected, kF32Tolerance);
  }
}

}  // namespace
}  // namespace rc::test
