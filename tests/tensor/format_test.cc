// The descriptions of block formats, held against the sizes of their blocks,
// and the structs that encoders write.
#include "tensor/formats/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tensor/blocks.h"
#include "tensor/dtype.h"

namespace rc {
namespace {

// How often each bit of a block is described.
class Bits {
 public:
  explicit Bits(const BlockFormat& format)
      : counts_(8 * static_cast<size_t>(format.bytes)) {}

  void add_bytes(int at, int count) {
    for (int i = 0; i < 8 * count; ++i) ++counts_.at(8 * at + i);
  }
  void add(const BitNumber& number, int count) {
    for (const BitPlane& plane : {number.low, number.high}) {
      for (int i = 0; plane.width > 0 && i < count; ++i) {
        const BitPlace place = place_of(plane, i);
        for (int bit = 0; bit < plane.width; ++bit) {
          ++counts_.at(8 * place.byte + place.shift + bit);
        }
      }
    }
  }
  int with(int count) const {
    return static_cast<int>(std::count(counts_.begin(), counts_.end(), count));
  }

 private:
  std::vector<int> counts_;
};

TEST(Formats, EveryBitOfABlockIsDescribedOnce) {
  for (const BlockFormat& format : kBlockFormats) {
    SCOPED_TRACE(format.name);
    Bits bits(format);
    bits.add(format.quant, format.elements);
    constexpr int kScaleBytes[] = {2, 4, 1};
    bits.add_bytes(format.scale.at,
                   kScaleBytes[static_cast<int>(format.scale.kind)]);
    if (format.minimum.sign != Minimum::kNone) {
      bits.add_bytes(format.minimum.at, 2);
    }
    if (format.group > 0) {
      ASSERT_EQ(format.elements % format.group, 0);
      bits.add(format.scale_factor, format.elements / format.group);
      bits.add(format.minimum_factor, format.elements / format.group);
    }
    const int all = 8 * format.bytes;
    // Blocks of activations hold sums, which do not matter to their elements.
    EXPECT_EQ(bits.with(0) > 0, format.of_activations);
    EXPECT_EQ(bits.with(0) + bits.with(1), all);
  }
}

TEST(Formats, NumbersArePlausible) {
  for (const BlockFormat& format : kBlockFormats) {
    SCOPED_TRACE(format.name);
    EXPECT_EQ(format.elements % 32, 0);
    EXPECT_LE(width_of(format.quant), 8);
    if (format.quant.is_signed) {
      EXPECT_EQ(width_of(format.quant), 8);
    }
    if (format.table != ValueTable::kNone) {
      EXPECT_EQ(width_of(format.quant), 4);
    }
    EXPECT_EQ(format.group > 0, width_of(format.scale_factor) > 0);
    EXPECT_EQ(find_block_format(format.dtype), &format) << "described twice";
  }
  EXPECT_EQ(find_block_format(RC_DTYPE_F32), nullptr);
}

TEST(Formats, SixBitFactorsOfKTypes) {
  const BitNumber& scales = find_block_format(RC_DTYPE_Q4_K)->scale_factor;
  EXPECT_EQ(undivided(scales), 4);
  EXPECT_EQ(place_of(scales.low, 5).byte, 13);
  EXPECT_EQ(place_of(scales.high, 5).byte, 5);
  EXPECT_EQ(place_of(scales.high, 5).shift, 6);
}

template <class Block>
void expect_size(rc_dtype dtype) {
  EXPECT_EQ(static_cast<int>(sizeof(Block)), find_block_format(dtype)->bytes);
}

TEST(Formats, StructsOfEncodersHaveTheirSizes) {
  expect_size<BlockQ4_0>(RC_DTYPE_Q4_0);
  expect_size<BlockQ4_1>(RC_DTYPE_Q4_1);
  expect_size<BlockQ5_0>(RC_DTYPE_Q5_0);
  expect_size<BlockQ5_1>(RC_DTYPE_Q5_1);
  expect_size<BlockQ8_0>(RC_DTYPE_Q8_0);
  expect_size<BlockQ4_K>(RC_DTYPE_Q4_K);
  expect_size<BlockQ5_K>(RC_DTYPE_Q5_K);
  expect_size<BlockQ6_K>(RC_DTYPE_Q6_K);
  expect_size<BlockIQ4_NL>(RC_DTYPE_IQ4_NL);
}

}  // namespace
}  // namespace rc
