// The descriptions of block formats, held against the sizes of their blocks,
// and the structs that encoders write.
#include "tensor/formats/coded_formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tensor/blocks.h"
#include "tensor/dtype.h"

namespace rc {
namespace {

// Counts how often each bit of a block is described.
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
    constexpr int kScaleBytes[] = {2, 4, 1, 0};
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

TEST(Formats, DescriptionsAreConsistent) {
  for (const BlockFormat& format : kBlockFormats) {
    SCOPED_TRACE(format.name);
    EXPECT_EQ(format.elements % 32, 0);
    EXPECT_LE(width_of(format.quant), 8);
    if (format.quant.is_signed) {
      EXPECT_EQ(width_of(format.quant), 8);
    }
    if (format.table != ValueTable::kNone) {
      EXPECT_LE(width_of(format.quant), 4);
    }
    EXPECT_EQ(dtype_info(format.dtype) == nullptr, format.is_expanded);
    EXPECT_EQ(find_decoder(format.dtype) == nullptr, format.is_expanded);
    EXPECT_EQ(format.group > 0, width_of(format.scale_factor) > 0);
    EXPECT_EQ(find_block_format(format.dtype), &format) << "described twice";
  }
  EXPECT_EQ(find_block_format(RC_DTYPE_F32), nullptr);
}

// Bits of a coded block by how often they are described.
TEST(Formats, EveryBitOfACodedBlockIsDescribedOnce) {
  for (const CodedFormat& format : kCodedFormats) {
    SCOPED_TRACE(format.name);
    const BlockFormat* expanded = find_block_format(format.expanded);
    ASSERT_NE(expanded, nullptr);
    ASSERT_EQ(format.elements % expanded->elements, 0);
    EXPECT_EQ(find_block_format(format.dtype), nullptr);
    std::vector<int> counts(8 * static_cast<size_t>(format.bytes));
    const auto add = [&](const BitRow& row, int count) {
      for (int i = 0; row.width > 0 && i < count; ++i) {
        for (int bit = 0; bit < row.width; ++bit) {
          ++counts.at(static_cast<size_t>(bit_of(row, i) + bit));
        }
      }
    };
    // Entries of four digits have three bits for each.
    const int digits = width_of(expanded->quant) == 4 ? 4 : 8;
    add(format.index, format.elements / digits);
    add(format.index_high, format.elements / digits);
    add(format.sign, format.elements / format.sign_elements);
    if (format.group > 0) add(format.factor, format.elements / format.group);
    add(format.scale_parts, 4);
    if (format.scale_parts.width == 0 &&
        expanded->scale.kind != ScaleKind::kOne) {
      add({.at = 8 * format.scale_at, .width = 16}, 1);
    }
    for (const TernaryBytes& bytes : format.ternary) {
      add({.at = 8 * bytes.at, .width = 8, .step = 8}, bytes.stride);
    }
    for (int i = 0; format.plane.width > 0 && i < format.elements; ++i) {
      const BitPlace place = place_of(format.plane, i);
      add({.at = 8 * place.byte + place.shift, .width = format.plane.width}, 1);
    }
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 1),
              static_cast<int>(counts.size()));
  }
}

TEST(Formats, SixBitFactorsOfKTypesHaveTheirPlaces) {
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
