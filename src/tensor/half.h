// IEEE binary16 and bfloat16, rounding to nearest even. NaN stays NaN and
// becomes quiet.
#pragma once

#include <bit>
#include <cstdint>

namespace rc {

inline float f16_to_f32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1Fu;
  const uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0) {
    // Zero or subnormal: a multiple of 2^-24, exact in f32.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  if (exponent == 0x1F) {
    const uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7F800000u | quiet | (mantissa << 13));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) |
                              (mantissa << 13));
}

inline uint16_t f32_to_f16(float value) {
  // Selections rather than branches: a loop of it becomes vectors.
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const uint32_t odd = (magnitude >> 13) & 1u;
  uint32_t result = (magnitude - (112u << 23) + 0xFFFu + odd) >> 13;
  // Below 2^-14, the smallest normal number. Adding 0.5 puts the multiple of
  // 2^-24 into the lowest bits, rounded by the addition itself.
  const float sum = std::bit_cast<float>(magnitude) + 0.5f;
  const uint32_t small = std::bit_cast<uint32_t>(sum) - 0x3F000000u;
  result = magnitude < 0x38800000u ? small : result;
  // From 65520 on the nearest is infinity.
  result = magnitude >= 0x477FF000u ? 0x7C00u : result;
  const uint32_t nan = 0x7E00u | ((magnitude >> 13) & 0x3FFu);
  result = magnitude > 0x7F800000u ? nan : result;
  return static_cast<uint16_t>(sign | result);
}

inline float bf16_to_f32(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  }
  const uint32_t odd = (bits >> 16) & 1u;
  return static_cast<uint16_t>((bits + 0x7FFFu + odd) >> 16);
}

}  // namespace rc
