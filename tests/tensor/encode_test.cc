#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"
#include "test_data.h"

namespace rc {
namespace {

std::vector<float> normal_values(size_t count) {
  std::mt19937 random(7);
  // The quartiles and tails of a normal distribution, without
  // std::normal_distribution, whose numbers differ between libraries.
  std::vector<float> values(count);
  for (float& value : values) {
    float sum = 0;
    for (int i = 0; i < 12; ++i) {
      sum += static_cast<float>(random() >> 8) * 0x1p-24f;
    }
    value = sum - 6.0f;
  }
  return values;
}

std::vector<float> there_and_back(DType dtype,
                                  const std::vector<float>& values) {
  const auto columns = static_cast<int64_t>(values.size());
  std::vector<char> encoded(*row_bytes(dtype, columns));
  encode_row(dtype, values.data(), encoded.data(), columns);
  std::vector<float> decoded(values.size());
  decode_row(dtype, encoded.data(), decoded.data(), columns);
  return decoded;
}

// Root of the mean squared error, relative to that of the values.
double relative_error(const std::vector<float>& a,
                      const std::vector<float>& b) {
  double error = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += std::pow(static_cast<double>(a[i]) - b[i], 2);
    size += std::pow(a[i], 2);
  }
  return std::sqrt(error / size);
}

struct Case {
  DType dtype;
  double error;  // allowed; from the number of levels, with some room
};

constexpr Case kCases[] = {
    {RC_DTYPE_F32, 0},       {RC_DTYPE_F64, 0},      {RC_DTYPE_F16, 3e-4},
    {RC_DTYPE_BF16, 3e-3},   {RC_DTYPE_Q4_0, 0.1},   {RC_DTYPE_Q4_1, 0.1},
    {RC_DTYPE_Q5_0, 0.05},   {RC_DTYPE_Q5_1, 0.05},  {RC_DTYPE_Q8_0, 0.007},
    {RC_DTYPE_Q4_K, 0.09},   {RC_DTYPE_Q5_K, 0.045}, {RC_DTYPE_Q6_K, 0.025},
    {RC_DTYPE_IQ4_NL, 0.09}, {RC_DTYPE_TQ2_0, 1.0},
};

TEST(Encode, RoundTripsWithinTheErrorOfTheType) {
  const auto values = normal_values(4096);
  for (const auto& [dtype, allowed] : kCases) {
    ASSERT_TRUE(encodable(dtype));
    const double error = relative_error(values, there_and_back(dtype, values));
    EXPECT_LE(error, allowed) << dtype_name(dtype);
    // An encoder that does much better than the type can is no encoder.
    EXPECT_GE(error, allowed / 4) << dtype_name(dtype);
  }
}

TEST(Encode, ShiftedValuesKeepTheirPosition) {
  // Types with a minimum follow a shift; those without lose precision only.
  auto values = normal_values(1024);
  for (float& value : values) value = value * 0.1f + 5.0f;
  for (const auto& [dtype, allowed] : kCases) {
    EXPECT_LE(relative_error(values, there_and_back(dtype, values)),
              std::max(allowed, 1e-6))
        << dtype_name(dtype);
  }
  for (float& value : values) value = -value;
  for (const auto& [dtype, allowed] : kCases) {
    EXPECT_LE(relative_error(values, there_and_back(dtype, values)),
              std::max(allowed, 1e-6))
        << dtype_name(dtype);
  }
}

TEST(Encode, ZerosStayZeros) {
  const std::vector<float> zeros(256, 0.0f);
  for (const auto& [dtype, allowed] : kCases) {
    EXPECT_EQ(there_and_back(dtype, zeros), zeros) << dtype_name(dtype);
  }
}

TEST(Encode, ExtremeValuesStayFiniteInBlocks) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values(256, 1.0f);
  values[0] = std::numeric_limits<float>::quiet_NaN();
  values[33] = kInfinity;
  values[70] = -kInfinity;
  values[100] = std::numeric_limits<float>::max();
  values[130] = -std::numeric_limits<float>::max();
  values[200] = std::numeric_limits<float>::denorm_min();
  for (const auto& [dtype, allowed] : kCases) {
    if (dtype_info(dtype)->block_size == 1) continue;
    for (const float value : there_and_back(dtype, values)) {
      ASSERT_TRUE(std::isfinite(value)) << dtype_name(dtype);
    }
  }
}

TEST(Encode, IntegersRoundAndSaturate) {
  const std::vector<float> values = {1.5f, 2.5f, -1e30f, 1e30f,
                                     std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(there_and_back(RC_DTYPE_I8, values),
            (std::vector<float>{2, 2, -128, 127, 0}));
  EXPECT_EQ(there_and_back(RC_DTYPE_I16, values),
            (std::vector<float>{2, 2, -32768, 32767, 0}));
  EXPECT_EQ(there_and_back(RC_DTYPE_I32, values),
            (std::vector<float>{2, 2, -0x1p31f, 0x1p31f, 0}));
  EXPECT_EQ(there_and_back(RC_DTYPE_I64, values),
            (std::vector<float>{2, 2, -0x1p63f, 0x1p63f, 0}));
}

TEST(Encode, ErrorIsCloseToThatOfGgml) {
  const auto folder = test::shared_path("golden/dequant");
  RC_NEED_SHARED(folder);
  std::vector<float> values(8192);
  std::ifstream(folder / "input.f32", std::ios::binary)
      .read(reinterpret_cast<char*>(values.data()), 8192 * 4);
  const std::pair<DType, const char*> cases[] = {
      {RC_DTYPE_Q4_0, "q4_0"},     {RC_DTYPE_Q4_1, "q4_1"},
      {RC_DTYPE_Q5_0, "q5_0"},     {RC_DTYPE_Q5_1, "q5_1"},
      {RC_DTYPE_Q8_0, "q8_0"},     {RC_DTYPE_Q4_K, "q4_K"},
      {RC_DTYPE_Q5_K, "q5_K"},     {RC_DTYPE_Q6_K, "q6_K"},
      {RC_DTYPE_IQ4_NL, "iq4_nl"}, {RC_DTYPE_TQ2_0, "tq2_0"}};
  for (const auto& [dtype, name] : cases) {
    std::vector<float> theirs(values.size());
    std::ifstream(folder / (std::string(name) + ".deq.f32"), std::ios::binary)
        .read(reinterpret_cast<char*>(theirs.data()), 8192 * 4);
    EXPECT_LE(relative_error(values, there_and_back(dtype, values)),
              1.35 * relative_error(values, theirs))
        << name;
  }
}

TEST(Encode, RefusesPartsOfBlocksAndTypesWithoutEncoder) {
  const float values[256] = {};
  char bytes[1024];
  EXPECT_THROW(encode_row(RC_DTYPE_Q8_0, values, bytes, 31), Error);
  EXPECT_THROW(encode_row(RC_DTYPE_Q2_K, values, bytes, 256), Error);
  EXPECT_THROW(encode_row(4, values, bytes, 32), Error);
}

}  // namespace
}  // namespace rc
