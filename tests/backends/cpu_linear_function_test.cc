// Products fused with a function of each element, and products of so many rows
// that threads share the rows, compared bit for bit with separate ops.
#include <gtest/gtest.h>

#include <cstring>

#include "backends/cpu_util.h"

namespace rc::cpu_test {
namespace {

constexpr int64_t kMostRows = 640;
constexpr int64_t kColumns = 96;
constexpr int64_t kOutputs = 133;  // the last tile is not full

struct Numbers {
  explicit Numbers(rc_dtype dtype)
      : x(random_floats(kMostRows * kColumns, 1)),
        bias(random_floats(kOutputs, 2)),
        residual(random_floats(kMostRows * kOutputs, 3)),
        weight(random_weight(dtype, kOutputs, kColumns, 4)) {}
  const std::vector<float> x, bias, residual;
  const std::vector<uint8_t> weight;
};

// Computes each op as a separate program.
std::vector<float> one_by_one(const Device& device, rc_dtype dtype,
                              const Numbers& numbers, int32_t function,
                              int64_t rows) {
  std::vector<float> product;
  for (int64_t r = 0; r < rows; ++r) {
    Program program(device);
    const int32_t x = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, kColumns},
                                    numbers.x.data() + r * kColumns);
    const int32_t w = program.weight(dtype, {kOutputs, kColumns},
                                     numbers.weight.data(), RC_USE_LINEAR);
    const int32_t b = program.weight(RC_DTYPE_F32, {kOutputs},
                                     numbers.bias.data(), RC_USE_ELEMENTS);
    const int32_t residual =
        program.input(RC_DTYPE_F32, {RC_DIM_ROWS, kOutputs},
                      numbers.residual.data() + r * kOutputs);
    const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, kOutputs});
    program.op(RC_OP_LINEAR, {x, w, b, residual}, {y});
    EXPECT_EQ(program.run(1), RC_OK) << program.message();
    const auto& row = program.result(y);
    product.insert(product.end(), row.begin(), row.begin() + kOutputs);
  }
  Program program(device);
  program.max_rows = kMostRows;
  const int32_t x =
      program.input(RC_DTYPE_F32, {RC_DIM_ROWS, kOutputs}, product.data());
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, kOutputs});
  program.op(RC_OP_UNARY, {x}, {y}).params.unary.function = function;
  EXPECT_EQ(program.run(rows), RC_OK) << program.message();
  return program.result(y);
}

enum class Reader {
  kNobody,  // reads the product but the function
  kLater,   // another op reads it too, after the function
  kItself,  // the function leaves its results where the product's were
};

class CpuLinearFunction : public testing::TestWithParam<std::string> {};

TEST_P(CpuLinearFunction, BitsEqualThoseOfSeparateOps) {
  const Device alone(1, GetParam());
  for (rc_dtype dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    const Numbers numbers(dtype);
    for (int32_t function : {RC_FUNCTION_GELU, RC_FUNCTION_RELU}) {
      const std::vector<float> expected =
          one_by_one(alone, dtype, numbers, function, kMostRows);
      for (int threads : {1, 2, 3}) {
        const Device device(threads, GetParam());
        for (Reader reader :
             {Reader::kNobody, Reader::kLater, Reader::kItself}) {
          Program program(device);
          program.max_rows = kMostRows;
          const auto rows_of = [&](int64_t n) {
            return std::vector<int64_t>{RC_DIM_ROWS, n};
          };
          const int32_t given =
              program.input(RC_DTYPE_F32, rows_of(kColumns), numbers.x.data());
          const int32_t also = program.input(RC_DTYPE_F32, rows_of(kOutputs),
                                             numbers.residual.data());
          const int32_t w =
              program.weight(dtype, {kOutputs, kColumns}, numbers.weight.data(),
                             RC_USE_LINEAR);
          const int32_t b = program.weight(
              RC_DTYPE_F32, {kOutputs}, numbers.bias.data(), RC_USE_ELEMENTS);
          // In the program's own memory, so that steps can be repeated.
          const int32_t x = program.scratch(RC_DTYPE_F32, rows_of(kColumns));
          const int32_t residual =
              program.scratch(RC_DTYPE_F32, rows_of(kOutputs));
          const int32_t product =
              program.scratch(RC_DTYPE_F32, rows_of(kOutputs));
          const int32_t made =
              reader == Reader::kItself
                  ? product
                  : program.scratch(RC_DTYPE_F32, rows_of(kOutputs));
          const int32_t y = program.output(RC_DTYPE_F32, rows_of(kOutputs));
          const int32_t plain = program.output(RC_DTYPE_F32, rows_of(kOutputs));
          program.op(RC_OP_SCALE, {given}, {x}).params.scale.factor = 1;
          program.op(RC_OP_SCALE, {also}, {residual}).params.scale.factor = 1;
          program.op(RC_OP_LINEAR, {x, w, b, residual}, {product});
          program.op(RC_OP_UNARY, {product}, {made}).params.unary.function =
              function;
          program.op(RC_OP_SCALE, {made}, {y}).params.scale.factor = 1;
          program
              .op(RC_OP_SCALE, {reader == Reader::kLater ? product : made},
                  {plain})
              .params.scale.factor = 1;
          for (int64_t rows : {int64_t{1}, int64_t{300}, kMostRows}) {
            SCOPED_TRACE(testing::Message()
                         << "type " << dtype << ", function " << function
                         << ", " << threads << " threads, reader "
                         << static_cast<int>(reader) << ", " << rows
                         << " rows");
            ASSERT_EQ(program.run(rows), RC_OK) << program.message();
            const size_t bytes =
                static_cast<size_t>(rows * kOutputs) * sizeof(float);
            ASSERT_EQ(
                std::memcmp(program.result(y).data(), expected.data(), bytes),
                0);
            if (reader != Reader::kLater || function != RC_FUNCTION_RELU) {
              continue;
            }
            // The product itself is what the others read.
            const float* product_of = program.result(plain).data();
            for (int64_t i = 0; i < rows * kOutputs; ++i) {
              ASSERT_EQ(product_of[i] > 0 ? product_of[i] : 0.0f, expected[i]);
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, CpuLinearFunction,
                         testing::ValuesIn(level_names()));

}  // namespace
}  // namespace rc::cpu_test
