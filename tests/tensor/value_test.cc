// Values of programs that are refused, by the message, and the nearest ones
// that are accepted.
#include "tensor/value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "expect_error.h"
#include "tensor/dtype.h"
#include "value_util.h"

namespace rc {
namespace {

// kTaken, or the whole message.
void expect(const std::string& text, const rc_plugin_value& value) {
  const auto check = [&] { check_value(value); };
  if (text == kTaken) {
    EXPECT_NO_THROW(check());
  } else {
    test::expect_error(RC_E_INVALID_ARGUMENT, text, check);
  }
}

TEST(CheckValue, UnknownStoragesAreRefused) {
  for (int32_t storage = RC_STORAGE_WEIGHT; storage <= RC_STORAGE_OUTPUT;
       ++storage) {
    expect(kTaken, value(storage, RC_DTYPE_F32, {2}));
  }
  expect("a value has storage -1", value(-1, RC_DTYPE_F32, {2}));
  expect("a value has storage 5", value(5, RC_DTYPE_F32, {2}));
}

TEST(CheckValue, OtherThanOneToFourDimensionsAreRefused) {
  const auto ranked = [](const std::string& text, size_t rank) {
    expect(text, value(RC_STORAGE_SCRATCH, RC_DTYPE_F32,
                       std::vector<int64_t>(rank, 2)));
  };
  ranked("a value has rank 0; 1 to 4 are possible", 0);
  ranked(kTaken, 1);
  ranked(kTaken, 4);
  ranked("a value has rank 5; 1 to 4 are possible", 5);
}

TEST(CheckValue, InvalidDimensionsAreRefused) {
  const auto of = [](const std::string& text, int32_t storage,
                     const std::vector<int64_t>& shape) {
    expect(text, value(storage, RC_DTYPE_F32, shape));
  };
  for (const int32_t storage : {RC_STORAGE_WEIGHT, RC_STORAGE_CACHE}) {
    of(kTaken, storage, {1, 2});
    of("a value is F32 [rows, 2]: dimension 0 is impossible", storage,
       {RC_DIM_ROWS, 2});
  }
  for (const int32_t storage :
       {RC_STORAGE_INPUT, RC_STORAGE_SCRATCH, RC_STORAGE_OUTPUT}) {
    for (const int64_t symbol :
         {RC_DIM_ROWS, RC_DIM_OUTPUTS, RC_DIM_SEQUENCES}) {
      of(kTaken, storage, {symbol, 2});
    }
    of("a value is F32 [-4, 2]: dimension 0 is impossible", storage, {-4, 2});
    of("a value is F32 [0, 2]: dimension 0 is impossible", storage, {0, 2});
    of("a value is F32 [2, 0]: dimension 1 is impossible", storage, {2, 0});
    of("a value is F32 [2, outputs]: dimension 1 is impossible", storage,
       {2, RC_DIM_OUTPUTS});
  }
}

TEST(CheckValue, InvalidTypesAndSizesAreRefused) {
  const auto of = [](const std::string& start, DType dtype,
                     const std::vector<int64_t>& shape) {
    expect(start.empty()
               ? kTaken
               : "a value is " + start +
                     ": the type is unknown, or the last dimension no multiple "
                     "of its block, or it is too large",
           value(RC_STORAGE_SCRATCH, dtype, shape));
  };
  of("type 1000 [2]", static_cast<DType>(1000), {2});
  of("Q8_0 [32, 31]", RC_DTYPE_Q8_0, {32, 31});
  of("Q8_0 [33]", RC_DTYPE_Q8_0, {33});
  of(kTaken, RC_DTYPE_Q8_0, {31, 32});
  // 2^64 bytes: by the last dimension alone, and by two.
  constexpr int64_t kTooMany = int64_t{1} << 62;
  of("F32 [4611686018427387904]", RC_DTYPE_F32, {kTooMany});
  of(kTaken, RC_DTYPE_F32, {kTooMany - 1});
  of("I8 [4, 4611686018427387904]", RC_DTYPE_I8, {4, kTooMany});
  of(kTaken, RC_DTYPE_I8, {3, kTooMany});
  // A symbol counts as one.
  of(kTaken, RC_DTYPE_I8, {RC_DIM_ROWS, kTooMany});
}

TEST(ValueBytes, CountRowsAndMayBeZero) {
  const auto bytes = [](DType dtype, const std::vector<int64_t>& shape,
                        const Rows& rows) {
    return value_bytes(value(RC_STORAGE_SCRATCH, dtype, shape), rows);
  };
  EXPECT_EQ(bytes(RC_DTYPE_F32, {RC_DIM_ROWS}, {0, 2, 3}), 0u);
  EXPECT_EQ(bytes(RC_DTYPE_F32, {RC_DIM_ROWS}, {1, 2, 3}), 4u);
  EXPECT_EQ(bytes(RC_DTYPE_F32, {RC_DIM_ROWS, 5}, {0, 2, 3}), 0u);
  EXPECT_EQ(bytes(RC_DTYPE_F32, {RC_DIM_OUTPUTS, 5}, {1, 2, 3}), 40u);
  EXPECT_EQ(bytes(RC_DTYPE_F32, {RC_DIM_SEQUENCES, 2, 5}, {1, 2, 3}), 120u);
  EXPECT_EQ(bytes(RC_DTYPE_Q8_0, {2, 64}, {1, 2, 3}), 2u * 2u * 34u);
  EXPECT_EQ(bytes(RC_DTYPE_F32, {2, 0}, {1, 2, 3}), 0u);
}

TEST(ValueBytes, AreUnknownForInvalidValues) {
  const auto unknown = [](const rc_plugin_value& value) {
    EXPECT_EQ(value_bytes(value, {1, 2, 3}), std::nullopt);
  };
  unknown(value(RC_STORAGE_SCRATCH, RC_DTYPE_F32, {}));
  unknown(value(RC_STORAGE_SCRATCH, RC_DTYPE_F32, {-4}));
  unknown(value(RC_STORAGE_SCRATCH, RC_DTYPE_F32, {-4, 2}));
  unknown(value(RC_STORAGE_SCRATCH, RC_DTYPE_F32, {2, -4}));
  unknown(value(RC_STORAGE_SCRATCH, RC_DTYPE_Q8_0, {33}));
  unknown(value(RC_STORAGE_SCRATCH, static_cast<DType>(1000), {2}));
  rc_plugin_value ranked = value(RC_STORAGE_SCRATCH, RC_DTYPE_F32, {2});
  ranked.rank = RC_PLUGIN_MAX_RANK + 1;
  unknown(ranked);
  // 2^64 bytes are one too many.
  constexpr int64_t kTooMany = int64_t{1} << 32;
  unknown(value(RC_STORAGE_SCRATCH, RC_DTYPE_I8, {kTooMany, kTooMany}));
  EXPECT_EQ(value_bytes(value(RC_STORAGE_SCRATCH, RC_DTYPE_I8,
                              {kTooMany, kTooMany - 1}),
                        {1, 2, 3}),
            static_cast<uint64_t>(kTooMany) * (kTooMany - 1));
}

}  // namespace
}  // namespace rc
