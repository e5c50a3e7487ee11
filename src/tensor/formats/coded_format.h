// The description of a type that packs several elements into one code: the
// places of the codes in a block, and the format of formats.h into which they
// expand. That format defines the values of the elements. Every number of it is
// exact, so it does not matter where codes are expanded.
//
// An element is a digit, with its sign (if there are signs) above the bits of
// the digit: that is its quant in the expanded format.
#pragma once

#include <cstdint>

#include "tensor/formats/block_format.h"

namespace rc {

// Numbers of `width` bits (at most 9), little-endian, at any bit of a block:
// `run` of them begin `step` bits apart, the next `run` begin `run_step` bits
// after those, and so on. A run of 0 is all of them.
struct BitRow {
  int at = 0;  // the first bit of the first
  int width = 0;
  int step = 0;
  int run = 0;
  int run_step = 0;
};

constexpr int bit_of(const BitRow& row, int i) {
  if (row.run == 0) return row.at + i * row.step;
  return row.at + i / row.run * row.run_step + i % row.run * row.step;
}

// Number i of a row in the block at p. No byte is read that has none of its
// bits.
constexpr int bits_at(const uint8_t* p, const BitRow& row, int i) {
  const int bit = bit_of(row, i);
  int bits = p[bit / 8];
  if (bit % 8 + row.width > 8) bits |= p[bit / 8 + 1] << 8;
  return bits >> (bit % 8) & ((1 << row.width) - 1);
}

// Bytes of `digits` ternary digits each. Digit d of byte i is that of element
// d * stride + i, counted from the first element of the bytes; it is the
// whole part of 3 / 256 times (3^d byte mod 256).
struct TernaryBytes {
  int at;
  int stride;
  int digits;
};

enum class Codebook : uint8_t {
  kNone,
  kIQ2XXS,
  kIQ2XS,
  kIQ2S,
  kIQ3XXS,
  kIQ3S,
  kIQ1S
};

struct CodedFormat {
  rc_dtype dtype;
  const char* name;
  int elements;  // per block
  int bytes;
  rc_dtype expanded;  // a type of formats.h, of as many elements or less

  // The digits are those of the entries of a codebook with these numbers, the
  // bits of index_high above the others, or
  Codebook book = Codebook::kNone;
  BitRow index = {};
  BitRow index_high = {};
  // ternary, or
  TernaryBytes ternary[3] = {};
  // numbers of a plane.
  BitPlane plane = {};

  // Signs of 7 bits are those of eight elements, of which the last makes the
  // number of set ones even; of 8 bits, of eight elements; of one bit, of
  // `sign_elements` elements all alike.
  BitRow sign = {};
  int sign_elements = 8;

  // A binary16, if the expanded format has one: at byte scale_at or, if
  // scale_parts has a width, in parts of four bits from the lowest on.
  int scale_at = 0;
  BitRow scale_parts = {};

  // The bits of the factors, each of `group` elements.
  int group = 0;
  BitRow factor = {};
};

}  // namespace rc
