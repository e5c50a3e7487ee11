#include "cpu/tiles.h"

#include <cstring>

#include "cpu/kernels.h"
#include "tensor/blocks.h"
#include "tensor/dtype.h"

namespace rc::cpu {
namespace {

// How a format is cut up: `low` bits of each quant, then `high` more.
template <class B, int c, int l, int h = 0>
struct Cut {
  using Block = B;
  static constexpr int columns = c;
  static constexpr int low = l;
  static constexpr int high = h;
  // Of the scales in one block: all that is no quant.
  static constexpr int scale_bytes =
      static_cast<int>(sizeof(B)) - columns * (low + high) / 8;
};

// Entry of one row in a plane of 16-bit or 8-bit numbers.
void put16(uint8_t*& planes, int lane, uint16_t value) {
  std::memcpy(planes + 2 * lane, &value, 2);
  planes += 2 * kTileRows;
}
void put8(uint8_t*& planes, int lane, const void* bytes, int count) {
  for (int i = 0; i < count; ++i, planes += kTileRows) {
    planes[lane] = static_cast<const uint8_t*>(bytes)[i];
  }
}

// The quants of 32 elements in 16 bytes: i in the low, i + 16 in the high half.
void halves(const uint8_t* bytes, uint8_t* q) {
  for (int i = 0; i < 16; ++i) {
    q[i] = bytes[i] & 15;
    q[i + 16] = bytes[i] >> 4;
  }
}
void fifth_bits(uint32_t bits, uint8_t* q) {
  for (int i = 0; i < 32; ++i) q[i] |= ((bits >> i) & 1) << 4;
}

struct CutQ4_0 : Cut<BlockQ4_0, 32, 4> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put16(p, lane, b.scale);
  }
  static void quants(const Block& b, uint8_t* q) { halves(b.quants, q); }
};

struct CutQ4_1 : Cut<BlockQ4_1, 32, 4> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put16(p, lane, b.scale);
    put16(p, lane, b.minimum);
  }
  static void quants(const Block& b, uint8_t* q) { halves(b.quants, q); }
};

struct CutQ5_0 : Cut<BlockQ5_0, 32, 4, 1> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put16(p, lane, b.scale);
  }
  static void quants(const Block& b, uint8_t* q) {
    halves(b.quants, q);
    fifth_bits(b.high, q);
  }
};

struct CutQ5_1 : Cut<BlockQ5_1, 32, 4, 1> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put16(p, lane, b.scale);
    put16(p, lane, b.minimum);
  }
  static void quants(const Block& b, uint8_t* q) {
    halves(b.quants, q);
    fifth_bits(b.high, q);
  }
};

struct CutQ8_0 : Cut<BlockQ8_0, 32, 8> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put16(p, lane, b.scale);
  }
  static void quants(const Block& b, uint8_t* q) {
    for (int i = 0; i < 32; ++i) q[i] = static_cast<uint8_t>(b.quants[i]) ^ 128;
  }
};

struct CutIQ4_NL : Cut<BlockIQ4_NL, 32, 4> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put16(p, lane, b.scale);
  }
  static void quants(const Block& b, uint8_t* q) { halves(b.quants, q); }
};

struct CutMXFP4 : Cut<BlockMXFP4, 32, 4> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put8(p, lane, &b.exponent, 1);
  }
  static void quants(const Block& b, uint8_t* q) { halves(b.quants, q); }
};

// The loops below run over neighbouring bytes, so that a compiler makes vectors
// of them: they take most of the time of loading a model.

// Each half of 128 elements has 32 bytes; bits 2 g, 2 g + 1 of byte l are those
// of element 32 g + l.
void two_bits(const uint8_t* bytes, int shift, uint8_t* q) {
  for (int half = 0; half < 2; ++half, bytes += 32) {
    for (int g = 0; g < 4; ++g, q += 32) {
      for (int l = 0; l < 32; ++l) {
        q[l] |= static_cast<uint8_t>(((bytes[l] >> (2 * g)) & 3) << shift);
      }
    }
  }
}
// Bit g of byte l is that of element 32 g + l.
void one_bit(const uint8_t* bytes, int shift, uint8_t* q) {
  for (int g = 0; g < 8; ++g, q += 32) {
    for (int l = 0; l < 32; ++l) {
      q[l] |= static_cast<uint8_t>(((bytes[l] >> g) & 1) << shift);
    }
  }
}
// `half` bytes for each 2 * half elements, low halves first.
template <int half>
void nibbles(const uint8_t* bytes, uint8_t* q) {
  for (int i = 0; i < kLargeBlock;
       i += 2 * half, bytes += half, q += 2 * half) {
    for (int l = 0; l < half; ++l) {
      q[l] = bytes[l] & 15;
      q[half + l] = bytes[l] >> 4;
    }
  }
}

