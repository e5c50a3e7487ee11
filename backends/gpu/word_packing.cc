#include "gpu/word_packing.h"

#include <cstring>

#include "tensor/blocks.h"

namespace rc::gpu {
namespace {

// As in shaders/blocks.glsl.
enum Scaling : uint32_t {
  kUnscaled = 0,
  kHalf = 1,
  kHalfPair = 2,
  kBrain = 3,
  kSixteenths = 4,
  kThirds = 5,
  kNibbles = 6,
  kSingle = 7
};
enum Meaning : uint32_t {
  kInteger = 0,
  kIQ4Value = 1,
  kMXFP4Value = 2,
  kF32 = 3,
  kF16 = 4,
  kBF16 = 5
};

// The constants of shaders/blocks.glsl, by name.
struct Format {
  DType dtype;    // of what is stored
  uint32_t bits;  // kElementBits
  uint32_t low_plane = 0;
  uint32_t high_plane = 0;
  uint32_t scaling = 0;
  int32_t zero = 0;
  uint32_t meaning = 0;
};

// A tile of `rows` rows.
struct Tile {
  const Format* format;
  uint64_t rows;
  uint64_t groups;

  uint64_t quad_words() const { return format->bits; }  // of a group of a row
  uint64_t plane_words() const {
    return format->low_plane + format->high_plane;
  }
  uint64_t scale_words() const;  // of a row
  uint64_t words() const {
    return (groups * (quad_words() + plane_words()) + scale_words()) * rows;
  }
};

// Elements and scales of one block, apart.
struct Unpacked {
  uint8_t bits[kLargeBlock];
  uint16_t scale = 0;
  uint16_t minimum = 0;
  uint16_t factors[8] = {};  // of each group of 32
};

// Byte j holds elements j and j + 16.
void unpack_nibbles(const uint8_t* quants, uint8_t* bits) {
  for (int j = 0; j < 16; ++j) {
    bits[j] = quants[j] & 15;
    bits[j + 16] = quants[j] >> 4;
  }
}

void add_fifth(uint32_t high, uint8_t* bits) {
  for (int j = 0; j < 32; ++j) {
    bits[j] |= static_cast<uint8_t>((high >> j & 1) << 4);
  }
}

void unpack(const BlockQ4_0& block, Unpacked* to) {
  to->scale = block.scale;
  unpack_nibbles(block.quants, to->bits);
}
void unpack(const BlockQ4_1& block, Unpacked* to) {
  to->scale = block.scale;
  to->minimum = block.minimum;
  unpack_nibbles(block.quants, to->bits);
}
void unpack(const BlockQ5_0& block, Unpacked* to) {
  to->scale = block.scale;
  unpack_nibbles(block.quants, to->bits);
  add_fifth(block.high, to->bits);
}
void unpack(const BlockQ5_1& block, Unpacked* to) {
  to->scale = block.scale;
  to->minimum = block.minimum;
  unpack_nibbles(block.quants, to->bits);
  add_fifth(block.high, to->bits);
}
void unpack(const BlockQ8_0& block, Unpacked* to) {
  to->scale = block.scale;
  std::memcpy(to->bits, block.quants, sizeof block.quants);
}
void unpack(const BlockQ8_1& block, Unpacked* to) {
  to->scale = block.scale;
  std::memcpy(to->bits, block.quants, sizeof block.quants);
}
void unpack(const BlockIQ4_NL& block, Unpacked* to) {
  to->scale = block.scale;
  unpack_nibbles(block.quants, to->bits);
}
void unpack(const BlockMXFP4& block, Unpacked* to) {
  // A power of two: exact as bfloat16.
  to->scale = f32_to_bf16(mxfp4_scale(block.exponent));
  unpack_nibbles(block.quants, to->bits);
}

void unpack(const BlockQ2_K& block, Unpacked* to) {
  to->scale = block.scale;
  to->minimum = block.min_scale;
  for (int group = 0; group < 16; ++group) {
    const GroupPlace place = place_of_group(group);
    const uint8_t* quants = block.quants + 32 * place.half + place.byte;
    for (int l = 0; l < 16; ++l) {
      to->bits[16 * group + l] = (quants[l] >> (2 * place.run)) & 3;
    }
    to->factors[group / 2] |=
        static_cast<uint16_t>(block.scales[group] << (8 * (group % 2)));
  }
}
void unpack(const BlockQ3_K& block, Unpacked* to) {
  to->scale = block.scale;
  for (int group = 0; group < 16; ++group) {
    const GroupPlace place = place_of_group(group);
    const uint8_t* quants = block.quants + 32 * place.half + place.byte;
    const uint8_t* high = block.high + place.byte;
    for (int l = 0; l < 16; ++l) {
      const int third = (high[l] >> (group / 2)) & 1;
      to->bits[16 * group + l] = static_cast<uint8_t>(
          ((quants[l] >> (2 * place.run)) & 3) | (third << 2));
    }
    const auto scale = static_cast<uint8_t>(q3_k_scale(block.scales, group));
    to->factors[group / 2] |= static_cast<uint16_t>(scale << (8 * (group % 2)));
  }
}

uint16_t scale_and_minimum(const uint8_t* scales, int group) {
  const ScaleMin both = k_scale_min(scales, group);
  return static_cast<uint16_t>(both.scale | both.minimum << 8);
}

void unpack(const BlockQ4_K& block, Unpacked* to) {
  to->scale = block.scale;
  to->minimum = block.min_scale;
  for (int group = 0; group < 8; ++group) {
    const uint8_t* quants = block.quants + 32 * (group / 2);
    for (int l = 0; l < 32; ++l) {
      to->bits[32 * group + l] = (quants[l] >> (4 * (group % 2))) & 15;
    }
    to->factors[group] = scale_and_minimum(block.scales, group);
  }
}
void unpack(const BlockQ5_K& block, Unpacked* to) {
  to->scale = block.scale;
  to->minimum = block.min_scale;
  for (int group = 0; group < 8; ++group) {
    const uint8_t* quants = block.quants + 32 * (group / 2);
    for (int l = 0; l < 32; ++l) {
      const int high = (block.high[l] >> group) & 1;
      to->bits[32 * group + l] = static_cast<uint8_t>(
          ((quants[l] >> (4 * (group % 2))) & 15) | (high << 4));
    }
    to->factors[group] = scale_and_minimum(block.scales, group);
  }
}
void unpack(const BlockQ6_K& block, Unpacked* to) {
  to->scale = block.scale;
  for (int group = 0; group < 16; ++group) {
    const GroupPlace place = place_of_group(group);
    const uint8_t* low =
        block.low + 64 * place.half + 32 * (place.run % 2) + place.byte;
    const int shift = place.run < 2 ? 0 : 4;
    const uint8_t* high = block.high + 32 * place.half + place.byte;
    for (int l = 0; l < 16; ++l) {
      const int upper = (high[l] >> (2 * place.run)) & 3;
      to->bits[16 * group + l] =
          static_cast<uint8_t>(((low[l] >> shift) & 15) | (upper << 4));
    }
    const auto scale = static_cast<uint8_t>(block.scales[group]);
    to->factors[group / 2] |= static_cast<uint16_t>(scale << (8 * (group % 2)));
  }
}
void unpack(const BlockIQ4_XS& block, Unpacked* to) {
  to->scale = block.scale;
  for (int group = 0; group < 8; ++group) {
    unpack_nibbles(block.quants + 16 * group, to->bits + 32 * group);
    const auto scale = static_cast<uint8_t>(iq4_xs_scale(block, group));
    to->factors[group] = static_cast<uint16_t>(scale | scale << 8);
  }
}

// Where a row's words of one tile go.
class Writer {
 public:
  Writer(const Tile& tile, uint64_t row, uint32_t* target)
      : tile_(tile), row_(row), target_(target) {}

