// Rows of a weight, as files hold them (src/tensor/blocks.h), packed into tiles
// (formats.h).
//
// What the bytes of a block are is moved for 16 rows at once: four columns of
// bytes become a vector, in which masks and shifts then put quants where they
// belong. This must not cost much more than reading the weight: weights that
// stay mapped are packed each time that they are used.
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

// Where the parts of a tile's block are.
template <class Format>
struct Places {
  static constexpr int kColumns = Format::kColumns;
  static constexpr int kBytes = Format::kBytes;  // of all 16 rows
  static constexpr int kStep = Format::kStep;
  static constexpr int kQuants = kBytes - kColumns / 32 * kStep;
};

// `scale_bytes` bytes of 16-bit scales, then 16 bytes of quants.
template <class Format, int scale_bytes>
struct PackHalves : Places<Format> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    uint8_t* to = tile;
    for (int at = 0; at < scale_bytes; at += 2) to = plane<2>(rows, at, to);
    halves(rows, scale_bytes, to);
  }
};

struct PackMXFP4 : Places<FormatMXFP4> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    halves(rows, 1, plane<1>(rows, 0, tile));
  }
};

// As PackHalves, with fifth bits between: bit i of 32 is that of column i.
template <class Format, int scale_bytes>
struct PackFifths : Places<Format> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    uint8_t* to = tile;
    for (int at = 0; at < scale_bytes; at += 2) to = plane<2>(rows, at, to);
    uint32_t bits[kTileRows], spread[kTileRows];
    plane<4>(rows, scale_bytes, (uint8_t*)bits);
    for (int r = 0; r < kTileRows; ++r) {
      uint32_t y = 0;
      for (int group = 0; group < 8; ++group) {
        // The four bits of a group go to the lowest bits of four bytes.
        y |= (((bits[r] >> (4 * group)) & 15) * 0x204081 & 0x1010101) << group;
      }
      spread[r] = y;
    }
    __builtin_memcpy(to, spread, sizeof(spread));
    halves(rows, scale_bytes + 4, to + 64);
  }
};

struct PackQ8_0 : Places<FormatQ8_0> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    uint8_t* to = plane<2>(rows, 0, tile);
    Vb words[8];
    rows.load(2, words);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) store_bytes(to + 64 * i, flip(words[i]));
  }
};

// 64 bytes with two bits of each of 256 columns: two vectors per 32.
template <int step>
RC_SIMD void two_bits(const Blocks& rows, int at, uint8_t* to) {
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

// 32 bytes with a bit of each of 256 columns: a vector per 32.
template <int step>
RC_SIMD void one_bits(const Blocks& rows, int at, uint8_t* to) {
  Vb words[8];
  rows.load(at, words);
  transpose_bits(words);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) store_bytes(to + i * step, words[i]);
}

struct PackQ2_K : Places<FormatQ2_K> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    Vb scales[4];
    rows.load(0, scales);
    plane<2>(rows, 82, plane<2>(rows, 80, planes(scales, tile)));
    two_bits<kStep>(rows, 16, tile + kQuants);
  }
};

struct PackQ3_K : Places<FormatQ3_K> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    // The last 16 bytes: two of the quants, the scales, two of a number.
    Vb scales[4];
    rows.load(94, scales);
    uint8_t all[256];
    planes(scales, all);
    __builtin_memcpy(tile, all + 32, 192);
    plane<2>(rows, 108, tile + 192);
    one_bits<kStep>(rows, 0, tile + kQuants);
    two_bits<kStep>(rows, 32, tile + kQuants + 64);
  }
};

// The scales of Q4_K and Q5_K, in the first 16 bytes.
RC_SIMD void k_scales(const Blocks& rows, uint8_t* to) {
  Vb words[4];
  rows.load(0, words);
  store_planes16(to, words[0]);
#pragma GCC unroll 3
  for (int i = 1; i < 4; ++i) store_planes(to + 64 * i, words[i]);
}

// 128 bytes with four bits of each of 256 columns; each 32 have 64 columns, low
// halves first.
template <int step>
RC_SIMD void k_quants(const Blocks& rows, int at, uint8_t* to) {
  for (int i = 0; i < 4; ++i, at += 32, to += 2 * step) {
    Vb words[8];
    rows.load(at, words);
    store_low(words, to);
    store_high(words, to + step);
  }
}

