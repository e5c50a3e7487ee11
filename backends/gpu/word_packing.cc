#include "gpu/word_packing.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "tensor/expand.h"
#include "tensor/formats/unpack.h"

namespace rc::gpu {
namespace {

// As in blocks.glsl.
enum Scaling : uint32_t {
  kUnscaled = 0,
  kHalf = 1,
  kHalfPair = 2,
  kBrain = 3,
  kSixteenths = 4,
  kThirds = 5,
  kNibbles = 6,
  kSingle = 7,
  kBrainPair = 8,
  kSingleSixteenths = 9
};
// Further ones are numbers of tables.
enum Meaning : uint32_t { kInteger = 0, kF32 = 64, kF16 = 65, kBF16 = 66 };

// The constants of blocks.glsl, by name.
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

constexpr Scaling scaling_of(const BlockFormat& block) {
  const bool minimum = block.minimum.sign != Minimum::kNone;
  if (block.scale_factor.kind == BitKind::kE4M3) return kBrainPair;
  if (block.scale.exponent != 0) return kSingleSixteenths;
  if (block.group > 0) {
    return !minimum ? kSixteenths : block.group == 16 ? kNibbles : kThirds;
  }
  if (block.elements > kGroup) return kSingle;
  if (minimum) return kHalfPair;
  return block.scale.kind == ScaleKind::kPowerOfTwo ? kBrain : kHalf;
}

constexpr Format format_of(const BlockFormat& block) {
  const int width = block.quant.low.width;
  return {block.dtype,
          static_cast<uint32_t>(width <= 2 ? 0 : width),
          static_cast<uint32_t>(width <= 2 ? width : 0),
          static_cast<uint32_t>(block.quant.high.width),
          scaling_of(block),
          block.quant.zero,
          static_cast<uint32_t>(block.table)};
}

template <int kIndex>
constexpr BlockFormat kBlockOf = kBlockFormats[kIndex];

// The factors of block `from` as the words after its scale have them, 16 bits
// for each group of 32.
template <const BlockFormat& kBlock>
void pack_factors(const uint8_t* from, uint16_t* words) {
  constexpr int kCount = kBlock.elements / kBlock.group;
  constexpr int kGroupsOf16 = kBlock.elements / 16;
  uint8_t bytes[kGroupsOf16];
  uint8_t bits[kCount];
  unpack_bits<kBlock.scale_factor, kCount>(from, bits);
  for (int i = 0; i < kGroupsOf16; ++i) {
    bytes[i] = static_cast<uint8_t>(
        meaning_of<kBlock.scale_factor>(bits[i * kCount / kGroupsOf16]));
  }
  if constexpr (kBlock.minimum.sign != Minimum::kNone) {
    unpack_bits<kBlock.minimum_factor, kCount>(from, bits);
    for (int i = 0; i < kCount; ++i) {
      if constexpr (scaling_of(kBlock) == kNibbles) {
        bytes[i] |= static_cast<uint8_t>(bits[i] << 4);
      } else {
        bytes[2 * i + 1] = bits[i];
      }
    }
  }
  std::memcpy(words, bytes, sizeof bytes);
}

// The scale and the minimum of block number `i`, and its factors.
template <const BlockFormat& kBlock>
void pack_scales(const uint8_t* from, uint64_t i, const Writer& to) {
  constexpr Scaling kScaling = scaling_of(kBlock);
  if constexpr (kScaling == kBrainPair) {
    static_assert(kBlock.elements == kGroup && kBlock.group == 16);
    uint8_t bits[2];
    unpack_bits<kBlock.scale_factor, 2>(from, bits);
    uint32_t pair = 0;
    for (int half = 0; half < 2; ++half) {
      // Four bits are exact as bfloat16.
      const float scale =
          scale_of<kBlock.scale>(from) *
          static_cast<float>(meaning_of<kBlock.scale_factor>(bits[half]));
      pair |= static_cast<uint32_t>(f32_to_bf16(scale)) << (16 * half);
    }
    *to.scale(i) = pair;
  } else if constexpr (kScaling == kSingle) {
    *to.scale(i) = std::bit_cast<uint32_t>(scale_of<kBlock.scale>(from));
  } else if constexpr (kScaling == kHalf || kScaling == kBrain) {
    // A power of two is exact as bfloat16.
    const uint32_t scale = kScaling == kBrain
                               ? f32_to_bf16(scale_of<kBlock.scale>(from))
                               : f16_bits_at(from, kBlock.scale.at);
    *to.scale(i / 2) |= scale << (16 * (i % 2));
  } else {
    uint32_t pair = kScaling == kSingleSixteenths
                        ? std::bit_cast<uint32_t>(scale_of<kBlock.scale>(from))
                        : f16_bits_at(from, kBlock.scale.at);
    if constexpr (kBlock.minimum.sign != Minimum::kNone) {
      pair |= static_cast<uint32_t>(f16_bits_at(from, kBlock.minimum.at)) << 16;
    }
    if constexpr (kScaling == kHalfPair) {
      *to.scale(i) = pair;
    } else {
      uint16_t factors[8];
      pack_factors<kBlock>(from, factors);
      *to.scale(5 * i) = pair;
      for (int g = 0; g < 8; ++g) {
        *to.scale(5 * i + 1 + g / 2) |= static_cast<uint32_t>(factors[g])
                                        << (16 * (g % 2));
      }
    }
  }
}

// The properties on which blocks.glsl relies.
constexpr bool fits(const BlockFormat& block) {
  const Minimum::Sign sign = block.minimum.sign;
  return (block.elements == kGroup || block.elements == 8 * kGroup) &&
         (block.quant.low.width != 8 || block.quant.is_signed) &&
         block.quant.high.width <= 2 &&
         (block.scale.exponent == 0 || block.group > 0) &&
         (block.group > 0 ? sign != Minimum::kAdded
                          : sign != Minimum::kSubtracted) &&
         (block.elements == kGroup || block.group > 0 ||
          sign == Minimum::kNone);
}

template <int kIndex>
void pack_blocks(const Tile& tile, const void* source, int64_t columns,
                 const Writer& to) {
  constexpr const BlockFormat& kBlock = kBlockOf<kIndex>;
  static_assert(fits(kBlock));
  constexpr uint64_t kGroups = kBlock.elements / kGroup;
  const auto* from = static_cast<const uint8_t*>(source);
  const auto count = static_cast<uint64_t>(columns / kBlock.elements);
  for (uint64_t i = 0; i < count; ++i, from += kBlock.bytes) {
    uint8_t bits[kBlock.elements];
    unpack_bits<kBlock.quant, kBlock.elements>(from, bits);
    for (uint64_t g = 0; g < kGroups; ++g) {
      pack_group(*tile.format, bits + kGroup * g, i * kGroups + g, to);
    }
    pack_scales<kBlock>(from, i, to);
  }
}

using Packer = void (*)(const Tile& tile, const void* source, int64_t columns,
                        const Writer& to);

struct BlockPacking {
  Format format;
  Packer pack;
};

constexpr auto kBlockPackings =
    []<int... kIndices>(std::integer_sequence<int, kIndices...>) {
  return std::array{BlockPacking{format_of(kBlockFormats[kIndices]),
                                 pack_blocks<kIndices>}...};
}
(std::make_integer_sequence<int, kBlockFormatCount>());

// Of what a coded type expands into.
const BlockPacking* find_block_packing(DType dtype) {
  dtype = expanded_type(dtype);
  for (const BlockPacking& packing : kBlockPackings) {
    if (packing.format.dtype == dtype) return &packing;
  }
  return nullptr;
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
  };
  for (const auto& entry : kFormats) {
    if (entry.dtype == dtype) return &entry.format;
  }
  const BlockPacking* packing = find_block_packing(dtype);
  return packing != nullptr ? &packing->format : nullptr;
}

uint64_t Tile::scale_words() const {
  switch (format->scaling) {
    case kUnscaled:
      return 0;
    case kHalf:
    case kBrain:
      return (groups + 1) / 2;
    case kHalfPair:
    case kBrainPair:
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
  if (const Expander expand = find_expander(dtype)) {
    const uint64_t bytes = *expanded_row_bytes(expanded_type(dtype), columns);
    scratch.resize(bytes / sizeof(float) + 1);
    expand(source, scratch.data(), columns);
    source = scratch.data();
  }
  if (const BlockPacking* packing = find_block_packing(dtype)) {
    return packing->pack(tile, source, columns, to);
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
