// Limits of the texts of custom ops and of their calls, and one beyond them.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "custom_op_util.h"

namespace rc::test {
namespace {

// Returns options with a signature whose output has this dimension.
rc_custom_op_options output_of(const std::string& dimension,
                               std::string* signature) {
  *signature = "x F32 [n] -> y F32 [" + dimension + "]";
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = "made";
  options.signature = signature->c_str();
  options.function = [](void*, const rc_custom_call*, char*) -> rc_status {
    return RC_OK;
  };
  return options;
}

rc_status create_only(const rc_custom_op_options& options) {
  rc_custom_op* op = nullptr;
  const rc_status status = rc_custom_op_create(&options, &op);
  rc_custom_op_release(op);
  return status;
}

rc_status create_output(const std::string& dimension) {
  std::string signature;
  return create_only(output_of(dimension, &signature));
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(CustomOpErrors, MalformedExpressionsAreRefused) {
  const auto nested = [](int depth) {
    return create_output(repeated("(", depth) + "n" + repeated(")", depth));
  };
  EXPECT_OK(nested(64));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, nested(65),
               "options->signature: parentheses are nested too deeply");
  const auto negated = [](int count) {
    return create_output(repeated("-", count) + "n");
  };
  EXPECT_OK(negated(65));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, negated(66),
               "options->signature: signs are nested too deeply");
  EXPECT_OK(create_output("2147483647"));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create_output("2147483648"),
               "the number is above 2147483647");
  EXPECT_OK(create_output("elements(x)"));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create_output("elements(z)"),
               "no tensor before this has the name z");
  // The output does not come before itself.
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create_output("elements(y)"),
               "no tensor before this has the name y");
  EXPECT_OK(create_output("min(n, 3) + max(1, n)"));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create_output("min(n)"),
               "\",\" is missing");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create_output("3n"), "is missing");
}

TEST(CustomOpErrors, MalformedOptionsAreRefused) {
  rc_custom_op_options options = scale_options();
  options.items = "n, n";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create_only(options),
               "options->items: there is one expression");
  options = scale_options();
  options.glsl = "";
  options.grid = "n, n, n";
  EXPECT_OK(create_only(options));
  options.grid = "n, n, n, n";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create_only(options),
               "options->grid: there are at most three expressions");
  options.grid = "n, n";
  const auto group = [&](const char* text) {
    options.group = text;
    return create_only(options);
  };
  EXPECT_OK(group("32, 32"));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, group("32, 33"),
               "options->group: a work-group has 1 to 1024 work-items");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, group("0, 1"), "1 to 1024 work-items");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, group("8, "),
               "options->group: a number is missing at the end of");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, group("8, x"),
               "options->group: a number is missing before \"x\"");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, group("8"),
               "options->grid has 2 dimensions, this 1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, group("8, 8, 1"),
               "there are more numbers than the 2 of options->grid");
  std::string signature;
  options = output_of("n", &signature);
  options.signature = "x F32 [n] -> y F32|F16 [n]";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, create_only(options),
               "an output has one type, or that of an input");
  options.signature = "x F32|F16 [n] -> y x [n]";
  EXPECT_OK(create_only(options));
}

class CustomOpCalls : public testing::Test {
 protected:
  rc_status compute(const rc_custom_op_options& options,
                    const std::vector<rc_tensor*>& inputs,
                    const std::vector<double>& attributes) {
    const CustomOp op = create(options);
    rc_tensor* output = nullptr;
    const rc_status status =
        rc_custom_op_compute(op.get(), inputs.data(), inputs.size(),
                             attributes.data(), attributes.size(), &output, 1);
    rc_tensor_release(output);
    return status;
  }
  rc_status compute_output(const std::string& dimension) {
    std::string signature;
    const rc_custom_op_options options = output_of(dimension, &signature);
    return compute(options, {x_.get()}, {});
  }

  const Backend backend_ = open_backend();
  const Tensor x_ = make(backend_.get(), {3}, {1, 2, 3});
};

