// Decoding of every type. The order of operations defines the bits of the
// result: each product and sum below is rounded to f32 once.
#include <cstring>
#include <utility>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/expand.h"
#include "tensor/formats/coded_formats.h"
#include "tensor/formats/unpack.h"

namespace rc {
namespace {

// The factors that the elements of a group share.
struct Factors {
  float scale;
  float minimum;
};

template <const BlockFormat& kFormat, int kGroups>
void decode_factors(const uint8_t* block, Factors* factors) {
  const float scale = scale_of<kFormat.scale>(block);
  float minimum = 0.0f;
  if constexpr (kFormat.minimum.sign != Minimum::kNone) {
    minimum = f16_to_f32(f16_bits_at(block, kFormat.minimum.at));
  }
  for (int g = 0; g < kGroups; ++g) factors[g] = {scale, minimum};
  if constexpr (width_of(kFormat.scale_factor) > 0) {
    uint8_t bits[kGroups];
    unpack_bits<kFormat.scale_factor, kGroups>(block, bits);
    for (int g = 0; g < kGroups; ++g) {
      factors[g].scale *=
          static_cast<float>(meaning_of<kFormat.scale_factor>(bits[g]));
    }
  }
  if constexpr (width_of(kFormat.minimum_factor) > 0) {
    uint8_t bits[kGroups];
    unpack_bits<kFormat.minimum_factor, kGroups>(block, bits);
    for (int g = 0; g < kGroups; ++g) {
      factors[g].minimum *=
          static_cast<float>(meaning_of<kFormat.minimum_factor>(bits[g]));
    }
  }
}

template <const BlockFormat& kFormat, int kCount>
void decode_by_table(const uint8_t* quants, float scale, float* y) {
  static_assert(kFormat.minimum.sign == Minimum::kNone);
  float products[16];
  for (int i = 0; i < 16; ++i) {
    products[i] = scale * static_cast<float>(values_of(kFormat.table)[i]);
  }
  for (int i = 0; i < kCount; ++i) y[i] = products[quants[i]];
}

template <const BlockFormat& kFormat>
void decode_block(const uint8_t* block, float* y) {
  constexpr int kGroup = kFormat.group > 0 ? kFormat.group : kFormat.elements;
  constexpr int kGroups = kFormat.elements / kGroup;
  Factors factors[kGroups];
  decode_factors<kFormat, kGroups>(block, factors);
  uint8_t unpacked[kFormat.elements];
  const uint8_t* bits = unpacked;
  if constexpr (kFormat.quant.low.width == 8) {
    bits = block + kFormat.quant.low.at;
  } else {
    unpack_bits<kFormat.quant, kFormat.elements>(block, unpacked);
  }
  for (int g = 0; g < kGroups; ++g) {
    const Factors f = factors[g];
    const uint8_t* quants = bits + kGroup * g;
    if constexpr (kFormat.table != ValueTable::kNone) {
      decode_by_table<kFormat, kGroup>(quants, f.scale, y);
    } else {
      for (int i = 0; i < kGroup; ++i) {
        y[i] =
            f.scale * static_cast<float>(meaning_of<kFormat.quant>(quants[i]));
        if constexpr (kFormat.minimum.sign == Minimum::kAdded) {
          y[i] = y[i] + f.minimum;
        } else if constexpr (kFormat.minimum.sign == Minimum::kSubtracted) {
          y[i] = y[i] - f.minimum;
        }
      }
    }
    y += kGroup;
  }
}

template <int kIndex>
constexpr BlockFormat kFormatAt = kBlockFormats[kIndex];

template <int kIndex>
constexpr CodedFormat kCodedAt = kCodedFormats[kIndex];
template <int kIndex>
constexpr BlockFormat kCodedAsNumbers =
    *find_block_format(kCodedFormats[kIndex].expanded);

template <int kIndex>
void decode_blocks(const void* source, float* target,
                   int64_t columns) noexcept {
  constexpr const BlockFormat& kFormat = kFormatAt<kIndex>;
  const auto* block = static_cast<const uint8_t*>(source);
  for (int64_t i = 0; i < columns; i += kFormat.elements) {
    decode_block<kFormat>(block, target + i);
    block += kFormat.bytes;
  }
}

// Block after block through the format that the type expands into.
template <int kIndex>
void decode_coded(const void* source, float* target, int64_t columns) noexcept {
  constexpr const CodedFormat& kFormat = kCodedAt<kIndex>;
  constexpr const BlockFormat& kTo = kCodedAsNumbers<kIndex>;
  const Expander expand = find_expander(kFormat.dtype);
  const auto* block = static_cast<const uint8_t*>(source);
  for (int64_t i = 0; i < columns; i += kFormat.elements) {
    uint8_t expanded[kFormat.elements / kTo.elements * kTo.bytes];
    expand(block, expanded, kFormat.elements);
    for (int first = 0; first < kFormat.elements; first += kTo.elements) {
      decode_block<kTo>(expanded + first / kTo.elements * kTo.bytes,
                        target + i + first);
    }
    block += kFormat.bytes;
  }
}

template <int... kIndices>
Decoder find_coded_decoder(DType dtype,
                           std::integer_sequence<int, kIndices...>) {
  Decoder decode = nullptr;
  ((kCodedFormats[kIndices].dtype == dtype ? decode = decode_coded<kIndices>
                                           : nullptr),
   ...);
  return decode;
}

template <int... kIndices>
Decoder find_block_decoder(DType dtype,
                           std::integer_sequence<int, kIndices...>) {
  Decoder decode = nullptr;
  ((kBlockFormats[kIndices].dtype == dtype ? decode = decode_blocks<kIndices>
                                           : nullptr),
   ...);
  return decode;
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
    default:
      break;
  }
  // Expanded formats are none of a tensor.
  if (dtype_info(dtype) == nullptr) return nullptr;
  const Decoder decode = find_block_decoder(
      dtype, std::make_integer_sequence<int, kBlockFormatCount>());
  if (decode != nullptr) return decode;
  return find_coded_decoder(
      dtype, std::make_integer_sequence<int, kCodedFormatCount>());
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
