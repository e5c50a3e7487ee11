// Rows of a weight, as files hold them (src/tensor/formats), packed into tiles
// (formats.h).
//
// The bytes of a block are moved for 16 rows at once: four columns of bytes
// become a vector, in which masks and shifts then put quants where they belong.
// This must not cost much more than reading the weight: weights that stay
// mapped are packed each time that they are used.
#include "cpu/kernels/formats.h"
#include "cpu/kernels/levels.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// The blocks of 16 rows at one place, which may be at any address.
struct Blocks {
  const uint8_t* first;
  int64_t step;  // from row to row, bytes

  // Bytes `at` to `at` + 16 of each block as four vectors: byte 4 r + c of
  // vector i is byte 4 i + c of row r.
  RC_SIMD_MEMBER void load(int at, Vb (&words)[4]) const {
    load_columns(first + at, step, words);
  }
  // The same of 32 bytes.
  RC_SIMD_MEMBER void load(int at, Vb (&words)[8]) const {
    Vb low[4], high[4];
    load(at, low);
    load(at + 16, high);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      words[i] = low[i];
      words[4 + i] = high[i];
    }
  }
};

// A plane of numbers of `bytes` bytes each, one per row.
template <int bytes>
RC_SIMD uint8_t* plane(const Blocks& rows, int at, uint8_t* to) {
#pragma GCC unroll 16
  for (int r = 0; r < kTileRows; ++r) {
    __builtin_memcpy(to + bytes * r, rows.first + r * rows.step + at, bytes);
  }
  return to + kTileRows * bytes;
}

// Sixteen planes of bytes.
RC_SIMD uint8_t* planes(const Vb (&words)[4], uint8_t* to) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) store_planes(to + 64 * i, words[i]);
  return to + 256;
}

// A vector of the low halves of the bytes of a, with those of b above them; the
// same of the high halves.
RC_SIMD Vb low_halves(const Vb& a, const Vb& b) {
  return bits_or(shr_mask<0>(a, 15), shr_mask<-4>(b, 240));
}
RC_SIMD Vb high_halves(const Vb& a, const Vb& b) {
  return bits_or(shr_mask<4>(a, 15), shr_mask<0>(b, 240));
}

// 32 columns of four bits each, of which the low and the high halves of 32
// bytes are each one lot.
RC_SIMD void store_low(const Vb (&words)[8], uint8_t* to) {
#pragma GCC unroll 4
  for (int h = 0; h < 4; ++h) {
    store_bytes(to + 64 * h, low_halves(words[2 * h], words[2 * h + 1]));
  }
}
RC_SIMD void store_high(const Vb (&words)[8], uint8_t* to) {
#pragma GCC unroll 4
  for (int h = 0; h < 4; ++h) {
    store_bytes(to + 64 * h, high_halves(words[2 * h], words[2 * h + 1]));
  }
}

// 32 columns in 16 bytes: i in the low, i + 16 in the high half.
RC_SIMD void halves(const Blocks& rows, int at, uint8_t* to) {
  Vb words[4];
  rows.load(at, words);
  store_bytes(to, low_halves(words[0], words[1]));
  store_bytes(to + 64, low_halves(words[2], words[3]));
  store_bytes(to + 128, high_halves(words[0], words[1]));
  store_bytes(to + 192, high_halves(words[2], words[3]));
}

// Changes the high ones of each 2 n bits of a for the low ones of b. `low`
// masks the low n bits of each 2 n.
template <int n, int low>
RC_SIMD void exchange(Vb& a, Vb& b) {
  const Vb lows = bits_or(shr_mask<0>(a, low), shr_mask<-n>(b, low << n));
  b = bits_or(shr_mask<n>(a, low), shr_mask<0>(b, low << n));
  a = lows;
}

// Bit i of words[j] goes to bit j of words[i].
RC_SIMD void transpose_bits(Vb (&words)[8]) {
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) exchange<1, 0x55>(words[i], words[i + 1]);
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    exchange<2, 0x33>(words[i], words[i + 2]);
    exchange<2, 0x33>(words[i + 1], words[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) exchange<4, 0x0f>(words[i], words[i + 4]);
}

