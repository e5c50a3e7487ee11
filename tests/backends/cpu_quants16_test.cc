// Products with weights of F16 and BF16, which are multiplied as 16-bit quants:
// what they keep of numbers, and where they are not used.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu_util.h"
#include "cpu/plugin.h"
#include "tensor/half.h"

namespace rc::cpu_test {
namespace {

constexpr int64_t kBlock = 64;
constexpr float kLargestQuant = 8191;  // of activations

uint16_t half_of(rc_dtype dtype, float x) {
  return dtype == RC_DTYPE_F16 ? f32_to_f16(x) : f32_to_bf16(x);
}
float float_of(rc_dtype dtype, uint16_t bits) {
  return dtype == RC_DTYPE_F16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

class CpuQuants16 : public testing::TestWithParam<std::string> {
 protected:
  // Row `x` times a matrix of rows of one block, which must not depend on
  // whether the matrix is copied or stays where it is.
  std::vector<float> product(rc_dtype dtype, const std::vector<uint16_t>& rows,
                             const std::vector<float>& x) const {
    const std::vector<float> copied = product(dtype, rows, x, false);
    const std::vector<float> mapped = product(dtype, rows, x, true);
    EXPECT_EQ(copied.size(), mapped.size());
    for (size_t i = 0; i < copied.size(); ++i) {
      if (std::isnan(copied[i])) {
        EXPECT_TRUE(std::isnan(mapped[i])) << "row " << i;
      } else {
        EXPECT_EQ(mapped[i], copied[i]) << "row " << i;
      }
    }
    return copied;
  }

 private:
  std::vector<float> product(rc_dtype dtype, const std::vector<uint16_t>& rows,
                             const std::vector<float>& x, bool mapped) const {
    const Device device(1, GetParam());
    Program program(device);
    program.map_weights = mapped;
    const auto n = static_cast<int64_t>(rows.size()) / kBlock;
    const int32_t px =
        program.input(RC_DTYPE_F32, {RC_DIM_ROWS, kBlock}, x.data());
    const int32_t pw =
        program.weight(dtype, {n, kBlock}, rows.data(), RC_USE_LINEAR);
    const int32_t py = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
    program.op(RC_OP_LINEAR, {px, pw}, {py});
    EXPECT_EQ(program.run(1), RC_OK) << program.message();
    return program.result(py);
  }
};

constexpr rc_dtype kTypesOf16Bits[] = {RC_DTYPE_F16, RC_DTYPE_BF16};

// An activation that is the only one picks weights out, next to one that makes
// it the quant 1 and meets weights of 0.
TEST_P(CpuQuants16, WeightsNearTheLargestKeepTheirPrecision) {
  for (const rc_dtype dtype : kTypesOf16Bits) {
    const std::vector<float> numbers = random_floats(17 * kBlock, 3, 0.5f);
    std::vector<uint16_t> rows;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const float x = numbers[i];
      rows.push_back(half_of(dtype, i % kBlock == 0   ? 0
                                    : i % kBlock == 1 ? -3.99f
                                                      : x));
    }
    for (int64_t column = 1; column < kBlock; ++column) {
      std::vector<float> x(kBlock);
      x[0] = kLargestQuant;
      x[static_cast<size_t>(column)] = 1;
      const std::vector<float> y = product(dtype, rows, x);
      for (size_t i = 0; i < 17; ++i) {
        const float w =
            float_of(dtype, rows[i * kBlock + static_cast<size_t>(column)]);
        if (std::fabs(w) >= (dtype == RC_DTYPE_F16 ? 1.0f : 0.125f)) {
          ASSERT_EQ(y[i], w) << "column " << column;
        } else {
          ASSERT_LE(std::fabs(y[i] - w), std::ldexp(2.0f, -12)) << w;
        }
      }
    }
  }
}

// The largest sums of a block fit.
TEST_P(CpuQuants16, LargestSumsDoNotOverflow) {
  for (const rc_dtype dtype : kTypesOf16Bits) {
    const float w = dtype == RC_DTYPE_F16 ? 65504.0f : 0x1.fep127f;
    std::vector<uint16_t> rows(2 * kBlock, half_of(dtype, w));
    std::fill_n(rows.begin(), kBlock, half_of(dtype, -w));
    const float scale = dtype == RC_DTYPE_F16 ? 1 : 0x1p-20f;
    const std::vector<float> x(kBlock, scale);
    const std::vector<float> y = product(dtype, rows, x);
    const float sum = static_cast<float>(kBlock) * (w * scale);
    EXPECT_NEAR(y[0] / sum, -1, 1e-6);
    EXPECT_NEAR(y[1] / sum, 1, 1e-6);
  }
}

// Some numbers of BF16 are so small that their scale would be subnormal.
TEST_P(CpuQuants16, TinyWeightsStayTiny) {
  const std::vector<uint16_t> rows = [] {
    std::vector<uint16_t> all;
    for (const float w : {0.0f, 0x1p-133f, -0x1p-120f, 0x1p-113f}) {
      all.insert(all.end(), kBlock, f32_to_bf16(w));
    }
    return all;
  }();
  const std::vector<float> x(kBlock, 1.0f);
  const std::vector<float> y = product(RC_DTYPE_BF16, rows, x);
  EXPECT_EQ(y[0], 0);
  EXPECT_LE(std::fabs(y[1]), 0x1p-120f);
  EXPECT_NEAR(y[2] / -0x1p-114f, 1, 1e-2);
  EXPECT_NEAR(y[3] / 0x1p-107f, 1, 1e-3);
}

TEST_P(CpuQuants16, InfinitiesStayWithinTheirBlock) {
  for (const rc_dtype dtype : kTypesOf16Bits) {
    for (const float bad : {std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<uint16_t> rows(18 * kBlock, half_of(dtype, 0.5f));
      rows[5 * kBlock + 9] = half_of(dtype, bad);
      const std::vector<float> x(kBlock, 1.0f);
      const std::vector<float> y = product(dtype, rows, x);
      for (size_t i = 0; i < 18; ++i) {
        if (i == 5) {
          EXPECT_FALSE(std::isfinite(y[i]));
        } else {
          EXPECT_NEAR(y[i], 0.5 * kBlock, 1e-4) << "row " << i;
        }
      }
    }
  }
}

TEST_P(CpuQuants16, GetRowsNeedsAWeightCreatedForIt) {
  const Device device(1, GetParam());
  const std::vector<uint16_t> rows(16 * kBlock, f32_to_f16(1));
  const std::vector<int32_t> ids = {3};
  Program program(device);
  const int32_t table =
      program.weight(RC_DTYPE_F16, {16, kBlock}, rows.data(), RC_USE_LINEAR);
  const int32_t which = program.input(RC_DTYPE_I32, {RC_DIM_ROWS}, ids.data());
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, kBlock});
  program.op(RC_OP_GET_ROWS, {table, which}, {y});
  EXPECT_EQ(program.run(1), RC_E_INVALID_ARGUMENT);
  EXPECT_NE(program.message().find("created for products"), std::string::npos)
      << program.message();
}

INSTANTIATE_TEST_SUITE_P(Levels, CpuQuants16, testing::ValuesIn(level_names()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace rc::cpu_test
