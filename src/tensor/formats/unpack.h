// The numbers of a block, read and written according to its description, which
// is evaluated at compile time: every type gets separate loops.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "tensor/formats/formats.h"
#include "tensor/half.h"

namespace rc {

static_assert(std::endian::native == std::endian::little,
              "blocks are read in place");

// Puts the bits of a plane into `numbers`, kShift bits up; those of a shift of
// 0 come first and set the numbers.
template <BitPlane kPlane, int kCount, int kShift>
inline void unpack_plane(const uint8_t* block, uint8_t* numbers) {
  constexpr int kMask = (1 << kPlane.width) - 1;
  constexpr int kSlots = 8 / kPlane.width;
  constexpr int kStride = kPlane.stride;
  const auto put = [numbers](int i, int bits) {
    const auto shifted = static_cast<uint8_t>((bits & kMask) << kShift);
    numbers[i] = kShift == 0 ? shifted : numbers[i] | shifted;
  };
  if constexpr (is_unbroken(kPlane) && kCount % (kSlots * kStride) == 0) {
    const uint8_t* from = block + kPlane.at;
    for (int first = 0; first < kCount; first += kSlots * kStride) {
#pragma GCC unroll 8
      for (int slot = 0; slot < kSlots; ++slot) {
        for (int i = 0; i < kStride; ++i) {
          put(first + slot * kStride + i, from[i] >> (slot * kPlane.width));
        }
      }
      from += kStride;
    }
  } else {
    for (int i = 0; i < kCount; ++i) {
      const BitPlace place = place_of(kPlane, i);
      put(i, block[place.byte] >> place.shift);
    }
  }
}

// Bits of kCount numbers, each in a byte, before anything is subtracted.
template <BitNumber kNumber, int kCount>
inline void unpack_bits(const uint8_t* block, uint8_t* numbers) {
  static_assert(width_of(kNumber) > 0 && width_of(kNumber) <= 8);
  if constexpr (kNumber.low.width == 8 && is_unbroken(kNumber.low)) {
    std::memcpy(numbers, block + kNumber.low.at, kCount);
  } else {
    unpack_plane<kNumber.low, kCount, 0>(block, numbers);
    if constexpr (kNumber.high.width > 0) {
      unpack_plane<kNumber.high, kCount, kNumber.low.width>(block, numbers);
    }
  }
}

// Puts the bits of `numbers` from kShift on where unpack_plane finds them.
template <BitPlane kPlane, int kCount, int kShift>
inline void pack_plane(const uint8_t* numbers, uint8_t* block) {
  constexpr int kMask = (1 << kPlane.width) - 1;
  constexpr int kSlots = 8 / kPlane.width;
  constexpr int kStride = kPlane.stride;
  const auto bits = [numbers](int i, int shift) {
    return static_cast<uint8_t>((numbers[i] >> kShift & kMask) << shift);
  };
  if constexpr (is_unbroken(kPlane) && kCount % (kSlots * kStride) == 0) {
    uint8_t* to = block + kPlane.at;
    for (int first = 0; first < kCount; first += kSlots * kStride) {
#pragma GCC unroll 8
      for (int slot = 0; slot < kSlots; ++slot) {
        for (int i = 0; i < kStride; ++i) {
          to[i] |= bits(first + slot * kStride + i, slot * kPlane.width);
        }
      }
      to += kStride;
    }
  } else {
    for (int i = 0; i < kCount; ++i) {
      const BitPlace place = place_of(kPlane, i);
      block[place.byte] |= bits(i, place.shift);
    }
  }
}

// Puts numbers, each in a byte, where unpack_bits finds them. The block was
// zero there.
template <BitNumber kNumber, int kCount>
inline void pack_bits(const uint8_t* numbers, uint8_t* block) {
  pack_plane<kNumber.low, kCount, 0>(numbers, block);
  if constexpr (kNumber.high.width > 0) {
    pack_plane<kNumber.high, kCount, kNumber.low.width>(numbers, block);
  }
}

// The meaning of the bits of a number.
template <BitNumber kNumber>
inline int meaning_of(uint8_t bits) {
  if constexpr (kNumber.is_signed) return static_cast<int8_t>(bits);
  if constexpr (kNumber.kind == BitKind::kOdd) return 2 * bits + 1;
  if constexpr (kNumber.kind == BitKind::kE4M3) return e4m3(bits);
  return bits - kNumber.zero;
}

inline uint16_t f16_bits_at(const uint8_t* block, int at) {
  uint16_t bits;
  std::memcpy(&bits, block + at, sizeof bits);
  return bits;
}

// 2^(exponent - 128); the two smallest are subnormal.
inline float power_of_two(uint8_t exponent) {
  const uint32_t bits = exponent < 2
                            ? 0x00200000u << exponent
                            : static_cast<uint32_t>(exponent - 1) << 23;
  return std::bit_cast<float>(bits);
}

// The scale of a whole block.
template <Scale kScale>
inline float scale_of(const uint8_t* block) {
  if constexpr (kScale.kind == ScaleKind::kOne) {
    return power(kScale.exponent);
  } else if constexpr (kScale.exponent != 0) {
    constexpr Scale kBare = {kScale.at, kScale.kind, 0};
    return scale_of<kBare>(block) * power(kScale.exponent);
  } else if constexpr (kScale.kind == ScaleKind::kF32) {
    float scale;
    std::memcpy(&scale, block + kScale.at, sizeof scale);
    return scale;
  } else if constexpr (kScale.kind == ScaleKind::kPowerOfTwo) {
    return power_of_two(block[kScale.at]);
  } else {
    return f16_to_f32(f16_bits_at(block, kScale.at));
  }
}

}  // namespace rc
