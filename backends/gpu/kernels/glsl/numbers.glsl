// Numbers of any type that can be decoded, as tensors hold them: src/tensor/
// formats describes the blocks, src/tensor/decode.cc is the definition that this
// equals bit for bit. Needs math.glsl and tables.glsl, and the input `numbers`.
CONSTANT(1, uint, kType, 0)  // rc_dtype
CONSTANT(2, uint, kBlock, 1)  // elements
CONSTANT(3, uint, kBlockBytes, 4)

const uint kF32 = 0;
const uint kF16 = 1;
const uint kI8 = 24;
const uint kI16 = 25;
const uint kI32 = 26;
const uint kI64 = 27;
const uint kF64 = 28;
const uint kBF16 = 30;

// Memory by its bytes; what has more of them lies at a multiple of two, and at
// a multiple of four where words are read whole.
uint byte_at(uint i) { return (WORD(numbers, i / 4) >> (i % 4 * 8)) & 0xFFu; }
int signed_byte_at(uint i) { return int(byte_at(i) << 24) >> 24; }
uint pair_at(uint i) {
  return (WORD(numbers, i / 4) >> (i % 4 * 8)) & 0xFFFFu;
}
float half_at(uint i) { return half_to_float(pair_at(i)); }

// The f32 nearest to an integer of 64 bits, to even between two.
float nearest(bool negative, uint high, uint low) {
  const uint sign = negative ? 0x80000000u : 0;
  if (negative) {
    low = ~low + 1;
    high = ~high + (low == 0 ? 1 : 0);
  }
  if (high == 0 && low == 0) return 0.0;
  const int most = high != 0 ? 32 + highest_bit(high) : highest_bit(low);
  const int shift = 63 - most;
  if (shift >= 32) {
    high = low << (shift - 32);
    low = 0;
  } else if (shift > 0) {
    high = high << shift | low >> (32 - shift);
    low <<= shift;
  }
  // 24 bits, and those after them.
  const uint kept = high >> 8;
  const uint rest = high << 24 | low >> 8 | ((low & 0xFFu) != 0 ? 1 : 0);
  uint bits = (uint(most + 127) << 23) + (kept & 0x7FFFFFu);
  if (rest > 0x80000000u || (rest == 0x80000000u && (kept & 1u) != 0)) ++bits;
  return uintBitsToFloat(sign | bits);
}

// The f32 nearest to an f64.
float double_to_float(uint high, uint low) {
  const uint sign = high & 0x80000000u;
  const uint power = (high >> 20) & 0x7FFu;
  if (power == 0x7FFu) {
    const bool infinite = (high & 0xFFFFFu) == 0 && low == 0;
    return uintBitsToFloat(sign | (infinite ? 0x7F800000u : 0x7FC00000u));
  }
  const int exponent = int(power) - 1023 + 127;
  if (exponent >= 255) return uintBitsToFloat(sign | 0x7F800000u);
  // 24 bits, and those after them.
  uint kept = 0x800000u | (high & 0xFFFFFu) << 3 | low >> 29;
  uint rest = low << 3;
  uint bits;
  if (exponent > 0) {
    bits = (uint(exponent) << 23) + (kept & 0x7FFFFFu);
  } else {
    const int shift = 1 - exponent;
    if (shift > 25) return uintBitsToFloat(sign);
    rest = kept << (32 - shift) | (rest != 0 ? 1 : 0);
    kept >>= shift;
    bits = kept;
  }
  if (rest > 0x80000000u || (rest == 0x80000000u && (kept & 1u) != 0)) ++bits;
  return uintBitsToFloat(sign | bits);
}

float plain(uint at) {
  switch (kType) {
    case kF32:
      return NUMBER(numbers, at / 4);
    case kF16:
      return half_at(at);
    case kBF16:
      return uintBitsToFloat(pair_at(at) << 16);
    case kF64:
      return double_to_float(WORD(numbers, at / 4 + 1), WORD(numbers, at / 4));
    case kI8:
      return float(signed_byte_at(at));
    case kI16:
      return float(int(pair_at(at) << 16) >> 16);
  }
  const uint low = WORD(numbers, at / 4);
  const uint high =
      kType == kI64 ? WORD(numbers, at / 4 + 1) : uint(int(low) >> 31);
  return nearest(int(high) < 0, high, low);
}

// As in src/tensor/formats/block_format.h.
struct Plane {
  uint at, width, stride, first, step_;
};
struct Number {
  Plane low, high;
  bool is_signed;
  int zero;
};
struct Scale {
  uint at, kind;
};
struct Minimum {
  int sign_;
  uint at;
};
struct BlockFormat {
  Number quant;
  uint table;
  Scale scale;
  Minimum minimum;
  uint group;
  Number scale_factor;
  Number minimum_factor;
};
const uint kF16Scale = 0;
const uint kF32Scale = 1;
const uint kNoScale = 3;

