// Decoding of every block format. The order of operations defines the bits of
// the result: each product and sum below is rounded to f32 once.
#include <cstring>

#include "base/error.h"
#include "tensor/blocks.h"
#include "tensor/dtype.h"

namespace rc {
namespace {

void decode_block(const BlockQ4_0& block, float* y) {
  const float d = f16_to_f32(block.scale);
  for (int j = 0; j < 16; ++j) {
    y[j] = static_cast<float>((block.quants[j] & 15) - 8) * d;
    y[j + 16] = static_cast<float>((block.quants[j] >> 4) - 8) * d;
  }
}

void decode_block(const BlockQ4_1& block, float* y) {
  const float d = f16_to_f32(block.scale);
  const float m = f16_to_f32(block.minimum);
  for (int j = 0; j < 16; ++j) {
    y[j] = static_cast<float>(block.quants[j] & 15) * d + m;
    y[j + 16] = static_cast<float>(block.quants[j] >> 4) * d + m;
  }
}

void decode_block(const BlockQ5_0& block, float* y) {
  const float d = f16_to_f32(block.scale);
  const uint32_t high = block.high;
  for (int j = 0; j < 16; ++j) {
    const int first = (block.quants[j] & 15) | (((high >> j) & 1) << 4);
    const int second = (block.quants[j] >> 4) | (((high >> (j + 16)) & 1) << 4);
    y[j] = static_cast<float>(first - 16) * d;
    y[j + 16] = static_cast<float>(second - 16) * d;
  }
}

void decode_block(const BlockQ5_1& block, float* y) {
  const float d = f16_to_f32(block.scale);
  const float m = f16_to_f32(block.minimum);
  const uint32_t high = block.high;
  for (int j = 0; j < 16; ++j) {
    const int first = (block.quants[j] & 15) | (((high >> j) & 1) << 4);
    const int second = (block.quants[j] >> 4) | (((high >> (j + 16)) & 1) << 4);
    y[j] = static_cast<float>(first) * d + m;
    y[j + 16] = static_cast<float>(second) * d + m;
  }
}

void decode_block(const BlockQ8_0& block, float* y) {
  const float d = f16_to_f32(block.scale);
  for (int j = 0; j < 32; ++j) y[j] = static_cast<float>(block.quants[j]) * d;
}

void decode_block(const BlockQ8_1& block, float* y) {
  const float d = f16_to_f32(block.scale);
  for (int j = 0; j < 32; ++j) y[j] = static_cast<float>(block.quants[j]) * d;
}

void decode_block(const BlockQ2_K& block, float* y) {
  const float d = f16_to_f32(block.scale);
  const float dmin = f16_to_f32(block.min_scale);
  for (int group = 0; group < 16; ++group) {
    const GroupPlace place = place_of_group(group);
    const float dl = d * static_cast<float>(block.scales[group] & 15);
    const float ml = dmin * static_cast<float>(block.scales[group] >> 4);
    const uint8_t* quants = block.quants + 32 * place.half + place.byte;
    for (int l = 0; l < 16; ++l) {
      *y++ = dl * static_cast<float>((quants[l] >> (2 * place.run)) & 3) - ml;
    }
  }
}

void decode_block(const BlockQ3_K& block, float* y) {
  const float d = f16_to_f32(block.scale);
  for (int group = 0; group < 16; ++group) {
    const GroupPlace place = place_of_group(group);
    const float dl = d * static_cast<float>(q3_k_scale(block.scales, group));
    const uint8_t* quants = block.quants + 32 * place.half + place.byte;
    const uint8_t* high = block.high + place.byte;
    for (int l = 0; l < 16; ++l) {
      const int third = (high[l] >> (group / 2)) & 1;
      const int q = ((quants[l] >> (2 * place.run)) & 3) | (third << 2);
      *y++ = dl * static_cast<float>(q - 4);
    }
  }
}

void decode_block(const BlockQ4_K& block, float* y) {
  const float d = f16_to_f32(block.scale);
  const float dmin = f16_to_f32(block.min_scale);
  for (int group = 0; group < 8; ++group) {
    const ScaleMin s = k_scale_min(block.scales, group);
    const float dl = d * static_cast<float>(s.scale);
    const float ml = dmin * static_cast<float>(s.minimum);
    const uint8_t* quants = block.quants + 32 * (group / 2);
    const int shift = 4 * (group % 2);
    for (int l = 0; l < 32; ++l) {
      *y++ = dl * static_cast<float>((quants[l] >> shift) & 15) - ml;
    }
  }
}

void decode_block(const BlockQ5_K& block, float* y) {
  const float d = f16_to_f32(block.scale);
  const float dmin = f16_to_f32(block.min_scale);
  for (int group = 0; group < 8; ++group) {
    const ScaleMin s = k_scale_min(block.scales, group);
    const float dl = d * static_cast<float>(s.scale);
    const float ml = dmin * static_cast<float>(s.minimum);
    const uint8_t* quants = block.quants + 32 * (group / 2);
    const int shift = 4 * (group % 2);
    for (int l = 0; l < 32; ++l) {
      const int high = (block.high[l] >> group) & 1;
      const int q = ((quants[l] >> shift) & 15) | (high << 4);
      *y++ = dl * static_cast<float>(q) - ml;
    }
  }
}

void decode_block(const BlockQ6_K& block, float* y) {
  const float d = f16_to_f32(block.scale);
  for (int group = 0; group < 16; ++group) {
    const GroupPlace place = place_of_group(group);
    const float dl = d * static_cast<float>(block.scales[group]);
    const uint8_t* low =
        block.low + 64 * place.half + 32 * (place.run % 2) + place.byte;
    const int shift = place.run < 2 ? 0 : 4;
    const uint8_t* high = block.high + 32 * place.half + place.byte;
    for (int l = 0; l < 16; ++l) {
      const int upper = (high[l] >> (2 * place.run)) & 3;
      const int q = ((low[l] >> shift) & 15) | (upper << 4);
      *y++ = dl * static_cast<float>(q - 32);
    }
  }
}

void decode_block(const BlockQ8_K& block, float* y) {
  const float d = block.scale;
  for (int j = 0; j < kLargeBlock; ++j) {
    y[j] = d * static_cast<float>(block.quants[j]);
  }
}

void decode_block(const BlockIQ4_NL& block, float* y) {
  const float d = f16_to_f32(block.scale);
  for (int j = 0; j < 16; ++j) {
    y[j] = d * static_cast<float>(kIQ4Values[block.quants[j] & 15]);
    y[j + 16] = d * static_cast<float>(kIQ4Values[block.quants[j] >> 4]);
  }
}

void decode_block(const BlockIQ4_XS& block, float* y) {
  const float d = f16_to_f32(block.scale);
  for (int group = 0; group < 8; ++group) {
    const float dl = d * static_cast<float>(iq4_xs_scale(block, group));
    const uint8_t* quants = block.quants + 16 * group;
    for (int j = 0; j < 16; ++j) {
      y[j] = dl * static_cast<float>(kIQ4Values[quants[j] & 15]);
      y[j + 16] = dl * static_cast<float>(kIQ4Values[quants[j] >> 4]);
    }
    y += 32;
  }
}

void decode_block(const BlockMXFP4& block, float* y) {
  const float d = mxfp4_scale(block.exponent);
  for (int j = 0; j < 16; ++j) {
    y[j] = static_cast<float>(kMXFP4Values[block.quants[j] & 15]) * d;
    y[j + 16] = static_cast<float>(kMXFP4Values[block.quants[j] >> 4]) * d;
  }
}

template <class Block, int kSize>
void decode_blocks(const void* source, float* target,
                   int64_t columns) noexcept {
  const auto* block = static_cast<const Block*>(source);
  for (int64_t i = 0; i < columns; i += kSize) {
    decode_block(*block++, target + i);
  }
}

// Plain types. A cast from f64 or from a wide integer rounds to nearest even.
template <class T>
void decode_plain(const void* source, float* target, int64_t columns) noexcept {
  const auto* bytes = static_cast<const char*>(source);
  for (int64_t i = 0; i < columns; ++i) {
    T value;
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    target[i] = static_cast<float>(value);
  }
}

template <float (*kConvert)(uint16_t)>
void decode_half(const void* source, float* target, int64_t columns) noexcept {
  const auto* bytes = static_cast<const char*>(source);
  for (int64_t i = 0; i < columns; ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * i, 2);
    target[i] = kConvert(bits);
  }
}

void copy_f32(const void* source, float* target, int64_t columns) noexcept {
  if (columns > 0) {
    std::memcpy(target, source, static_cast<size_t>(columns) * sizeof(float));
  }
}

}  // namespace

