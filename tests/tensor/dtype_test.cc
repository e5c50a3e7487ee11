#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>

namespace rc {
namespace {

TEST(DType, OnlyAssignedTypesAreKnown) {
  const std::set<int> unassigned = {4, 5, 31, 32, 33, 36, 37, 38};
  for (int type = 0; type <= RC_DTYPE_Q1_0; ++type) {
    EXPECT_EQ(dtype_info(type) == nullptr, unassigned.contains(type)) << type;
  }
  EXPECT_EQ(dtype_info(-1), nullptr);
  EXPECT_EQ(dtype_info(RC_DTYPE_Q1_0 + 1), nullptr);
}

TEST(DType, DecodableTypesHaveADecoder) {
  for (int type = 0; type <= RC_DTYPE_Q1_0; ++type) {
    const DTypeInfo* info = dtype_info(type);
    EXPECT_EQ(find_decoder(type) != nullptr, info != nullptr && info->decodable)
        << type;
    if (encodable(type)) {
      EXPECT_TRUE(info->decodable) << type;
    }
  }
}

TEST(DType, TypesAreFoundByName) {
  EXPECT_STREQ(dtype_name(RC_DTYPE_Q4_K), "Q4_K");
  EXPECT_STREQ(dtype_name(31), "type 31");
  EXPECT_STREQ(dtype_name(-2147483647 - 1), "type -2147483648");
}

TEST(DType, RowBytesAreThoseOfWholeBlocks) {
  EXPECT_EQ(row_bytes(RC_DTYPE_F32, 3), 12u);
  EXPECT_EQ(row_bytes(RC_DTYPE_Q4_K, 512), 288u);
  EXPECT_EQ(row_bytes(RC_DTYPE_Q4_K, 0), 0u);
  EXPECT_EQ(row_bytes(RC_DTYPE_Q4_K, 128), std::nullopt);
  EXPECT_EQ(row_bytes(RC_DTYPE_F32, -1), std::nullopt);
  EXPECT_EQ(row_bytes(5, 32), std::nullopt);
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(row_bytes(RC_DTYPE_F32, most), std::nullopt);
  EXPECT_EQ(row_bytes(RC_DTYPE_I8, most), static_cast<uint64_t>(most));
}

// The value of a finite binary16, from its definition.
double f16_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double magnitude = exponent == 0
                               ? std::ldexp(mantissa, -24)
                               : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryF16RoundTrips) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = f16_to_f32(bits);
    if ((bits & 0x7C00) == 0x7C00) {
      EXPECT_EQ(std::isnan(value), (bits & 0x3FF) != 0) << i;
      EXPECT_EQ(std::isinf(value), (bits & 0x3FF) == 0) << i;
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value)))) << i;
        continue;
      }
    } else {
      ASSERT_EQ(value, f16_value(bits)) << i;
    }
    ASSERT_EQ(f32_to_f16(value), bits) << i;
  }
}

TEST(Half, F32RoundsToTheNearestF16TiesToEven) {
  for (int i = 0; i < 0x7BFF; ++i) {
    const auto low = static_cast<uint16_t>(i);
    const auto high = static_cast<uint16_t>(i + 1);
    const float a = f16_to_f32(low), b = f16_to_f32(high);
    const float middle = a + (b - a) / 2;  // exact in f32
    ASSERT_EQ(f32_to_f16(middle), (i & 1) == 0 ? low : high) << i;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, 0.0f)), low) << i;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, 1e9f)), high) << i;
    ASSERT_EQ(f32_to_f16(-middle), f32_to_f16(middle) | 0x8000) << i;
  }
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7C00);
  EXPECT_EQ(f32_to_f16(1e30f), 0x7C00);
  EXPECT_EQ(f32_to_f16(1e-30f), 0);
}

TEST(Half, F32RoundsToTheNearestBf16TiesToEven) {
  EXPECT_EQ(f32_to_bf16(1.0f), 0x3F80);
  EXPECT_EQ(bf16_to_f32(0x3F80), 1.0f);
  // Halfway between 0x3F80 and 0x3F81, and between 0x3F81 and 0x3F82.
  EXPECT_EQ(f32_to_bf16(1.00390625f), 0x3F80);
  EXPECT_EQ(f32_to_bf16(1.01171875f), 0x3F82);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(f32_to_bf16(-std::numeric_limits<float>::infinity()), 0xFF80);
  // A NaN whose payload is in the lower half only must not become infinity.
  EXPECT_TRUE(std::isnan(
      bf16_to_f32(f32_to_bf16(std::bit_cast<float>(uint32_t{0x7F800001})))));
}

}  // namespace
}  // namespace rc
