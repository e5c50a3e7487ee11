#include "files/quantize/encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "files/quantize/encoder_list.h"
#include "files/quantize/long_vectors.h"
#include "tensor/blocks.h"
#include "tensor/half.h"

namespace rc::quantize {
namespace {

constexpr float kLargestF16 = 65504.0f;

template <class T, T (*kConvert)(float)>
void encode_plainly(const float* x, const float*, int64_t columns,
                    uint8_t* target) {
  for (int64_t i = 0; i < columns; ++i) {
    const T value = kConvert(x[i]);
    std::memcpy(target + i * static_cast<int64_t>(sizeof(T)), &value,
                sizeof(T));
  }
}

float same(float x) { return x; }

// The first element of largest magnitude.
float first_extreme(const float* x) {
  float largest = 0.0f;
  for (int i = 0; i < kSmallBlock; ++i) {
    const float size = std::fabs(x[i]);
    largest = size > largest ? size : largest;
  }
  int i = 0;
  while (std::fabs(x[i]) != largest) ++i;
  return x[i];
}

float inverse_or_zero(float x) {
  const float inverse = x == 0.0f ? 0.0f : 1.0f / x;
  return std::isfinite(inverse) ? inverse : 0.0f;
}

// Halves are rounded up, and the result is within 0 to `most`.
int round_up(float x, int zero, int most) {
  const float shifted = x + (static_cast<float>(zero) + 0.5f);
  return std::min(static_cast<int>(shifted), most);
}

void put_block(const float* x, BlockQ4_0* block) {
  const float scale = first_extreme(x) / -8.0f;
  const float by = inverse_or_zero(scale);
  block->scale = f32_to_f16(scale);
  int quants[kSmallBlock];
  for (int i = 0; i < kSmallBlock; ++i) quants[i] = round_up(x[i] * by, 8, 15);
  for (int j = 0; j < 16; ++j) {
    block->quants[j] = static_cast<uint8_t>(quants[j] | quants[j + 16] << 4);
  }
}

void put_block(const float* x, BlockQ5_0* block) {
  const float scale = first_extreme(x) / -16.0f;
  const float by = inverse_or_zero(scale);
  block->scale = f32_to_f16(scale);
  int quants[kSmallBlock];
  for (int i = 0; i < kSmallBlock; ++i) {
    quants[i] = round_up(x[i] * by, 16, 31);
  }
  for (int j = 0; j < 16; ++j) {
    block->quants[j] =
        static_cast<uint8_t>((quants[j] & 15) | (quants[j + 16] & 15) << 4);
  }
  uint32_t fifth = 0;
  for (int i = 0; i < kSmallBlock; ++i) {
    fifth |= static_cast<uint32_t>(quants[i] >> 4) << i;
  }
  block->high = fifth;
}

void put_block(const float* x, BlockQ8_0* block) {
  float largest = 0.0f;
  for (int i = 0; i < kSmallBlock; ++i) {
    largest = std::max(largest, std::fabs(x[i]));
  }
  const float scale = largest / 127.0f;
  const float by = inverse_or_zero(scale);
  block->scale = f32_to_f16(scale);
  for (int i = 0; i < kSmallBlock; ++i) {
    // Halves away from zero.
    const float q = x[i] * by;
    const float size = std::fabs(q);
    const auto whole = static_cast<int>(size);
    const int rounded =
        whole + static_cast<int>(2 * (size - static_cast<float>(whole)));
    block->quants[i] = static_cast<int8_t>(q < 0 ? -rounded : rounded);
  }
}

template <class Block>
void encode_closely(const float* x, const float*, int64_t columns,
                    uint8_t* target) {
  for (int64_t i = 0; i < columns; i += kSmallBlock) {
    Block block;
    put_block(x + i, &block);
    std::memcpy(target, &block, sizeof block);
    target += sizeof block;
  }
}

// Rounded as the package gguf does it, or searched where weights are given.
template <class Block, DType kType>
void encode_rounded(const float* x, const float* w, int64_t columns,
                    uint8_t* target) {
  static const Encoder search = find_searched_encoder(kType);
  static const Encoder round = best_of<encode_closely<Block>>();
  (w != nullptr ? search : round)(x, w, columns, target);
}

}  // namespace

Encoder find_encoder(DType dtype) {
  switch (dtype) {
    case RC_DTYPE_F32:
      return encode_plainly<float, same>;
    case RC_DTYPE_F16:
      return encode_plainly<uint16_t, f32_to_f16>;
    case RC_DTYPE_BF16:
      return encode_plainly<uint16_t, f32_to_bf16>;
    case RC_DTYPE_Q4_0:
      return encode_rounded<BlockQ4_0, RC_DTYPE_Q4_0>;
    case RC_DTYPE_Q5_0:
      return encode_rounded<BlockQ5_0, RC_DTYPE_Q5_0>;
    case RC_DTYPE_Q8_0:
      return encode_rounded<BlockQ8_0, RC_DTYPE_Q8_0>;
    default:
      return find_searched_encoder(dtype);
  }
}

float largest_element(DType dtype) {
  return dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_BF16
             ? std::numeric_limits<float>::infinity()
             : kLargestF16;
}

}  // namespace rc::quantize