// Bits 2 i and 2 i + 1 of words[j] go to 2 j and 2 j + 1 of words[i], of the
// first and of the last four.
RC_SIMD void transpose_pairs(Vb (&words)[8]) {
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    exchange<2, 0x33>(words[i], words[i + 1]);
    exchange<2, 0x33>(words[i + 2], words[i + 3]);
    exchange<4, 0x0f>(words[i], words[i + 2]);
    exchange<4, 0x0f>(words[i + 1], words[i + 3]);
  }
}

// Fifth bits: bit i of 32 is that of column i.
RC_SIMD void side_by_side(const Blocks& rows, int at, uint8_t* to) {
  uint32_t bits[kTileRows], spread[kTileRows];
  plane<4>(rows, at, (uint8_t*)bits);
  for (int r = 0; r < kTileRows; ++r) {
    uint32_t y = 0;
    for (int group = 0; group < 8; ++group) {
      // The four bits of a group go to the lowest bits of four bytes.
      y |= (((bits[r] >> (4 * group)) & 15) * 0x204081 & 0x1010101) << group;
    }
    spread[r] = y;
  }
  __builtin_memcpy(to, spread, sizeof(spread));
}

// 32 bytes with a bit of each of 256 columns: a vector per 32.
template <int step>
RC_SIMD void one_bits(const Blocks& rows, int at, uint8_t* to) {
  Vb words[8];
  rows.load(at, words);
  transpose_bits(words);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) store_bytes(to + i * step, words[i]);
}

// The same where eight columns have the same bit.
template <int step>
RC_SIMD void shared_bits(const Blocks& rows, int at, uint8_t* to) {
  for (int h = 0; h < 4; ++h) {
    uint16_t lanes[8] = {};
    for (int r = 0; r < kTileRows; ++r) {
      const int bits = rows.first[r * rows.step + at + 8 * h];
      for (int i = 0; i < 8; ++i) {
        lanes[i] = (uint16_t)(lanes[i] | (bits >> i & 1) << r);
      }
    }
    for (int i = 0; i < 8; ++i) {
      __builtin_memcpy(to + i * step + 2 * h, &lanes[i], sizeof(lanes[i]));
    }
  }
}

// 64 bytes with two bits of each of 256 columns: two vectors per 32.
template <int step>
RC_SIMD void pairs_of_bits(const Blocks& rows, int at, uint8_t* to) {
  for (int half = 0; half < 2; ++half, at += 32, to += 4 * step) {
    Vb words[8];
    rows.load(at, words);
    transpose_pairs(words);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      store_bytes(to + i * step, words[i]);
      store_bytes(to + i * step + 64, words[4 + i]);
    }
  }
}

// Two bits of groups 0 to 3 and 4 to 7 and a bit above them, as three bits.
RC_SIMD void store_three(const Vb& low, const Vb& high, const Vb& above,
                         uint8_t* to) {
  const auto group = [&]<int g>() __attribute__((always_inline)) {
    return bits_or(shr_mask<2 * (g % 4)>(g < 4 ? low : high, 3),
                   shr_mask<g - 2>(above, 4));
  };
  const Vb sixth = group.template operator()<6>();
  const Vb seventh = group.template operator()<7>();
  const auto vector = [&]<int h>() __attribute__((always_inline)) {
    const Vb two =
        bits_or(group.template operator()<2 * h>(),
                shr_mask<-4>(group.template operator()<2 * h + 1>(), 0x70));
    const Vb rest =
        bits_or(shr_mask<h - 3>(sixth, 0x08), shr_mask<h - 7>(seventh, 0x80));
    store_bytes(to + 64 * h, bits_or(two, rest));
  };
  vector.template operator()<0>();
  vector.template operator()<1>();
  vector.template operator()<2>();
}