struct PackQ4_K : Places<FormatQ4_K> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    k_scales(rows, tile);
    k_quants<kStep>(rows, 16, tile + kQuants);
  }
};

struct PackQ5_K : Places<FormatQ5_K> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    k_scales(rows, tile);
    one_bits<kStep>(rows, 16, tile + kQuants);
    k_quants<kStep>(rows, 48, tile + kQuants + 64);
  }
};

struct PackQ6_K : Places<FormatQ6_K> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    Vb scales[4];
    rows.load(192, scales);
    plane<2>(rows, 208, planes(scales, tile));
    two_bits<kStep>(rows, 128, tile + kQuants);
    // Each 64 bytes have 128 columns, low halves first.
    uint8_t* to = tile + kQuants + 128;
    for (int i = 0; i < 4; ++i) {
      Vb words[8];
      rows.load(32 * i, words);
      uint8_t* first = to + (i / 2 * 4 + i % 2) * kStep;
      store_low(words, first);
      store_high(words, first + 2 * kStep);
    }
  }
};

struct PackIQ4_XS : Places<FormatIQ4_XS> {
  static RC_SIMD_MEMBER void pack(const Blocks& rows, uint8_t* tile) {
    uint8_t* to = plane<2>(rows, 0, tile);
    for (int at = 2; at < 8; ++at) to = plane<1>(rows, at, to);
    for (int i = 0; i < 8; ++i) halves(rows, 8 + 16 * i, to + i * kStep);
  }
};

template <class Packing>
void pack_blocks(const uint8_t* source, int64_t step, int rows, int64_t columns,
                 uint8_t* tile) {
  constexpr int bytes = Packing::kBytes / kTileRows;
  const uint8_t* next = source + kTileRows * step;
  uint8_t some[Packing::kBytes];
  if (rows < kTileRows) __builtin_memset(some, 0, sizeof(some));
  for (; columns > 0; columns -= Packing::kColumns) {
    Blocks blocks = {source, step};
    if (rows == kTileRows) {
      // What is packed next, most likely.
      for (int i = 0; i < Packing::kBytes; i += 64) prefetch_later(next + i);
      next += Packing::kBytes;
    } else {
      for (int r = 0; r < rows; ++r) {
        __builtin_memcpy(some + r * bytes, source + r * step, bytes);
      }
      blocks = {some, bytes};
    }
    Packing::pack(blocks, tile);
    source += bytes;
    tile += Packing::kBytes;
  }
}

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

PackFunction pack_function(rc_dtype weight) {
  switch (weight) {
    case RC_DTYPE_F32:
      return pack_elements<4>;
    case RC_DTYPE_F16:
    case RC_DTYPE_BF16:
      return pack_elements<2>;
    case RC_DTYPE_Q4_0:
      return pack_blocks<PackHalves<FormatQ4_0, 2>>;
    case RC_DTYPE_Q4_1:
      return pack_blocks<PackHalves<FormatQ4_1, 4>>;
    case RC_DTYPE_Q5_0:
      return pack_blocks<PackFifths<FormatQ5_0, 2>>;
    case RC_DTYPE_Q5_1:
      return pack_blocks<PackFifths<FormatQ5_1, 4>>;
    case RC_DTYPE_Q8_0:
      return pack_blocks<PackQ8_0>;
    case RC_DTYPE_Q2_K:
      return pack_blocks<PackQ2_K>;
    case RC_DTYPE_Q3_K:
      return pack_blocks<PackQ3_K>;
    case RC_DTYPE_Q4_K:
      return pack_blocks<PackQ4_K>;
    case RC_DTYPE_Q5_K:
      return pack_blocks<PackQ5_K>;
    case RC_DTYPE_Q6_K:
      return pack_blocks<PackQ6_K>;
    case RC_DTYPE_IQ4_NL:
      return pack_blocks<PackHalves<FormatIQ4_NL, 2>>;
    case RC_DTYPE_IQ4_XS:
      return pack_blocks<PackIQ4_XS>;
    case RC_DTYPE_MXFP4:
      return pack_blocks<PackMXFP4>;
    default:
      return nullptr;
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