// As in src/tensor/formats/coded_format.h, but of the expanded format only what
// an element is worth. Types with codebooks are not among them: drivers take
// minutes for shaders with such tables.
struct Row {
  uint at, width, step_, run, run_step;
};
struct TernaryBytes {
  uint at, stride, digits;
};
struct CodedFormat {
  TernaryBytes ternary[3];
  Plane plane;
  uint scale_kind;
  uint scale_at;
  float unit;  // of the scale
  uint group;
  Row factor;
  uint factor_kind;  // BitKind
  uint table;
  int zero;
};

#include "formats.glsl"

// Number i of a plane of the block at byte `at`.
uint plane_bits(uint at, Plane plane, uint i) {
  const uint k =
      plane.first + i % plane.stride + i / plane.stride * plane.step_;
  const uint slots = 8 / plane.width;
  const uint place = plane.at + k / (slots * plane.stride) * plane.stride +
                     k % plane.stride;
  const uint shift = k / plane.stride % slots * plane.width;
  return (byte_at(at + place) >> shift) & ((1u << plane.width) - 1);
}

uint bits_of(uint at, Number number, uint i) {
  uint bits = plane_bits(at, number.low, i);
  if (number.high.width > 0) {
    bits |= plane_bits(at, number.high, i) << number.low.width;
  }
  return bits;
}

int integer_of(uint at, Number number, uint i) {
  if (number.is_signed) return signed_byte_at(at + number.low.at + i);
  return int(bits_of(at, number, i)) - number.zero;
}

float scale_of(uint at, Scale scale) {
  if (scale.kind == kF16Scale) return half_at(at + scale.at);
  if (scale.kind == kF32Scale) return NUMBER(numbers, (at + scale.at) / 4);
  // 2^(exponent - 128); the two smallest are subnormal.
  const uint exponent = byte_at(at + scale.at);
  return uintBitsToFloat(exponent < 2 ? 0x00200000u << exponent
                                      : (exponent - 1) << 23);
}

// Element e of the block at byte `at`.
float of_block(uint at, uint e) {
  const BlockFormat format = described(kType);
  precise float scale = scale_of(at, format.scale);
  if (format.group > 0) {
    scale =
        scale * float(integer_of(at, format.scale_factor, e / format.group));
  }
  const int quant =
      format.table > 0
          ? look_up(table_of(format.table), bits_of(at, format.quant, e))
          : integer_of(at, format.quant, e);
  precise float value = scale * float(quant);
  if (format.minimum.sign_ == 0) return value;
  precise float minimum = half_at(at + format.minimum.at);
  if (format.minimum_factor.low.width > 0) {
    minimum = minimum *
              float(integer_of(at, format.minimum_factor, e / format.group));
  }
  value = format.minimum.sign_ > 0 ? value - minimum : value + minimum;
  return value;
}

// Number i of a row of bits of the block at byte `at`.
uint row_bits(uint at, Row row, uint i) {
  const uint bit = row.at + i / row.run * row.run_step + i % row.run * row.step_;
  uint bits = byte_at(at + bit / 8);
  if (bit % 8 + row.width > 8) bits |= byte_at(at + bit / 8 + 1) << 8;
  return (bits >> (bit % 8)) & ((1u << row.width) - 1);
}

uint ternary_digit(uint at, TernaryBytes bytes, uint i) {
  uint power = 1;
  for (uint digit = i / bytes.stride; digit > 0; --digit) power *= 3;
  return ((byte_at(at + bytes.at + i % bytes.stride) * power & 255u) * 3) >> 8;
}

uint quant_of(uint at, CodedFormat format, uint e) {
  if (format.plane.width > 0) return plane_bits(at, format.plane, e);
  uint i = e;
  uint k = 0;
  for (; i >= format.ternary[k].stride * format.ternary[k].digits; ++k) {
    i -= format.ternary[k].stride * format.ternary[k].digits;
  }
  return ternary_digit(at, format.ternary[k], i);
}

// Element e of the block of a coded type at byte `at`.
float of_coded(uint at, uint e) {
  const CodedFormat format = coded(kType);
  precise float scale = format.unit;
  if (format.scale_kind != kNoScale) {
    scale = scale * half_at(at + format.scale_at);
  }
  if (format.group > 0) {
    const uint bits = row_bits(at, format.factor, e / format.group);
    uint factor = bits;
    if (format.factor_kind == 1) {
      factor = 2 * bits + 1;
    } else if (format.factor_kind == 2) {
      const uint exponent = bits >> 3 & 15u;
      factor = bits == 0x7Fu   ? 0
               : exponent == 0 ? bits & 7u
                               : ((bits & 7u) | 8u) << (exponent - 1);
    }
    scale = scale * float(factor);
  }
  const uint quant = quant_of(at, format, e);
  const int value = format.table > 0 ? look_up(table_of(format.table), quant)
                                     : int(quant) - format.zero;
  precise float result = scale * float(value);
  return result;
}

// Element i of a row that begins at byte `row`.
float number(uint row, uint i) {
  const uint at = row + i / kBlock * kBlockBytes;
  if (is_coded(kType)) return of_coded(at, i % kBlock);
  return kBlock == 1 ? plain(at) : of_block(at, i % kBlock);
}