  // Quad `i` of a group: four words.
  uint32_t* quad(uint64_t group, uint64_t i) const {
    const uint64_t quads = tile_.quad_words() / 4;
    return target_ + ((group * quads + i) * tile_.rows + row_) * 4;
  }
  uint32_t* plane(uint64_t group, uint64_t i) const {
    return target_ +
           (tile_.groups * tile_.quad_words() + group * tile_.plane_words() +
            i) *
               tile_.rows +
           row_;
  }
  uint32_t* scale(uint64_t i) const {
    return target_ +
           (tile_.groups * (tile_.quad_words() + tile_.plane_words()) + i) *
               tile_.rows +
           row_;
  }

 private:
  const Tile& tile_;
  uint64_t row_;
  uint32_t* target_;
};

// The words of the bits [first, first + width) of 32 elements, the earlier
// elements lower.
void pack_bits(const uint8_t* bits, uint32_t first, uint32_t width,
               uint32_t* words) {
  const uint32_t each = 32 / width;
  const uint32_t mask = (1u << width) - 1;
  for (uint32_t w = 0; w < width; ++w) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < each; ++i) {
      word |= (bits[w * each + i] >> first & mask) << (width * i);
    }
    words[w] = word;
  }
}

void pack_group(const Format& format, const uint8_t* bits, uint64_t group,
                const Writer& to) {
  uint32_t words[8];
  if (format.bits == 8) {
    std::memcpy(to.quad(group, 0), bits, 16);
    std::memcpy(to.quad(group, 1), bits + 16, 16);
    return;
  }
  uint32_t place = 0;
  if (format.bits == 4) {
    pack_bits(bits, 0, 4, words);
    std::memcpy(to.quad(group, 0), words, 16);
    place = 4;
  }
  uint64_t plane = 0;
  for (uint32_t width : {format.low_plane, format.high_plane}) {
    if (width == 0) continue;
    pack_bits(bits, place, width, words);
    for (uint32_t i = 0; i < width; ++i) *to.plane(group, plane++) = words[i];
    place += width;
  }
}