struct CutQ2_K : Cut<BlockQ2_K, 256, 2> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put8(p, lane, b.scales, 16);
    put16(p, lane, b.scale);
    put16(p, lane, b.min_scale);
  }
  static void quants(const Block& b, uint8_t* q) {
    std::memset(q, 0, kLargeBlock);
    two_bits(b.quants, 0, q);
  }
};

struct CutQ3_K : Cut<BlockQ3_K, 256, 2, 1> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put8(p, lane, b.scales, 12);
    put16(p, lane, b.scale);
  }
  static void quants(const Block& b, uint8_t* q) {
    std::memset(q, 0, kLargeBlock);
    two_bits(b.quants, 0, q);
    one_bit(b.high, 2, q);
  }
};

struct CutQ4_K : Cut<BlockQ4_K, 256, 4> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put16(p, lane, b.scale);
    put16(p, lane, b.min_scale);
    put8(p, lane, b.scales, 12);
  }
  static void quants(const Block& b, uint8_t* q) { nibbles<32>(b.quants, q); }
};

struct CutQ5_K : Cut<BlockQ5_K, 256, 4, 1> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put16(p, lane, b.scale);
    put16(p, lane, b.min_scale);
    put8(p, lane, b.scales, 12);
  }
  static void quants(const Block& b, uint8_t* q) {
    nibbles<32>(b.quants, q);
    one_bit(b.high, 4, q);
  }
};

struct CutQ6_K : Cut<BlockQ6_K, 256, 4, 2> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put8(p, lane, b.scales, 16);
    put16(p, lane, b.scale);
  }
  static void quants(const Block& b, uint8_t* q) {
    nibbles<64>(b.low, q);
    two_bits(b.high, 4, q);
  }
};

struct CutIQ4_XS : Cut<BlockIQ4_XS, 256, 4> {
  static void scales(const Block& b, uint8_t* p, int lane) {
    put16(p, lane, b.scale);
    put8(p, lane, &b.scales_high, 2);
    put8(p, lane, b.scales_low, 4);
  }
  static void quants(const Block& b, uint8_t* q) {
    for (int g = 0; g < 8; ++g) halves(b.quants + 16 * g, q + 32 * g);
  }
};

// Four columns, a byte each.
uint32_t word(const uint8_t* q, int group) {
  uint32_t bytes;
  std::memcpy(&bytes, q + 4 * group, 4);
  return bytes;
}
void put_word(uint8_t* vectors, int vector, int lane, uint32_t bytes) {
  std::memcpy(vectors + 64 * vector + 4 * lane, &bytes, 4);
}

// `bits` bits from place `from` of 32 quants, to the vectors of one row.
template <int bits, int from>
void put_bits(const uint8_t* q, uint8_t* vectors, int lane) {
  constexpr int groups = 8 / bits;  // that share a vector
  constexpr uint32_t mask = 0x01010101u * ((1u << bits) - 1);
  for (int v = 0; v < bits; ++v) {
    uint32_t bytes = 0;
    for (int i = 0; i < groups; ++i) {
      bytes |= ((word(q, v * groups + i) >> from) & mask) << (bits * i);
    }
    put_word(vectors, v, lane, bytes);
  }
}

template <class Cut>
void pack_blocks(const uint8_t* source, uint64_t row_bytes, int rows,
                 int64_t columns, uint8_t* tile) {
  using Block = typename Cut::Block;
  constexpr int step = 64 * (Cut::low + Cut::high);  // bytes per 32 columns
  constexpr int quants_at = kTileRows * Cut::scale_bytes;
  static_assert(quants_at + Cut::columns / 32 * step ==
                kTileRows * sizeof(Block));
  for (int64_t b = 0; b < columns / Cut::columns; ++b) {
    for (int lane = 0; lane < rows; ++lane) {
      Block block;
      std::memcpy(&block, source + lane * row_bytes + b * sizeof(Block),
                  sizeof(Block));
      uint8_t q[Cut::columns];
      Cut::quants(block, q);
      Cut::scales(block, tile, lane);
      for (int j = 0; j < Cut::columns / 32; ++j) {
        uint8_t* vectors = tile + quants_at + j * step;
        if constexpr (Cut::high > 0) {
          put_bits<Cut::high, Cut::low>(q + 32 * j, vectors, lane);
        }
        put_bits<Cut::low, 0>(q + 32 * j, vectors + 64 * Cut::high, lane);
      }
    }
    tile += kTileRows * sizeof(Block);
  }
}

