// Norms and gates whose results stay quantized, compared bit for bit with the
// same ops computed separately.
#include <gtest/gtest.h>

#include <cstring>

#include "backends/cpu_util.h"
#include "labels.h"

namespace rc::cpu_test {
namespace {

std::vector<uint32_t> bits(const std::vector<float>& numbers, size_t count) {
  std::vector<uint32_t> result(count);
  std::memcpy(result.data(), numbers.data(), count * sizeof(float));
  return result;
}

void set_parameters(Op& op) {
  if (op.code == RC_OP_RMS_NORM) {
    op.params.norm.epsilon = 1e-5f;
  } else {
    op.params.glu.function = RC_FUNCTION_SILU;
  }
}

// Returns the result of one op for some inputs.
std::vector<float> alone(const Device& device, int32_t code,
                         const std::vector<float>& a,
                         const std::vector<float>& b, bool second_is_weight,
                         int64_t rows, int64_t n) {
  Program program(device);
  const int32_t x = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, a.data());
  const int32_t other =
      second_is_weight
          ? program.weight(RC_DTYPE_F32, {n}, b.data(), RC_USE_ELEMENTS)
          : program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, b.data());
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
  set_parameters(program.op(code, {x, other}, {y}));
  EXPECT_EQ(program.run(rows), RC_OK) << program.message();
  return program.result(y);
}

// x times a weight, with a bias.
std::vector<float> product(const Device& device, rc_dtype dtype,
                           const std::vector<float>& x,
                           const std::vector<uint8_t>& weight,
                           const std::vector<float>& bias, int64_t rows,
                           int64_t n, int64_t out) {
  Program program(device);
  const int32_t from = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, x.data());
  const int32_t w =
      program.weight(dtype, {out, n}, weight.data(), RC_USE_LINEAR);
  const int32_t b =
      program.weight(RC_DTYPE_F32, {out}, bias.data(), RC_USE_ELEMENTS);
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, out});
  program.op(RC_OP_LINEAR, {from, w, b}, {y});
  EXPECT_EQ(program.run(rows), RC_OK) << program.message();
  return program.result(y);
}

enum class Between {
  kNothing,       // two products in a row
  kFloatReader,   // and an op that takes the floats
  kOtherProduct,  // the blocks are made for another value and back again
  kFloatsWeight,  // one of the products takes floats
  kOtherForm,     // the products take blocks of two forms
  kOverwritten,   // the value is the first product's residual, too
};

struct Case {
  int32_t code;    // RC_OP_RMS_NORM or RC_OP_GLU
  rc_dtype first;  // of the first product's weight: Q4_0 or F16
  Between between;
  int64_t n;
  int64_t rows;
};

void run_case(const Case& one, int threads, const std::string& level) {
  SCOPED_TRACE(testing::Message()
               << "op " << one.code << ", type " << one.first << ", between "
               << static_cast<int>(one.between) << ", n " << one.n << ", rows "
               << one.rows << ", threads " << threads << ", " << level);
  const Device device(threads, level);
  const int64_t n = one.n;
  const bool norm = one.code == RC_OP_RMS_NORM;
  const int64_t out = one.between == Between::kOverwritten ? n : 37;
  const std::vector<float> a = random_floats(one.rows * n, 1);
  const std::vector<float> b = random_floats(norm ? n : one.rows * n, 2);
  const bool of_halves =
      (one.first == RC_DTYPE_F16) != (one.between == Between::kOtherForm);
  const rc_dtype second_type = one.between == Between::kFloatsWeight
                                   ? RC_DTYPE_F32
                               : of_halves ? RC_DTYPE_BF16
                                           : RC_DTYPE_Q8_0;
  const auto first_weight = random_weight(one.first, out, n, 3);
  const auto second_weight = random_weight(second_type, out, n, 4);
  const std::vector<float> bias = random_floats(out, 5);

  Program program(device);
  const int32_t x = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, a.data());
  const int32_t other =
      norm ? program.weight(RC_DTYPE_F32, {n}, b.data(), RC_USE_ELEMENTS)
           : program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, b.data());
  const int32_t w1 =
      program.weight(one.first, {out, n}, first_weight.data(), RC_USE_LINEAR);
  const int32_t w2 = program.weight(second_type, {out, n}, second_weight.data(),
                                    RC_USE_LINEAR);
  const int32_t bv =
      program.weight(RC_DTYPE_F32, {out}, bias.data(), RC_USE_ELEMENTS);
  const int32_t middle = program.scratch(RC_DTYPE_F32, {RC_DIM_ROWS, n});
  const int32_t first = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, out});
  const int32_t second = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, out});
  const int32_t extra = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
  const int32_t unrelated = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, out});
  set_parameters(program.op(one.code, {x, other}, {middle}));
  const bool residual = one.between == Between::kOverwritten;
  if (residual) {
    program.op(RC_OP_LINEAR, {middle, w1, bv, middle}, {first});
  } else {
    program.op(RC_OP_LINEAR, {middle, w1, bv}, {first});
  }
  if (one.between == Between::kOtherProduct) {
    program.op(RC_OP_LINEAR, {x, w1, bv}, {unrelated});
  }
  program.op(RC_OP_LINEAR, {middle, w2, bv}, {second});
  if (one.between == Between::kFloatReader) {
    program.op(RC_OP_ADD, {middle, x}, {extra});
  }
  ASSERT_EQ(program.run(one.rows), RC_OK) << program.message();

  const std::vector<float> y = alone(device, one.code, a, b, norm, one.rows, n);
  const size_t count = static_cast<size_t>(one.rows * out);
  std::vector<float> expected =
      product(device, one.first, y, first_weight, bias, one.rows, n, out);
  if (residual) {
    for (size_t i = 0; i < count; ++i) expected[i] += y[i];
  }
  EXPECT_EQ(bits(program.result(first), count), bits(expected, count));
  EXPECT_EQ(bits(program.result(second), count),
            bits(product(device, second_type, y, second_weight, bias, one.rows,
                         n, out),
                 count));
  if (one.between == Between::kFloatReader) {
    const size_t all = static_cast<size_t>(one.rows * n);
    std::vector<float> sums(all);
    for (size_t i = 0; i < all; ++i) sums[i] = y[i] + a[i];
    EXPECT_EQ(bits(program.result(extra), all), bits(sums, all));
  }
  if (one.between == Between::kOtherProduct) {
    EXPECT_EQ(bits(program.result(unrelated), count),
              bits(product(device, one.first, a, first_weight, bias, one.rows,
                           n, out),
                   count));
  }
}

