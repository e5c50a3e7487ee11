// Ops of F64 and F16 next to NumPy (tests/golden/tensors/make.py).
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tensor/dtype.h"
#include "tensor/wide.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

using nlohmann::json;

// The bytes of numbers of a type.
std::vector<std::byte> encoded(rc_dtype dtype, const json& data) {
  const auto count = static_cast<int64_t>(data.size());
  std::vector<std::byte> bytes(*row_bytes(dtype, count));
  if (dtype == RC_DTYPE_I64) {
    const auto numbers = data.get<std::vector<int64_t>>();
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
  } else {
    const auto numbers = data.get<std::vector<double>>();
    encode_row(dtype, numbers.data(), bytes.data(), count);
  }
  return bytes;
}

Tensor make_given(rc_backend* backend, const json& given) {
  const auto dtype = given.at("dtype").get<rc_dtype>();
  const auto shape = given.at("shape").get<std::vector<int64_t>>();
  const std::vector<std::byte> bytes = encoded(dtype, given.at("data"));
  rc_tensor* tensor = nullptr;
  EXPECT_OK(rc_tensor_from_data(backend, dtype, shape.data(),
                                static_cast<int32_t>(shape.size()),
                                bytes.data(), bytes.size(), &tensor));
  return Tensor(tensor);
}

using One = rc_status (*)(rc_tensor*, rc_tensor**);
using Two = rc_status (*)(rc_tensor*, rc_tensor*, rc_tensor**);
using Over = rc_status (*)(rc_tensor*, int32_t, int32_t, rc_tensor**);

const std::map<std::string, One> kOnes = {
    {"exp", rc_op_exp},         {"tanh", rc_op_tanh}, {"relu", rc_op_relu},
    {"sigmoid", rc_op_sigmoid}, {"silu", rc_op_silu}, {"gelu", rc_op_gelu},
    {"log", rc_op_log},         {"sqrt", rc_op_sqrt}, {"abs", rc_op_abs},
    {"neg", rc_op_neg}};
const std::map<std::string, Two> kTwos = {
    {"add", rc_op_add},
    {"sub", rc_op_sub},
    {"mul", rc_op_mul},
    {"div", rc_op_div},
    {"pow", rc_op_pow},
    {"minimum", rc_op_minimum},
    {"maximum", rc_op_maximum},
    {"equal", rc_op_equal},
    {"not_equal", rc_op_not_equal},
    {"less", rc_op_less},
    {"less_equal", rc_op_less_equal},
    {"greater", rc_op_greater},
    {"greater_equal", rc_op_greater_equal},
    {"matmul", rc_op_matmul},
    {"matmul_transposed", rc_op_matmul_transposed},
    {"gather_rows", rc_op_gather_rows}};
const std::map<std::string, Over> kOvers = {{"sum", rc_op_reduce_sum},
                                            {"mean", rc_op_reduce_mean},
                                            {"max", rc_op_reduce_max},
                                            {"argmax", rc_op_argmax}};

rc_status call(const json& one, const std::vector<Tensor>& x, rc_tensor** y) {
  const auto op = one.at("op").get<std::string>();
  const int32_t dimension = one.value("dimension", 0);
  if (kOnes.contains(op)) return kOnes.at(op)(x[0].get(), y);
  if (kTwos.contains(op)) return kTwos.at(op)(x[0].get(), x[1].get(), y);
  if (kOvers.contains(op)) return kOvers.at(op)(x[0].get(), dimension, 0, y);
  if (op == "where") {
    return rc_op_where(x[0].get(), x[1].get(), x[2].get(), y);
  }
  if (op == "cumsum") return rc_op_cumsum(x[0].get(), dimension, y);
  if (op == "sort") return rc_op_sort(x[0].get(), dimension, 0, y);
  if (op == "argsort") return rc_op_argsort(x[0].get(), dimension, 0, y);
  if (op == "topk") {
    return rc_op_topk(x[0].get(), one.at("k").get<int64_t>(), dimension, y);
  }
  if (op == "softmax") return rc_op_softmax(x[0].get(), dimension, y);
  if (op == "pad") {
    return rc_op_pad(x[0].get(), dimension, one.at("before").get<int64_t>(),
                     one.at("after").get<int64_t>(),
                     one.at("value").get<float>(), y);
  }
  if (op == "concat") {
    rc_tensor* const both[] = {x[0].get(), x[1].get()};
    return rc_op_concat(both, 2, dimension, y);
  }
  if (op == "quantize") {
    return rc_op_quantize(x[0].get(),
                          one.at("expected").at("dtype").get<rc_dtype>(), y);
  }
  ADD_FAILURE() << "no op " << op;
  return RC_E_INTERNAL;
}

void expect_case(rc_backend* backend, const json& one) {
  std::vector<Tensor> inputs;
  for (const json& input : one.at("inputs")) {
    inputs.push_back(make_given(backend, input));
  }
  rc_tensor* made = nullptr;
  ASSERT_EQ(call(one, inputs, &made), RC_OK) << rc_error_message();
  const Tensor result(made);
  const json& expected = one.at("expected");
  const auto wanted = expected.at("dtype").get<rc_dtype>();
  rc_dtype dtype = -1;
  int64_t shape[RC_TENSOR_MAX_RANK];
  int32_t rank = 0;
  ASSERT_OK(rc_tensor_dtype(made, &dtype));
  ASSERT_EQ(dtype, wanted);
  ASSERT_OK(rc_tensor_shape(made, shape, &rank));
  EXPECT_EQ(std::vector<int64_t>(shape, shape + rank),
            expected.at("shape").get<std::vector<int64_t>>());
  const std::vector<std::byte> found = bytes_of(made);
  const std::vector<std::byte> exact = encoded(wanted, expected.at("data"));
  const auto tolerance = one.at("tolerance").get<double>();
  if (tolerance == 0) {
    // 0 and -0 are equal.
    const auto count = static_cast<int64_t>(expected.at("data").size());
    if (wanted == RC_DTYPE_I64) {
      EXPECT_EQ(found, exact);
      return;
    }
    std::vector<double> a(static_cast<size_t>(count)), b(a.size());
    decode_row(wanted, found.data(), a.data(), count);
    decode_row(wanted, exact.data(), b.data(), count);
    EXPECT_EQ(a, b);
    return;
  }
  ASSERT_EQ(wanted, RC_DTYPE_F64);
  const auto numbers = expected.at("data").get<std::vector<double>>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    double number = 0;
    std::memcpy(&number, found.data() + i * sizeof number, sizeof number);
    EXPECT_NEAR(number, numbers[i], tolerance * std::fabs(numbers[i])) << i;
  }
}

TEST(TensorGolden, ResultsMatchNumpy) {
  std::ifstream file(RC_SOURCE_DIR "/tests/golden/tensors/cases.json");
  const json cases = json::parse(file);
  ASSERT_GT(cases.size(), 80u);
  for (const char* spec : {"cpu", "reference"}) {
    const Backend backend = open_backend(spec);
    for (size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(std::string(spec) + ", case " + std::to_string(i) + ", " +
                   cases[i].at("op").get<std::string>());
      expect_case(backend.get(), cases[i]);
    }
  }
}

}  // namespace
}  // namespace rc::test