template <class Block, int kSize>
void pack_blocks(const Tile& tile, const void* source, int64_t columns,
                 const Writer& to) {
  const auto* block = static_cast<const Block*>(source);
  const Format& format = *tile.format;
  for (int64_t i = 0; i < columns / kSize; ++i, ++block) {
    Unpacked unpacked;
    unpack(*block, &unpacked);
    const uint64_t first = static_cast<uint64_t>(i) * (kSize / kGroup);
    for (uint64_t g = 0; g < kSize / kGroup; ++g) {
      pack_group(format, unpacked.bits + kGroup * g, first + g, to);
    }
    const uint32_t pair =
        unpacked.scale | static_cast<uint32_t>(unpacked.minimum) << 16;
    if (kSize == kLargeBlock) {
      const uint64_t begin = static_cast<uint64_t>(i) * 5;
      *to.scale(begin) = pair;
      for (int g = 0; g < 8; ++g) {
        *to.scale(begin + 1 + g / 2) |=
            static_cast<uint32_t>(unpacked.factors[g]) << (16 * (g % 2));
      }
    } else if (format.scaling == kHalfPair) {
      *to.scale(first) = pair;
    } else {
      *to.scale(first / 2) |= static_cast<uint32_t>(unpacked.scale)
                              << (16 * (first % 2));
    }
  }
}

void pack_q8_k(const void* source, int64_t columns, const Writer& to) {
  const auto* block = static_cast<const BlockQ8_K*>(source);
  for (int64_t i = 0; i < columns / kLargeBlock; ++i, ++block) {
    std::memcpy(to.scale(static_cast<uint64_t>(i)), &block->scale, 4);
    for (uint64_t g = 0; g < 8; ++g) {
      const int8_t* quants = block->quants + kGroup * g;
      const uint64_t group = static_cast<uint64_t>(i) * 8 + g;
      std::memcpy(to.quad(group, 0), quants, 16);
      std::memcpy(to.quad(group, 1), quants + 16, 16);
    }
  }
}

