// Encoding to the types that writers of files and caches need. Scales follow
// from the extremes of each block; a quantizer that searches for the scale of
// least error would do a little better, but isn't needed here.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "tensor/blocks.h"
#include "tensor/dtype.h"
#include "tensor/formats/unpack.h"

namespace rc {
namespace {

constexpr float kF16Largest = 65504.0f;

// Replaces numbers that a block cannot contain: NaN by 0, and values beyond the
// product of any scale and quant by the largest finite ones.
float finite(float x) {
  if (std::isnan(x)) return 0.0f;
  return std::clamp(x, -std::numeric_limits<float>::max() / 4,
                    std::numeric_limits<float>::max() / 4);
}

uint16_t scale_bits(float scale) {
  return f32_to_f16(std::clamp(scale, -kF16Largest, kF16Largest));
}

// x / step, rounded, within low..high. A step of 0 means that all is 0.
int quantize(float x, float step, int low, int high) {
  if (step == 0.0f) return std::clamp(0, low, high);
  const float q =
      std::clamp(x / step, static_cast<float>(low), static_cast<float>(high));
  return static_cast<int>(std::lrintf(q));
}

// The element of largest magnitude, with its sign.
float extreme(const float* x, int count) {
  float result = 0.0f;
  for (int i = 0; i < count; ++i) {
    if (std::fabs(x[i]) > std::fabs(result)) result = x[i];
  }
  return result;
}

// Blocks whose quants are two's complement with an offset: the scale is
// negative if the extreme is positive, as the negative range is one longer.
void encode_block(const float* x, BlockQ4_0* block) {
  block->scale = scale_bits(extreme(x, 32) / -8.0f);
  const float d = f16_to_f32(block->scale);
  for (int j = 0; j < 16; ++j) {
    const int first = quantize(x[j], d, -8, 7) + 8;
    const int second = quantize(x[j + 16], d, -8, 7) + 8;
    block->quants[j] = static_cast<uint8_t>(first | (second << 4));
  }
}

void encode_block(const float* x, BlockQ5_0* block) {
  block->scale = scale_bits(extreme(x, 32) / -16.0f);
  const float d = f16_to_f32(block->scale);
  uint32_t high = 0;
  for (int j = 0; j < 16; ++j) {
    const int first = quantize(x[j], d, -16, 15) + 16;
    const int second = quantize(x[j + 16], d, -16, 15) + 16;
    block->quants[j] = static_cast<uint8_t>((first & 15) | (second << 4));
    high |= static_cast<uint32_t>(first >> 4) << j;
    high |= static_cast<uint32_t>(second >> 4) << (j + 16);
  }
  block->high = high;
}

void encode_block(const float* x, BlockQ4_1* block) {
  const auto [low, high] = std::minmax_element(x, x + 32);
  block->scale = scale_bits((*high - *low) / 15.0f);
  block->minimum = scale_bits(*low);
  const float d = f16_to_f32(block->scale);
  const float m = f16_to_f32(block->minimum);
  for (int j = 0; j < 16; ++j) {
    const int first = quantize(x[j] - m, d, 0, 15);
    const int second = quantize(x[j + 16] - m, d, 0, 15);
    block->quants[j] = static_cast<uint8_t>(first | (second << 4));
  }
}

void encode_block(const float* x, BlockQ5_1* block) {
  const auto [low, high] = std::minmax_element(x, x + 32);
  block->scale = scale_bits((*high - *low) / 31.0f);
  block->minimum = scale_bits(*low);
  const float d = f16_to_f32(block->scale);
  const float m = f16_to_f32(block->minimum);
  uint32_t fifth = 0;
  for (int j = 0; j < 16; ++j) {
    const int first = quantize(x[j] - m, d, 0, 31);
    const int second = quantize(x[j + 16] - m, d, 0, 31);
    block->quants[j] = static_cast<uint8_t>((first & 15) | (second << 4));
    fifth |= static_cast<uint32_t>(first >> 4) << j;
    fifth |= static_cast<uint32_t>(second >> 4) << (j + 16);
  }
  block->high = fifth;
}

void encode_block(const float* x, BlockQ8_0* block) {
  block->scale = scale_bits(std::fabs(extreme(x, 32)) / 127.0f);
  const float d = f16_to_f32(block->scale);
  for (int j = 0; j < 32; ++j) {
    block->quants[j] = static_cast<int8_t>(quantize(x[j], d, -127, 127));
  }
}

// Scales and minimums of the eight groups of a Q4_K or Q5_K block, and the
// quants, up to `levels`, one per byte.
template <class Block>
void encode_k_groups(const float* x, int levels, Block* block,
                     uint8_t* quants) {
  float scales[8], minimums[8];
  for (int group = 0; group < 8; ++group) {
    const auto [low, high] =
        std::minmax_element(x + 32 * group, x + 32 * group + 32);
    // The minimum is subtracted and can't be negative.
    const float minimum = std::max(0.0f, -*low);
    minimums[group] = minimum;
    scales[group] =
        (std::max(*high, -minimum) + minimum) / static_cast<float>(levels);
  }
  block->scale = scale_bits(*std::max_element(scales, scales + 8) / 63.0f);
  block->min_scale =
      scale_bits(*std::max_element(minimums, minimums + 8) / 63.0f);
  const float d = f16_to_f32(block->scale);
  const float dmin = f16_to_f32(block->min_scale);
  std::memset(block->scales, 0, sizeof(block->scales));
  for (int group = 0; group < 8; ++group) {
    const int scale = quantize(scales[group], d, 0, 63);
    const int minimum = quantize(minimums[group], dmin, 0, 63);
    // See k_scale_min for the places of these bits.
    if (group < 4) {
      block->scales[group] |= static_cast<uint8_t>(scale);
      block->scales[group + 4] |= static_cast<uint8_t>(minimum);
    } else {
      block->scales[group + 4] |=
          static_cast<uint8_t>((scale & 15) | ((minimum & 15) << 4));
      block->scales[group - 4] |= static_cast<uint8_t>((scale >> 4) << 6);
      block->scales[group] |= static_cast<uint8_t>((minimum >> 4) << 6);
    }
    const float step = d * static_cast<float>(scale);
    const float offset = dmin * static_cast<float>(minimum);
    for (int l = 32 * group; l < 32 * group + 32; ++l) {
      quants[l] =
          static_cast<uint8_t>(quantize(x[l] + offset, step, 0, levels));
    }
  }
}

// The low four bits of 256 quants, as Q4_K and Q5_K hold them.
void pack_low_bits(const uint8_t* quants, uint8_t* target) {
  for (int pair = 0; pair < 4; ++pair) {
    for (int l = 0; l < 32; ++l) {
      const uint8_t* q = quants + 64 * pair + l;
      target[32 * pair + l] =
          static_cast<uint8_t>((q[0] & 15) | ((q[32] & 15) << 4));
    }
  }
}

void encode_block(const float* x, BlockQ4_K* block) {
  uint8_t quants[kLargeBlock];
  encode_k_groups(x, 15, block, quants);
  pack_low_bits(quants, block->quants);
}

void encode_block(const float* x, BlockQ5_K* block) {
  uint8_t quants[kLargeBlock];
  encode_k_groups(x, 31, block, quants);
  pack_low_bits(quants, block->quants);
  std::memset(block->high, 0, sizeof(block->high));
  for (int i = 0; i < kLargeBlock; ++i) {
    block->high[i % 32] |= static_cast<uint8_t>((quants[i] >> 4) << (i / 32));
  }
}

void encode_block(const float* x, BlockQ6_K* block) {
  float steps[16];
  for (int group = 0; group < 16; ++group) {
    steps[group] = extreme(x + 16 * group, 16) / -32.0f;
  }
  block->scale = scale_bits(std::fabs(extreme(steps, 16)) / 127.0f);
  const float d = f16_to_f32(block->scale);
  std::memset(block->low, 0, sizeof(block->low));
  std::memset(block->high, 0, sizeof(block->high));
  for (int group = 0; group < 16; ++group) {
    block->scales[group] =
        static_cast<int8_t>(quantize(steps[group], d, -127, 127));
    const float step = d * static_cast<float>(block->scales[group]);
    const GroupPlace place = place_of_group(group);
    uint8_t* low =
        block->low + 64 * place.half + 32 * (place.run % 2) + place.byte;
    uint8_t* high = block->high + 32 * place.half + place.byte;
    for (int l = 0; l < 16; ++l) {
      const int q = quantize(x[16 * group + l], step, -32, 31) + 32;
      low[l] |= static_cast<uint8_t>((q & 15) << (place.run < 2 ? 0 : 4));
      high[l] |= static_cast<uint8_t>((q >> 4) << (2 * place.run));
    }
  }
}

constexpr const int8_t* kIQ4Values = values_of(ValueTable::kIQ4);

int nearest_iq4(float q) {
  int best = 0;
  for (int i = 1; i < 16; ++i) {
    if (std::fabs(q - static_cast<float>(kIQ4Values[i])) <
        std::fabs(q - static_cast<float>(kIQ4Values[best]))) {
      best = i;
    }
  }
  return best;
}

void encode_block(const float* x, BlockIQ4_NL* block) {
  block->scale = scale_bits(extreme(x, 32) / kIQ4Values[0]);
  const float d = f16_to_f32(block->scale);
  const float inverse = d == 0.0f ? 0.0f : 1.0f / d;
  for (int j = 0; j < 16; ++j) {
    block->quants[j] = static_cast<uint8_t>(
        nearest_iq4(x[j] * inverse) | (nearest_iq4(x[j + 16] * inverse) << 4));
  }
}

constexpr BlockFormat kTQ2_0 = *find_block_format(RC_DTYPE_TQ2_0);

// The nearest of -1, 0 and 1 times the largest magnitude.
void encode_block(const float* x, std::array<uint8_t, kTQ2_0.bytes>* block) {
  const uint16_t scale = scale_bits(std::fabs(extreme(x, kTQ2_0.elements)));
  const float d = f16_to_f32(scale);
  uint8_t bits[kTQ2_0.elements];
  for (int i = 0; i < kTQ2_0.elements; ++i) {
    bits[i] = static_cast<uint8_t>(quantize(x[i], d, -1, 1) + 1);
  }
  block->fill(0);
  pack_bits<kTQ2_0.quant, kTQ2_0.elements>(bits, block->data());
  std::memcpy(block->data() + kTQ2_0.scale.at, &scale, sizeof scale);
}

template <class Block, int kSize>
void encode_blocks(const float* source, void* target, int64_t columns) {
  auto* block = static_cast<Block*>(target);
  float values[kSize];
  for (int64_t i = 0; i < columns; i += kSize) {
    std::transform(source + i, source + i + kSize, values, finite);
    encode_block(values, block++);
  }
}

template <class T>
T convert(float value) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(value)) return 0;
    // The upper limit may round up to a power of two in f32, which no longer
    // fits.
    if (value >= static_cast<float>(std::numeric_limits<T>::max())) {
      return std::numeric_limits<T>::max();
    }
    if (value <= static_cast<float>(std::numeric_limits<T>::min())) {
      return std::numeric_limits<T>::min();
    }
    return static_cast<T>(std::llrintf(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T, T (*kConvert)(float)>
void encode_plain(const float* source, void* target, int64_t columns) {
  auto* bytes = static_cast<char*>(target);
  for (int64_t i = 0; i < columns; ++i) {
    const T value = kConvert(source[i]);
    std::memcpy(bytes + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

using Encoder = void (*)(const float* source, void* target, int64_t columns);

Encoder find_encoder(DType dtype) {
  switch (dtype) {
    case RC_DTYPE_F32:
      return encode_plain<float, convert<float>>;
    case RC_DTYPE_F16:
      return encode_plain<uint16_t, f32_to_f16>;
    case RC_DTYPE_BF16:
      return encode_plain<uint16_t, f32_to_bf16>;
    case RC_DTYPE_F64:
      return encode_plain<double, convert<double>>;
    case RC_DTYPE_I8:
      return encode_plain<int8_t, convert<int8_t>>;
    case RC_DTYPE_I16:
      return encode_plain<int16_t, convert<int16_t>>;
    case RC_DTYPE_I32:
      return encode_plain<int32_t, convert<int32_t>>;
    case RC_DTYPE_I64:
      return encode_plain<int64_t, convert<int64_t>>;
    case RC_DTYPE_Q4_0:
      return encode_blocks<BlockQ4_0, kSmallBlock>;
    case RC_DTYPE_Q4_1:
      return encode_blocks<BlockQ4_1, kSmallBlock>;
    case RC_DTYPE_Q5_0:
      return encode_blocks<BlockQ5_0, kSmallBlock>;
    case RC_DTYPE_Q5_1:
      return encode_blocks<BlockQ5_1, kSmallBlock>;
    case RC_DTYPE_Q8_0:
      return encode_blocks<BlockQ8_0, kSmallBlock>;
    case RC_DTYPE_Q4_K:
      return encode_blocks<BlockQ4_K, kLargeBlock>;
    case RC_DTYPE_Q5_K:
      return encode_blocks<BlockQ5_K, kLargeBlock>;
    case RC_DTYPE_Q6_K:
      return encode_blocks<BlockQ6_K, kLargeBlock>;
    case RC_DTYPE_IQ4_NL:
      return encode_blocks<BlockIQ4_NL, kSmallBlock>;
    case RC_DTYPE_TQ2_0:
      return encode_blocks<std::array<uint8_t, kTQ2_0.bytes>, kLargeBlock>;
    default:
      return nullptr;
  }
}

}  // namespace

bool encodable(DType dtype) { return find_encoder(dtype) != nullptr; }

void encode_row(DType dtype, const float* source, void* target,
                int64_t columns) {
  const Encoder encode = find_encoder(dtype);
  if (encode == nullptr) {
    fail(RC_E_UNSUPPORTED, "no encoder for tensors of ", dtype_name(dtype));
  }
  if (!row_bytes(dtype, columns)) {
    fail(RC_E_INVALID_ARGUMENT, "a row of ", columns, " elements cannot be ",
         dtype_name(dtype), ": the block size is ",
         dtype_info(dtype)->block_size);
  }
  encode(source, target, columns);
}

}  // namespace rc