TEST(CpuFused, EqualsTheUnfusedOpsBitForBit) {
  RC_TEST_LABELS(kNumbers, kSerial);
  for (const std::string& level : level_names()) {
    for (const int32_t code : {RC_OP_RMS_NORM, RC_OP_GLU}) {
      for (const Between between :
           {Between::kNothing, Between::kFloatReader, Between::kOtherProduct,
            Between::kFloatsWeight, Between::kOtherForm,
            Between::kOverwritten}) {
        for (const rc_dtype first : {RC_DTYPE_Q4_0, RC_DTYPE_F16}) {
          run_case({code, first, between, 32, 1}, 1, level);
          run_case({code, first, between, 1056, 3}, 2, level);
          run_case({code, first, between, 4160, 17}, 3, level);
        }
      }
    }
  }
}

// Experts: the gate's result has a row for each choice.
TEST(CpuFused, FusesGatesOfExperts) {
  constexpr int64_t kRows = 5, kChoices = 2, kWidth = 544, kOut = 40;
  constexpr int64_t kExperts = 3;
  const std::vector<float> gate = random_floats(kRows * kChoices * kWidth, 1);
  const std::vector<float> up = random_floats(kRows * kChoices * kWidth, 2);
  const auto weight = random_weight(RC_DTYPE_Q8_0, kExperts * kOut, kWidth, 3);
  const std::vector<int32_t> ids = {0, 2, 1, 0, 2, 1, 1, 2, 0, 1};
  const auto run = [&](bool fused, std::vector<float>* result) {
    const Device device(2);
    const std::vector<float> y =
        alone(device, RC_OP_GLU, gate, up, false, kRows, kChoices * kWidth);
    Program program(device);
    const std::vector<int64_t> shape = {RC_DIM_ROWS, kChoices, kWidth};
    int32_t x;
    if (fused) {
      const int32_t g = program.input(RC_DTYPE_F32, shape, gate.data());
      const int32_t u = program.input(RC_DTYPE_F32, shape, up.data());
      x = program.scratch(RC_DTYPE_F32, shape);
      set_parameters(program.op(RC_OP_GLU, {g, u}, {x}));
    } else {
      x = program.input(RC_DTYPE_F32, shape, y.data());
    }
    const int32_t w = program.weight(RC_DTYPE_Q8_0, {kExperts, kOut, kWidth},
                                     weight.data(), RC_USE_EXPERTS);
    const int32_t i =
        program.input(RC_DTYPE_I32, {RC_DIM_ROWS, kChoices}, ids.data());
    const int32_t to =
        program.output(RC_DTYPE_F32, {RC_DIM_ROWS, kChoices, kOut});
    program.op(RC_OP_EXPERT_LINEAR, {x, w, i}, {to});
    ASSERT_EQ(program.run(kRows), RC_OK) << program.message();
    *result = program.result(to);
  };
  std::vector<float> fused, expected;
  run(true, &fused);
  run(false, &expected);
  const size_t count = kRows * kChoices * kOut;
  EXPECT_EQ(bits(fused, count), bits(expected, count));
}

}  // namespace
}  // namespace rc::cpu_test