// Elements of format.bits, as they are.
void pack_plain(const Tile& tile, const void* source, int64_t columns,
                const Writer& to) {
  const uint64_t size = tile.format->bits / 8;
  const uint64_t bytes = static_cast<uint64_t>(columns) * size;
  const uint64_t quads = tile.quad_words() / 4;
  for (uint64_t done = 0; done < bytes; done += 16) {
    const uint64_t number = done / 16;
    std::memcpy(to.quad(number / quads, number % quads),
                static_cast<const uint8_t*>(source) + done,
                bytes - done < 16 ? bytes - done : 16);
  }
}

// nullptr if the type has no decoder.
const Format* find_format(DType dtype) {
  static constexpr struct {
    DType dtype;
    Format format;
  } kFormats[] = {
      {RC_DTYPE_F32, {RC_DTYPE_F32, 32, 0, 0, kUnscaled, 0, kF32}},
      {RC_DTYPE_F64, {RC_DTYPE_F32, 32, 0, 0, kUnscaled, 0, kF32}},
      {RC_DTYPE_I32, {RC_DTYPE_F32, 32, 0, 0, kUnscaled, 0, kF32}},
      {RC_DTYPE_I64, {RC_DTYPE_F32, 32, 0, 0, kUnscaled, 0, kF32}},
      {RC_DTYPE_F16, {RC_DTYPE_F16, 16, 0, 0, kUnscaled, 0, kF16}},
      {RC_DTYPE_BF16, {RC_DTYPE_BF16, 16, 0, 0, kUnscaled, 0, kBF16}},
      {RC_DTYPE_I16, {RC_DTYPE_I16, 16, 0, 0, kUnscaled, 0, kInteger}},
      {RC_DTYPE_I8, {RC_DTYPE_I8, 8, 0, 0, kUnscaled, 0, kInteger}},
      {RC_DTYPE_Q4_0, {RC_DTYPE_Q4_0, 4, 0, 0, kHalf, 8, kInteger}},
      {RC_DTYPE_Q4_1, {RC_DTYPE_Q4_1, 4, 0, 0, kHalfPair, 0, kInteger}},
      {RC_DTYPE_Q5_0, {RC_DTYPE_Q5_0, 4, 0, 1, kHalf, 16, kInteger}},
      {RC_DTYPE_Q5_1, {RC_DTYPE_Q5_1, 4, 0, 1, kHalfPair, 0, kInteger}},
      {RC_DTYPE_Q8_0, {RC_DTYPE_Q8_0, 8, 0, 0, kHalf, 0, kInteger}},
      {RC_DTYPE_Q8_1, {RC_DTYPE_Q8_1, 8, 0, 0, kHalf, 0, kInteger}},
      {RC_DTYPE_Q2_K, {RC_DTYPE_Q2_K, 0, 2, 0, kNibbles, 0, kInteger}},
      {RC_DTYPE_Q3_K, {RC_DTYPE_Q3_K, 0, 2, 1, kSixteenths, 4, kInteger}},
      {RC_DTYPE_Q4_K, {RC_DTYPE_Q4_K, 4, 0, 0, kThirds, 0, kInteger}},
      {RC_DTYPE_Q5_K, {RC_DTYPE_Q5_K, 4, 0, 1, kThirds, 0, kInteger}},
      {RC_DTYPE_Q6_K, {RC_DTYPE_Q6_K, 4, 0, 2, kSixteenths, 32, kInteger}},
      {RC_DTYPE_Q8_K, {RC_DTYPE_Q8_K, 8, 0, 0, kSingle, 0, kInteger}},
      {RC_DTYPE_IQ4_NL, {RC_DTYPE_IQ4_NL, 4, 0, 0, kHalf, 0, kIQ4Value}},
      {RC_DTYPE_IQ4_XS, {RC_DTYPE_IQ4_XS, 4, 0, 0, kSixteenths, 0, kIQ4Value}},
      {RC_DTYPE_MXFP4, {RC_DTYPE_MXFP4, 4, 0, 0, kBrain, 0, kMXFP4Value}},
  };
  for (const auto& entry : kFormats) {
    if (entry.dtype == dtype) return &entry.format;
  }
  return nullptr;
}