TEST_F(CustomOpCalls, InputsAndAttributesMatchTheSignature) {
  const rc_custom_op_options options = scale_options();
  const Tensor scale = make(backend_.get(), {3}, {1, 1, 1});
  rc_tensor* const x = x_.get();
  rc_tensor* const s = scale.get();
  EXPECT_OK(compute(options, {x, s}, {1}));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute(options, {x}, {1}),
               "scale_rows: 1 inputs are given, but the op has 2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute(options, {x, s, s}, {1}),
               "scale_rows: 3 inputs are given, but the op has 2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute(options, {x, s}, {}),
               "scale_rows: 0 attributes are given, but the op has 1");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute(options, {x, s}, {1, 2}),
               "scale_rows: 2 attributes are given, but the op has 1");
  const Tensor two = make(backend_.get(), {2}, {1, 1});
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute(options, {x, two.get()}, {1}),
               "n is 3 of an earlier dimension");
  rc_tensor* outline = nullptr;
  const int64_t shape[] = {3};
  ASSERT_OK(
      rc_tensor_outline(backend_.get(), RC_DTYPE_F32, shape, 1, &outline));
  const Tensor kept(outline);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute(options, {x, outline}, {1}),
               "scale_rows: input 1 is an outline, which has no numbers");
}

TEST_F(CustomOpCalls, AttributesHaveTheTypesOfTheSignature) {
  std::string signature;
  rc_custom_op_options options = output_of("n", &signature);
  options.attributes = "a int";
  const auto of_int = [&](double number) {
    return compute(options, {x_.get()}, {number});
  };
  const char* no_int = "made: the attribute a is ";
  EXPECT_OK(of_int(2147483647.0));
  EXPECT_OK(of_int(-2147483647.0));
  for (const double number : {2147483648.0, 0.5, std::nan("")}) {
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, of_int(number), no_int,
                 "which is no integer of 32 bits");
  }
  options.attributes = "a float";
  constexpr double kMost = std::numeric_limits<float>::max();
  EXPECT_OK(of_int(kMost));
  EXPECT_OK(of_int(std::nan("")));
  EXPECT_OK(of_int(-HUGE_VAL));
  for (const double number : {2 * kMost, -2 * kMost}) {
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, of_int(number), no_int,
                 "which is no number of type float");
  }
}

// n is 3.
TEST_F(CustomOpCalls, ImpossibleDimensionsAndItemsAreRefused) {
  EXPECT_OK(compute_output("n - 3"));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute_output("n - 4"),
               "made: a dimension of the output y is -1, by ");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute_output("n / (n - 3)"),
               "made: a dimension of the output y: 3 is divided by 0");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               compute_output("2147483647 * 2147483647 * n"),
               "4611686014132420609 * 3 is beyond 64 bits");
  EXPECT_FAILS(
      RC_E_INVALID_ARGUMENT,
      compute_output("0 - 2147483647 * 2147483647 * 2 - 2147483647 * n * n"),
      " is beyond 64 bits");
  EXPECT_OK(compute_output("1, n, 1, 1"));
  std::string signature;
  rc_custom_op_options options = output_of("n", &signature);
  options.items = "n - 3";
  EXPECT_OK(compute(options, {x_.get()}, {}));
  options.items = "n - 4";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute(options, {x_.get()}, {}),
               "made: options->items gives -1 items");
  // A quotient is rounded down: (3 - 4) / 2 is -1.
  options.items = "(n - 4) / 2 + 1";
  EXPECT_OK(compute(options, {x_.get()}, {}));
  options.items = "(n - 4) / 2";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, compute(options, {x_.get()}, {}),
               "made: options->items gives -1 items");
}

TEST_F(CustomOpCalls, NeedAFunctionOnDevicesWithoutKernels) {
  std::string signature;
  rc_custom_op_options options = output_of("n", &signature);
  options.function = nullptr;
  options.glsl = "";
  options.grid = "n";
  EXPECT_FAILS(RC_E_UNSUPPORTED, compute(options, {x_.get()}, {}),
               "made cannot run on reference:0: ", ", and it has no function");
}

}  // namespace
}  // namespace rc::test
