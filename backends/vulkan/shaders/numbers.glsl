// Numbers of any type that can be decoded, as tensors hold them: src/tensor/
// blocks.h describes the layouts, src/tensor/decode.cc is the definition that this
// equals bit for bit. Needs math.glsl and tables.glsl, and the input `numbers`.
layout(constant_id = 1) const uint kType = 0;   // rc_dtype
layout(constant_id = 2) const uint kBlock = 1;  // elements: 1, 32 or 256
layout(constant_id = 3) const uint kBlockBytes = 4;

const uint kF32 = 0;
const uint kF16 = 1;
const uint kQ4_0 = 2;
const uint kQ4_1 = 3;
const uint kQ5_0 = 6;
const uint kQ5_1 = 7;
const uint kQ8_0 = 8;
const uint kQ8_1 = 9;
const uint kQ2_K = 10;
const uint kQ3_K = 11;
const uint kQ4_K = 12;
const uint kQ5_K = 13;
const uint kQ6_K = 14;
const uint kQ8_K = 15;
const uint kIQ4_NL = 20;
const uint kIQ4_XS = 23;
const uint kI8 = 24;
const uint kI16 = 25;
const uint kI32 = 26;
const uint kI64 = 27;
const uint kF64 = 28;
const uint kBF16 = 30;
const uint kMXFP4 = 39;

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
  const int most = high != 0 ? 32 + findMSB(high) : findMSB(low);
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

// Four bits of byte e % 16: the lower ones of the first 16 elements.
uint nibble(uint at, uint e) {
  return (byte_at(at + e % 16) >> (e / 16 * 4)) & 15u;
}

// Element e of a block of 32.
float small(uint at, uint e) {
  precise float value;
  if (kType == kMXFP4) {
    // 2^(exponent - 128); the two smallest are subnormal.
    const uint exponent = byte_at(at);
    const float scale = uintBitsToFloat(
        exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
    value = float(mxfp4_value(nibble(at + 1, e))) * scale;
    return value;
  }
  const float scale = half_at(at);
  switch (kType) {
    case kQ4_0:
      value = float(int(nibble(at + 2, e)) - 8) * scale;
      return value;
    case kIQ4_NL:
      value = scale * float(iq4_value(nibble(at + 2, e)));
      return value;
    case kQ8_0:
      value = float(signed_byte_at(at + 2 + e)) * scale;
      return value;
    case kQ8_1:
      value = float(signed_byte_at(at + 4 + e)) * scale;
      return value;
    case kQ4_1:
      value = float(nibble(at + 4, e)) * scale;
      value = value + half_at(at + 2);
      return value;
  }
  const bool minimum = kType == kQ5_1;
  const uint bits = minimum ? at + 4 : at + 2;  // the fifth ones
  const uint fifth = (byte_at(bits + e / 8) >> (e % 8)) & 1u;
  const uint q = nibble(bits + 4, e) | fifth << 4;
  if (minimum) {
    value = float(q) * scale;
    value = value + half_at(at + 2);
  } else {
    value = float(int(q) - 16) * scale;
  }
  return value;
}

// Six-bit scale (x) and minimum (y) of a group of Q4_K and Q5_K; k_scale_min.
uvec2 scale_and_minimum(uint at, uint group) {
  if (group < 4) {
    return uvec2(byte_at(at + group), byte_at(at + group + 4)) & 63u;
  }
  const uint both = byte_at(at + group + 4);
  return uvec2((both & 15u) | byte_at(at + group - 4) >> 6 << 4,
               both >> 4 | byte_at(at + group) >> 6 << 4);
}

// Element e of a block of 256.
float large(uint at, uint e) {
  precise float scale;
  precise float value;
  const uint byte_ = e % 32;
  const uint group = e / 16;  // in blocks with sixteen
  const uint half_ = e / 128;
  const uint run = e % 128 / 32;
  switch (kType) {
    case kQ2_K: {
      const uint both = byte_at(at + group);
      const uint q = byte_at(at + 16 + 32 * half_ + byte_) >> (2 * run) & 3u;
      scale = half_at(at + 80) * float(both & 15u);
      precise float minimum = half_at(at + 82) * float(both >> 4);
      value = scale * float(q);
      value = value - minimum;
      return value;
    }
    case kQ3_K: {
      // q3_k_scale
      const uint low = byte_at(at + 96 + group % 8) >> (group / 8 * 4) & 15u;
      const uint high =
          byte_at(at + 104 + group % 4) >> (group / 4 * 2) & 3u;
      const uint third = byte_at(at + byte_) >> (e / 32) & 1u;
      const uint q = (byte_at(at + 32 + 32 * half_ + byte_) >> (2 * run) & 3u) |
                     third << 2;
      scale = half_at(at + 108) * float(int(low | high << 4) - 32);
      value = scale * float(int(q) - 4);
      return value;
    }
    case kQ4_K:
    case kQ5_K: {
      const bool fifth = kType == kQ5_K;
      const uint quants = at + (fifth ? 48 : 16);
      const uvec2 both = scale_and_minimum(at + 4, e / 32);
      uint q = byte_at(quants + e / 64 * 32 + byte_) >> (e / 32 % 2 * 4) & 15u;
      if (fifth) q |= (byte_at(at + 16 + byte_) >> (e / 32) & 1u) << 4;
      scale = half_at(at) * float(both.x);
      precise float minimum = half_at(at + 2) * float(both.y);
      value = scale * float(q);
      value = value - minimum;
      return value;
    }
    case kQ6_K: {
      const uint low =
          byte_at(at + 64 * half_ + 32 * (run % 2) + byte_) >> (run / 2 * 4) &
          15u;
      const uint high = byte_at(at + 128 + 32 * half_ + byte_) >> (2 * run) & 3u;
      scale = half_at(at + 208) * float(signed_byte_at(at + 192 + group));
      value = scale * float(int(low | high << 4) - 32);
      return value;
    }
    case kQ8_K:
      value = NUMBER(numbers, at / 4) * float(signed_byte_at(at + 4 + e));
      return value;
  }
  // IQ4_XS; iq4_xs_scale.
  const uint eighth = e / 32;
  const uint low = byte_at(at + 4 + eighth / 2) >> (eighth % 2 * 4) & 15u;
  const uint high = pair_at(at + 2) >> (2 * eighth) & 3u;
  scale = half_at(at) * float(int(low | high << 4) - 32);
  value = scale * float(iq4_value(nibble(at + 8 + 16 * eighth, byte_)));
  return value;
}

// Element i of a row that begins at byte `row`.
float number(uint row, uint i) {
  const uint at = row + i / kBlock * kBlockBytes;
  if (kBlock == 1) return plain(at);
  return kBlock == 256 ? large(at, i % kBlock) : small(at, i % kBlock);
}
