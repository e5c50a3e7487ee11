// Encoders compared with those of the package gguf, and their errors.
#include "files/quantize/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "files/quantize/rounded.h"
#include "tensor/formats/coded_formats.h"

namespace rc::quantize {
namespace {

std::vector<uint8_t> encoded(DType dtype, const std::vector<float>& x,
                             const float* w = nullptr) {
  std::vector<uint8_t> bytes(
      row_bytes(dtype, static_cast<int64_t>(x.size())).value());
  find_encoder(dtype)(x.data(), w, static_cast<int64_t>(x.size()),
                      bytes.data());
  return bytes;
}

std::vector<float> through(DType dtype, const std::vector<float>& x,
                           const float* w = nullptr) {
  std::vector<float> y(x.size());
  decode_row(dtype, encoded(dtype, x, w).data(), y.data(),
             static_cast<int64_t>(x.size()));
  return y;
}

double error(const std::vector<float>& x, const std::vector<float>& y,
             const std::vector<float>& w) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double rest = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    sum += static_cast<double>(w[i]) * rest * rest;
  }
  return sum;
}

std::vector<float> random_row(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, 0.02f);
  std::vector<float> x(count);
  for (float& value : x) value = normal(generator);
  return x;
}

struct Expected {
  DType dtype;
  std::span<const uint8_t> bytes;
};

TEST(Encoder, MatchesThePackageGguf) {
  std::vector<float> rows(std::size(test::kRows));
  std::memcpy(rows.data(), test::kRows, sizeof test::kRows);
  for (const Expected& expected :
       {Expected{RC_DTYPE_F16, test::kRoundedF16},
        Expected{RC_DTYPE_BF16, test::kRoundedBF16},
        Expected{RC_DTYPE_Q4_0, test::kRoundedQ4_0},
        Expected{RC_DTYPE_Q5_0, test::kRoundedQ5_0},
        Expected{RC_DTYPE_Q8_0, test::kRoundedQ8_0}}) {
    const std::vector<uint8_t> bytes = encoded(expected.dtype, rows);
    ASSERT_EQ(bytes.size(), expected.bytes.size());
    const auto size =
        static_cast<size_t>(dtype_info(expected.dtype)->block_bytes);
    for (size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_EQ(bytes[i], expected.bytes[i])
          << dtype_name(expected.dtype) << ": byte " << i % size << " of block "
          << i / size;
    }
  }
}

struct Bound {
  DType dtype;
  double relative;  // error of normal numbers, of their squares
};

// Some hundredths above what the searches reach.
constexpr Bound kBounds[] = {
    {RC_DTYPE_Q8_0, 2.95e-05},  {RC_DTYPE_Q6_K, 0.000303},
    {RC_DTYPE_Q5_K, 0.00122},   {RC_DTYPE_Q5_1, 0.00144},
    {RC_DTYPE_Q5_0, 0.00189},   {RC_DTYPE_Q4_K, 0.00503},
    {RC_DTYPE_Q4_1, 0.00588},   {RC_DTYPE_Q4_0, 0.0076},
    {RC_DTYPE_IQ4_NL, 0.00553}, {RC_DTYPE_IQ4_XS, 0.00562},
    {RC_DTYPE_MXFP4, 0.0128},   {RC_DTYPE_NVFP4, 0.0084},
    {RC_DTYPE_IQ3_S, 0.0177},   {RC_DTYPE_IQ3_XXS, 0.0326},
    {RC_DTYPE_IQ2_S, 0.0605},   {RC_DTYPE_IQ2_XS, 0.0853},
    {RC_DTYPE_IQ2_XXS, 0.112},  {RC_DTYPE_IQ1_M, 0.185},
    {RC_DTYPE_IQ1_S, 0.214},    {RC_DTYPE_Q3_K, 0.0213},
    {RC_DTYPE_Q2_K, 0.0709},    {RC_DTYPE_TQ1_0, 0.194},
    {RC_DTYPE_TQ2_0, 0.194}};

TEST(Encoder, RelativeErrorsAreWithinTheirBounds) {
  const std::vector<float> x = random_row(64 * 256, 1);
  const std::vector<float> same(x.size(), 1.0f);
  const double all = error(x, std::vector<float>(x.size()), same);
  for (const Bound& bound : kBounds) {
    EXPECT_LE(error(x, through(bound.dtype, x), same) / all, bound.relative)
        << dtype_name(bound.dtype);
  }
}