template <class Element>
void interleave(const uint8_t* source, uint64_t row_bytes, int rows,
                int64_t columns, uint8_t* tile) {
  for (int lane = 0; lane < rows; ++lane) {
    const uint8_t* row = source + lane * row_bytes;
    for (int64_t i = 0; i < columns; ++i) {
      std::memcpy(tile + (i * kTileRows + lane) * sizeof(Element),
                  row + i * sizeof(Element), sizeof(Element));
    }
  }
}

}  // namespace

rc_dtype tile_dtype(rc_dtype dtype) {
  switch (dtype) {
    case RC_DTYPE_F32:
    case RC_DTYPE_F16:
    case RC_DTYPE_BF16:
    case RC_DTYPE_Q4_0:
    case RC_DTYPE_Q4_1:
    case RC_DTYPE_Q5_0:
    case RC_DTYPE_Q5_1:
    case RC_DTYPE_Q8_0:
    case RC_DTYPE_Q2_K:
    case RC_DTYPE_Q3_K:
    case RC_DTYPE_Q4_K:
    case RC_DTYPE_Q5_K:
    case RC_DTYPE_Q6_K:
    case RC_DTYPE_IQ4_NL:
    case RC_DTYPE_IQ4_XS:
    case RC_DTYPE_MXFP4:
      return dtype;
    default:
      return find_decoder(dtype) != nullptr ? RC_DTYPE_F32 : -1;
  }
}

bool takes_quantized(rc_dtype tile) {
  return tile != RC_DTYPE_F32 && tile != RC_DTYPE_F16 && tile != RC_DTYPE_BF16;
}

void pack_tile(rc_dtype dtype, const uint8_t* source, uint64_t row_bytes,
               int rows, int64_t columns, uint8_t* tile, float* row) {
  if (rows < kTileRows) {
    const auto bytes = rc::row_bytes(tile_dtype(dtype), columns);
    std::memset(tile, 0, kTileRows * bytes.value_or(0));
  }
  const auto pack = [&](auto function) {
    function(source, row_bytes, rows, columns, tile);
  };
  switch (dtype) {
    case RC_DTYPE_F32:
      return pack(interleave<uint32_t>);
    case RC_DTYPE_F16:
    case RC_DTYPE_BF16:
      return pack(interleave<uint16_t>);
    case RC_DTYPE_Q4_0:
      return pack(pack_blocks<CutQ4_0>);
    case RC_DTYPE_Q4_1:
      return pack(pack_blocks<CutQ4_1>);
    case RC_DTYPE_Q5_0:
      return pack(pack_blocks<CutQ5_0>);
    case RC_DTYPE_Q5_1:
      return pack(pack_blocks<CutQ5_1>);
    case RC_DTYPE_Q8_0:
      return pack(pack_blocks<CutQ8_0>);
    case RC_DTYPE_Q2_K:
      return pack(pack_blocks<CutQ2_K>);
    case RC_DTYPE_Q3_K:
      return pack(pack_blocks<CutQ3_K>);
    case RC_DTYPE_Q4_K:
      return pack(pack_blocks<CutQ4_K>);
    case RC_DTYPE_Q5_K:
      return pack(pack_blocks<CutQ5_K>);
    case RC_DTYPE_Q6_K:
      return pack(pack_blocks<CutQ6_K>);
    case RC_DTYPE_IQ4_NL:
      return pack(pack_blocks<CutIQ4_NL>);
    case RC_DTYPE_IQ4_XS:
      return pack(pack_blocks<CutIQ4_XS>);
    case RC_DTYPE_MXFP4:
      return pack(pack_blocks<CutMXFP4>);
    default:
      break;
  }
  const Decoder decode = find_decoder(dtype);
  for (int lane = 0; lane < rows; ++lane) {
    decode(source + lane * row_bytes, row, columns);
    for (int64_t i = 0; i < columns; ++i) {
      std::memcpy(tile + (i * kTileRows + lane) * sizeof(float), row + i,
                  sizeof(float));
    }
  }
}

}  // namespace rc::cpu