// The planes of 256 columns with two bits and one above them.
template <int step>
RC_SIMD void threes(const Blocks& rows, int low, int high, uint8_t* to) {
  Vb above[8];
  rows.load(high, above);
  transpose_bits(above);
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    Vb words[8];
    rows.load(low + 32 * half, words);
    transpose_pairs(words);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i, to += step) {
      store_three(words[i], words[4 + i], above[4 * half + i], to);
    }
  }
}

// 128 bytes with four bits of each of 256 columns: each 32 have 64 columns, low
// halves first, or each 64 have 128.
template <int step, int stride>
RC_SIMD void nibbles(const Blocks& rows, int at, uint8_t* to) {
  constexpr int apart = stride / 32;
  for (int i = 0; i < 4; ++i) {
    Vb words[8];
    rows.load(at + 32 * i, words);
    uint8_t* first = to + (i / apart * 2 * apart + i % apart) * step;
    store_low(words, first);
    store_high(words, first + apart * step);
  }
}

// Numbers of 8 bits, with 128 added to each.
RC_SIMD void bytes(const Blocks& rows, int at, uint8_t* to) {
  Vb words[8];
  rows.load(at, words);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) store_bytes(to + 64 * i, flip(words[i]));
}

// The quants of a plane, `step` bytes of tile for each 32 columns.
template <BitPlane from, int columns, int step>
RC_SIMD void quants(const Blocks& rows, uint8_t* to) {
  constexpr bool large = columns == 256;
  if constexpr (from.width == 8) {
    for (int i = 0; i < columns / 32; ++i) {
      bytes(rows, from.at + 32 * i, to + i * step);
    }
  } else if constexpr (from.width == 4 && from.stride == 16) {
    for (int i = 0; i < columns / 32; ++i) {
      halves(rows, from.at + 16 * i, to + i * step);
    }
  } else if constexpr (large && from.width == 4) {
    static_assert(from.stride == 32 || from.stride == 64);
    nibbles<step, from.stride>(rows, from.at, to);
  } else if constexpr (large && from.width == 2) {
    static_assert(from.stride == 32);
    pairs_of_bits<step>(rows, from.at, to);
  } else if constexpr (large) {
    static_assert(from.width == 1 && from.stride == 32);
    one_bits<step>(rows, from.at, to);
  } else {
    static_assert(from.width == 1 && from.stride == 1 && columns == 32);
    side_by_side(rows, from.at, to);
  }
}

// Whether the first 16 bytes of a block are two 16-bit numbers and 12 bytes.
constexpr bool begins_with_two(const BlockFormat& format) {
  return format.group > 0 && format.scale.at == 0 &&
         format.minimum.sign != Minimum::kNone && format.minimum.at == 2;
}

// Returns the number of bytes from `byte` on that are scales of one byte.
constexpr int count_single(const BlockFormat& format, int byte) {
  int end = byte;
  while (end < format.bytes && !is_quant(format, end) &&
         (end != format.scale.at ||
          format.scale.kind == ScaleKind::kPowerOfTwo ||
          format.scale.kind == ScaleKind::kOne) &&
         (end != format.minimum.at || format.minimum.sign == Minimum::kNone)) {
    ++end;
  }
  return end - byte;
}

// The scales from byte `begin` of a block on.
template <int index, int begin>
RC_SIMD void scales(const Blocks& rows, uint8_t* to) {
  constexpr const BlockFormat& format = kBlockFormats[index];
  constexpr int byte = next_scale(format, begin);
  if constexpr (byte < format.bytes) {
    constexpr int single = count_single(format, byte);
    if constexpr (byte == 0 && begins_with_two(format)) {
      Vb words[4];
      rows.load(0, words);
      store_planes16(to, words[0]);
#pragma GCC unroll 3
      for (int i = 1; i < 4; ++i) store_planes(to + 64 * i, words[i]);
      scales<index, 16>(rows, to + 256);
    } else if constexpr (single == 0) {
      scales<index, byte + 2>(rows, plane<2>(rows, byte, to));
    } else if constexpr (single == 16) {
      Vb words[4];
      rows.load(byte, words);
      scales<index, byte + 16>(rows, planes(words, to));
    } else if constexpr (single > 8 && single < 16) {
      // No byte behind the block is read.
      constexpr int from = byte + 16 <= format.bytes ? byte : format.bytes - 16;
      Vb words[4];
      rows.load(from, words);
      uint8_t all[256];
      planes(words, all);
      __builtin_memcpy(to, all + kTileRows * (byte - from), kTileRows * single);
      scales<index, byte + single>(rows, to + kTileRows * single);
    } else {
      for (int i = 0; i < single; ++i) to = plane<1>(rows, byte + i, to);
      scales<index, byte + single>(rows, to);
    }
  }
}