TEST(Encoder, ImportanceReducesTheWeightedError) {
  const std::vector<float> x = random_row(64 * 256, 2);
  std::vector<float> weights(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    weights[i] = i % 7 == 0 ? 30.0f : 0.1f;
  }
  for (const Bound& bound : kBounds) {
    const double with =
        error(x, through(bound.dtype, x, weights.data()), weights);
    EXPECT_LT(with, error(x, through(bound.dtype, x), weights))
        << dtype_name(bound.dtype);
  }
}

TEST(Encoder, ZerosAndRepresentableValuesAreKept) {
  for (const Bound& bound : kBounds) {
    const std::vector<float> zeros(512), ones(512, 1.0f);
    for (const float* w : {static_cast<const float*>(nullptr), ones.data()}) {
      for (const float value : through(bound.dtype, zeros, w)) {
        EXPECT_EQ(value, 0.0f) << dtype_name(bound.dtype);
      }
    }
    // Ternary weights; Q4_0 has fewer steps above zero than below.
    std::vector<float> x(512);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = 0.5f * static_cast<float>(static_cast<int>(i * 7 % 3) - 1);
    }
    if (bound.dtype == RC_DTYPE_IQ4_NL || bound.dtype == RC_DTYPE_IQ4_XS ||
        has_codebook(bound.dtype)) {
      continue;  // has no zero
    }
    const std::vector<float> y = through(bound.dtype, x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(y[i], x[i], 0.0626f) << dtype_name(bound.dtype) << i;
    }
  }
}

// The sign of a scale is that of the first element of largest magnitude.
TEST(Encoder, SignOfTheScaleIsThatOfTheFirstLargestValue) {
  const auto sign = [](const std::vector<std::pair<size_t, float>>& some) {
    std::vector<float> x(256);
    for (const auto& [at, value] : some) x[at] = value;
    return encoded(RC_DTYPE_TQ2_0, x)[65] >> 7;  // the last bit of the scale
  };
  EXPECT_EQ(sign({{3, -5.0f}, {9, 4.0f}}), 1);
  EXPECT_EQ(sign({{3, -4.0f}, {9, 5.0f}}), 0);
  EXPECT_EQ(sign({{3, -5.0f}, {9, 5.0f}}), 1);
  EXPECT_EQ(sign({{3, 5.0f}, {9, -5.0f}}), 0);
  EXPECT_EQ(sign({{0, -5.0f}, {7, 5.0f}, {255, 5.0f}}), 1);
}

TEST(Encoder, TakesAnyNumberOfBlocks) {
  // Blocks are encoded eight at once; how many there are changes none.
  const std::vector<float> x = random_row(19 * 64, 3);
  for (const DType dtype :
       {RC_DTYPE_Q4_0, RC_DTYPE_Q4_1, RC_DTYPE_Q5_0, RC_DTYPE_Q5_1,
        RC_DTYPE_Q8_0, RC_DTYPE_IQ4_NL, RC_DTYPE_MXFP4, RC_DTYPE_NVFP4}) {
    const std::vector<uint8_t> whole = encoded(dtype, x);
    std::vector<uint8_t> parts;
    const auto block = dtype_info(dtype)->block_size;
    for (auto from = x.begin(); from != x.end(); from += block) {
      const auto part = encoded(dtype, {from, from + block});
      parts.insert(parts.end(), part.begin(), part.end());
    }
    EXPECT_EQ(whole, parts) << dtype_name(dtype);
  }
}

TEST(Encoder, TakesSmallestAndLargestNumbers) {
  for (const Bound& bound : kBounds) {
    std::vector<float> tiny(512, 1e-41f);
    tiny[3] = -3e-42f;
    for (const float value : through(bound.dtype, tiny)) {
      EXPECT_LT(std::fabs(value), 1e-37f) << dtype_name(bound.dtype);
    }
    const float most = std::min(largest_element(bound.dtype), 60000.0f);
    std::vector<float> large(512, most);
    large[5] = -most;
    const std::vector<float> y = through(bound.dtype, large);
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], large[i], most * 1.3f) << dtype_name(bound.dtype);
    }
  }
}

TEST(Encoder, IsMissingForTypesThatCannotBeWritten) {
  EXPECT_EQ(find_encoder(RC_DTYPE_Q8_K), nullptr);
  EXPECT_EQ(find_encoder(RC_DTYPE_I32), nullptr);
}

}  // namespace
}  // namespace rc::quantize