Decoder find_decoder(DType dtype) {
  switch (dtype) {
    case RC_DTYPE_F32:
      return copy_f32;
    case RC_DTYPE_F16:
      return decode_half<f16_to_f32>;
    case RC_DTYPE_BF16:
      return decode_half<bf16_to_f32>;
    case RC_DTYPE_F64:
      return decode_plain<double>;
    case RC_DTYPE_I8:
      return decode_plain<int8_t>;
    case RC_DTYPE_I16:
      return decode_plain<int16_t>;
    case RC_DTYPE_I32:
      return decode_plain<int32_t>;
    case RC_DTYPE_I64:
      return decode_plain<int64_t>;
    case RC_DTYPE_Q4_0:
      return decode_blocks<BlockQ4_0, kSmallBlock>;
    case RC_DTYPE_Q4_1:
      return decode_blocks<BlockQ4_1, kSmallBlock>;
    case RC_DTYPE_Q5_0:
      return decode_blocks<BlockQ5_0, kSmallBlock>;
    case RC_DTYPE_Q5_1:
      return decode_blocks<BlockQ5_1, kSmallBlock>;
    case RC_DTYPE_Q8_0:
      return decode_blocks<BlockQ8_0, kSmallBlock>;
    case RC_DTYPE_Q8_1:
      return decode_blocks<BlockQ8_1, kSmallBlock>;
    case RC_DTYPE_Q2_K:
      return decode_blocks<BlockQ2_K, kLargeBlock>;
    case RC_DTYPE_Q3_K:
      return decode_blocks<BlockQ3_K, kLargeBlock>;
    case RC_DTYPE_Q4_K:
      return decode_blocks<BlockQ4_K, kLargeBlock>;
    case RC_DTYPE_Q5_K:
      return decode_blocks<BlockQ5_K, kLargeBlock>;
    case RC_DTYPE_Q6_K:
      return decode_blocks<BlockQ6_K, kLargeBlock>;
    case RC_DTYPE_Q8_K:
      return decode_blocks<BlockQ8_K, kLargeBlock>;
    case RC_DTYPE_IQ4_NL:
      return decode_blocks<BlockIQ4_NL, kSmallBlock>;
    case RC_DTYPE_IQ4_XS:
      return decode_blocks<BlockIQ4_XS, kLargeBlock>;
    case RC_DTYPE_MXFP4:
      return decode_blocks<BlockMXFP4, kSmallBlock>;
    default:
      return nullptr;
  }
}

void decode_row(DType dtype, const void* source, float* target,
                int64_t columns) {
  const Decoder decode = find_decoder(dtype);
  if (decode == nullptr) {
    fail(RC_E_UNSUPPORTED, "no decoder for tensors of ", dtype_name(dtype));
  }
  if (!row_bytes(dtype, columns)) {
    fail(RC_E_INVALID_ARGUMENT, "a row of ", columns, " elements cannot be ",
         dtype_name(dtype), ": the block size is ",
         dtype_info(dtype)->block_size);
  }
  decode(source, target, columns);
}

}  // namespace rc