template <int index>
RC_SIMD void pack_block(const Blocks& rows, uint8_t* tile) {
  constexpr const BlockFormat& format = kBlockFormats[index];
  constexpr int columns = format.elements;
  constexpr int step = Format<index>::kStep;
  scales<index, 0>(rows, tile);
  constexpr BitPlane low = format.quant.low;
  constexpr BitPlane high = format.quant.high;
  uint8_t* to = tile + Format<index>::kBytes - columns / 32 * step;
  if constexpr (has_three_bits(format)) {
    static_assert(columns == 256 && low.stride == 32 && high.stride == 32);
    threes<step>(rows, low.at, high.at, to);
  } else {
    if constexpr (format.high_run == 8) {
      static_assert(columns == 256 && high.width == 1 && high.stride == 32);
      shared_bits<step>(rows, high.at, to);
    } else if constexpr (high.width > 0) {
      quants<high, columns, step>(rows, to);
    }
    quants<low, columns, step>(rows, to + step - kTileRows * 4 * low.width);
  }
}

template <class Format>
void pack_blocks(const uint8_t* source, int64_t step, int rows, int64_t columns,
                 uint8_t* tile) {
  constexpr int bytes = Format::kFormat.bytes;
  const uint8_t* next = source + kTileRows * step;
  uint8_t some[kTileRows * bytes];
  if (rows < kTileRows) __builtin_memset(some, 0, sizeof(some));
  for (; columns > 0; columns -= Format::kColumns) {
    Blocks blocks = {source, step};
    if (rows == kTileRows) {
      // The block that is most likely packed next.
      for (int i = 0; i < kTileRows * bytes; i += 64) prefetch_later(next + i);
      next += kTileRows * bytes;
    } else {
      for (int r = 0; r < rows; ++r) {
        __builtin_memcpy(some + r * bytes, source + r * step, bytes);
      }
      blocks = {some, bytes};
    }
    pack_block<Format::kIndex>(blocks, tile);
    source += bytes;
    tile += Format::kBytes;
  }
}

template <class Format>
struct PackBlocks {
  static constexpr PackFunction kFunction = pack_blocks<Format>;
};

// Elements of 32 or 16 bits, column after column.
template <int bytes>
void pack_elements(const uint8_t* source, int64_t step, int rows,
                   int64_t columns, uint8_t* tile) {
  constexpr int some = 16 / bytes;  // columns that are loaded at once
  int64_t column = 0;
  if (rows == kTileRows) {
    for (; column + some <= columns; column += some) {
      Vb words[4];
      load_columns(source + column * bytes, step, words);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i, tile += 64) {
        if constexpr (bytes == 4) {
          store_bytes(tile, words[i]);
        } else {
          store_planes16(tile, words[i]);
        }
      }
    }
  }
  for (; column < columns; ++column, tile += kTileRows * bytes) {
    __builtin_memset(tile, 0, kTileRows * bytes);
    for (int r = 0; r < rows; ++r) {
      __builtin_memcpy(tile + r * bytes, source + r * step + column * bytes,
                       bytes);
    }
  }
}

}  // namespace

PackFunction pack_function(rc_dtype weight, rc_dtype tile) {
  if (tile == kQuants16) return pack_quants16_function(weight);
  if (tile != weight) return nullptr;
  switch (weight) {
    case RC_DTYPE_F32:
      return pack_elements<4>;
    case RC_DTYPE_F16:
    case RC_DTYPE_BF16:
      return pack_elements<2>;
    default:
      return of_format<PackFunction, PackBlocks>(weight);
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
