// Types that rows cannot be converted from or to.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

#include "expect_error.h"
#include "tensor/dtype.h"
#include "tensor/wide.h"

namespace rc {
namespace {

template <class Call>
void expect_unsupported(const std::string& text, const Call& call) {
  test::expect_error(RC_E_UNSUPPORTED, text, call);
}

TEST(ConversionErrors, TypesWithoutDecoderOrEncoderAreNamed) {
  std::array<float, 256> floats = {};
  std::array<std::byte, 1024> bytes = {};
  constexpr auto kUnknown = static_cast<DType>(1000);
  expect_unsupported("no decoder for tensors of type 1000", [&] {
    decode_row(kUnknown, bytes.data(), floats.data(), 256);
  });
  expect_unsupported("no encoder for tensors of type 1000", [&] {
    encode_row(kUnknown, floats.data(), bytes.data(), 256);
  });
  expect_unsupported("no encoder for tensors of Q2_K", [&] {
    encode_row(RC_DTYPE_Q2_K, floats.data(), bytes.data(), 256);
  });
  // It can be decoded; a block of zeros is zeros.
  floats.fill(7);
  decode_row(RC_DTYPE_Q2_K, bytes.data(), floats.data(), 256);
  EXPECT_EQ(floats, (std::array<float, 256>{}));
}

TEST(ConversionErrors, BlocksAndF64AreNotConverted) {
  std::array<double, 32> wide = {};
  std::array<std::byte, 256> bytes = {};
  for (const DType dtype : {RC_DTYPE_Q8_0, RC_DTYPE_IQ4_NL}) {
    const std::string text = std::string("no conversion of ") +
                             dtype_name(dtype) +
                             " from or to F64: it has blocks";
    expect_unsupported(
        text, [&] { decode_row(dtype, bytes.data(), wide.data(), 32); });
    expect_unsupported(
        text, [&] { encode_row(dtype, wide.data(), bytes.data(), 32); });
  }
  for (const DType dtype :
       {RC_DTYPE_F32, RC_DTYPE_F64, RC_DTYPE_F16, RC_DTYPE_BF16, RC_DTYPE_I8,
        RC_DTYPE_I16, RC_DTYPE_I32, RC_DTYPE_I64}) {
    wide.fill(-3);
    encode_row(dtype, wide.data(), bytes.data(), 32);
    wide.fill(0);
    decode_row(dtype, bytes.data(), wide.data(), 32);
    for (const double number : wide) EXPECT_EQ(number, -3) << dtype_name(dtype);
  }
}

}  // namespace
}  // namespace rc