uint64_t Tile::scale_words() const {
  switch (format->scaling) {
    case kUnscaled:
      return 0;
    case kHalf:
    case kBrain:
      return (groups + 1) / 2;
    case kHalfPair:
      return groups;
    case kSingle:
      return (groups + 7) / 8;
    default:
      return (groups + 7) / 8 * 5;
  }
}

// Writes row number `row` of a tile that was zero. `scratch` is for the
// function's own use.
void pack_row(const Tile& tile, DType dtype, const void* source,
              int64_t columns, uint64_t row, uint32_t* target,
              std::vector<float>& scratch) {
  const Writer to(tile, row, target);
  switch (dtype) {
#define RC_BLOCKS(name, size) \
  case RC_DTYPE_##name:       \
    return pack_blocks<Block##name, size>(tile, source, columns, to)
    RC_BLOCKS(Q4_0, kSmallBlock);
    RC_BLOCKS(Q4_1, kSmallBlock);
    RC_BLOCKS(Q5_0, kSmallBlock);
    RC_BLOCKS(Q5_1, kSmallBlock);
    RC_BLOCKS(Q8_0, kSmallBlock);
    RC_BLOCKS(Q8_1, kSmallBlock);
    RC_BLOCKS(IQ4_NL, kSmallBlock);
    RC_BLOCKS(MXFP4, kSmallBlock);
    RC_BLOCKS(Q2_K, kLargeBlock);
    RC_BLOCKS(Q3_K, kLargeBlock);
    RC_BLOCKS(Q4_K, kLargeBlock);
    RC_BLOCKS(Q5_K, kLargeBlock);
    RC_BLOCKS(Q6_K, kLargeBlock);
    RC_BLOCKS(IQ4_XS, kLargeBlock);
#undef RC_BLOCKS
    case RC_DTYPE_Q8_K:
      return pack_q8_k(source, columns, to);
  }
  if (tile.format->dtype == dtype) {
    return pack_plain(tile, source, columns, to);
  }
  scratch.resize(static_cast<size_t>(columns));
  find_decoder(dtype)(source, scratch.data(), columns);
  pack_plain(tile, scratch.data(), columns, to);
}

Tile tile_of(DType dtype, int64_t columns, uint64_t rows) {
  return {find_format(dtype), rows,
          static_cast<uint64_t>((columns + kGroup - 1) / kGroup)};
}

}  // namespace

const char* WordPacking::undecodable(DType dtype) const {
  return find_format(dtype) == nullptr ? "there is no decoder for it" : "";
}

uint64_t WordPacking::tile_bytes(DType dtype, int64_t columns,
                                 uint64_t rows) const {
  return tile_of(dtype, columns, rows).words() * sizeof(uint32_t);
}

void WordPacking::pack(DType dtype, int64_t columns, uint64_t rows,
                       uint64_t count, const uint8_t* source,
                       uint8_t* target) const {
  const Tile tile = tile_of(dtype, columns, rows);
  auto* words = reinterpret_cast<uint32_t*>(target);
  const uint64_t row_size = *row_bytes(dtype, columns);
  std::vector<float> scratch;
  for (uint64_t row = 0; row < count; ++row) {
    pack_row(tile, dtype, source + row * row_size, columns, row, words,
             scratch);
  }
}

std::vector<uint32_t> WordPacking::constants(DType dtype) const {
  const Format& format = *find_format(dtype);
  return {format.bits,
          format.low_plane,
          format.high_plane,
          format.scaling,
          static_cast<uint32_t>(format.zero),
          format.meaning};
}

}  // namespace rc::gpu
