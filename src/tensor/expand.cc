#include "tensor/expand.h"

#include <array>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "tensor/formats/codebooks.h"
#include "tensor/formats/coded_formats.h"
#include "tensor/formats/unpack.h"

namespace rc {
namespace {

template <Codebook kBook>
constexpr const auto& entries_of_book() {
  if constexpr (kBook == Codebook::kIQ2XXS) return kIQ2XXSEntries;
  if constexpr (kBook == Codebook::kIQ2XS) return kIQ2XSEntries;
  if constexpr (kBook == Codebook::kIQ2S) return kIQ2SEntries;
  if constexpr (kBook == Codebook::kIQ3XXS) return kIQ3XXSEntries;
  if constexpr (kBook == Codebook::kIQ3S) return kIQ3SEntries;
  if constexpr (kBook == Codebook::kIQ1S) return kIQ1SEntries;
}

template <const CodedFormat& kFormat>
constexpr BlockFormat kExpandedOf = *find_block_format(kFormat.expanded);

// Bits of a digit below the sign.
template <const CodedFormat& kFormat>
constexpr int kDigitWidth = width_of(kExpandedOf<kFormat>.quant) -
                            (kFormat.sign.width > 0 ? 1 : 0);

// kCount numbers of kWidth bits each, side by side, to a byte each.
template <int kCount, int kWidth>
uint64_t spread_bits(uint64_t bits) {
  for (int half = kCount / 2; half > 0; half /= 2) {
    // Every 8 * half bits there are as many as `half` numbers have.
    const uint64_t some = (uint64_t{1} << (half * kWidth)) - 1;
    const uint64_t mask = ~uint64_t{0} / ((uint64_t{1} << (8 * half)) - 1);
    bits = (bits | bits << (half * (8 - kWidth))) & mask * some;
  }
  return bits;
}

template <const CodedFormat& kFormat>
void take_entries(const uint8_t* block, uint8_t* quants) {
  constexpr const auto& kEntries = entries_of_book<kFormat.book>();
  constexpr int kWidth = kDigitWidth<kFormat>;
  constexpr int kDigits = kWidth == 3 ? 4 : 8;
  static_assert(kEntries.size() ==
                1 << (kFormat.index.width + kFormat.index_high.width));
  for (int i = 0; i < kFormat.elements / kDigits; ++i) {
    int index = bits_at(block, kFormat.index, i);
    if constexpr (kFormat.index_high.width > 0) {
      index |= bits_at(block, kFormat.index_high, i) << kFormat.index.width;
    }
    const uint64_t digits =
        spread_bits<kDigits, kWidth>(kEntries[static_cast<size_t>(index)]);
    std::memcpy(quants + kDigits * i, &digits, kDigits);
  }
}

template <const CodedFormat& kFormat>
void take_ternary(const uint8_t* block, uint8_t* quants) {
  for (const TernaryBytes& bytes : kFormat.ternary) {
    int power = 1;
    for (int digit = 0; digit < bytes.digits; ++digit, power *= 3) {
      for (int i = 0; i < bytes.stride; ++i) {
        const int shifted = block[bytes.at + i] * power & 255;
        *quants++ = static_cast<uint8_t>(shifted * 3 >> 8);
      }
    }
  }
}

template <const CodedFormat& kFormat>
void add_signs(const uint8_t* block, uint8_t* quants) {
  constexpr int kOf = kFormat.sign_elements;
  constexpr int kWidth = kFormat.sign.width;
  for (int i = 0; i < kFormat.elements / kOf; ++i) {
    int signs = bits_at(block, kFormat.sign, i);
    if constexpr (kWidth == 7) {
      signs |= (std::popcount(static_cast<unsigned>(signs)) & 1) << 7;
    }
    uint64_t eight = static_cast<uint64_t>(signs) * 0x0101010101010101;
    if constexpr (kWidth > 1) {
      eight = spread_bits<8, 1>(static_cast<uint64_t>(signs));
    }
    eight <<= kDigitWidth<kFormat>;
    for (int k = 0; k < kOf; k += 8) {
      uint64_t some;
      std::memcpy(&some, quants + kOf * i + k, sizeof some);
      some |= eight;
      std::memcpy(quants + kOf * i + k, &some, sizeof some);
    }
  }
}

template <const CodedFormat& kFormat>
uint16_t scale_bits(const uint8_t* block) {
  if constexpr (kFormat.scale_parts.width > 0) {
    int bits = 0;
    for (int i = 0; i < 4; ++i) {
      bits |= bits_at(block, kFormat.scale_parts, i) << (4 * i);
    }
    return static_cast<uint16_t>(bits);
  } else {
    return f16_bits_at(block, kFormat.scale_at);
  }
}

template <const CodedFormat& kFormat>
uint8_t factor_bits(const uint8_t* block, int group) {
  const int bits = bits_at(block, kFormat.factor, group);
  constexpr bool kE4M3 =
      kExpandedOf<kFormat>.scale_factor.kind == BitKind::kE4M3;
  // A NaN becomes 0.
  if (kE4M3 && bits == 0x7F) return 0;
  return static_cast<uint8_t>(bits);
}

template <const CodedFormat& kFormat>
void expand_block(const uint8_t* block, uint8_t* target) {
  constexpr const BlockFormat& kTo = kExpandedOf<kFormat>;
  uint8_t quants[kFormat.elements];
  if constexpr (kFormat.book != Codebook::kNone) {
    take_entries<kFormat>(block, quants);
  } else if constexpr (kFormat.plane.width > 0) {
    unpack_plane<kFormat.plane, kFormat.elements, 0>(block, quants);
  } else {
    take_ternary<kFormat>(block, quants);
  }
  if constexpr (kFormat.sign.width > 0) add_signs<kFormat>(block, quants);
  for (int first = 0; first < kFormat.elements; first += kTo.elements) {
    std::memset(target, 0, kTo.bytes);
    pack_bits<kTo.quant, kTo.elements>(quants + first, target);
    if constexpr (kTo.group > 0) {
      constexpr int kGroups = kTo.elements / kTo.group;
      uint8_t factors[kGroups];
      for (int g = 0; g < kGroups; ++g) {
        factors[g] = factor_bits<kFormat>(
            block, (first + g * kTo.group) / kFormat.group);
      }
      pack_bits<kTo.scale_factor, kGroups>(factors, target);
    }
    if constexpr (kTo.scale.kind != ScaleKind::kOne) {
      const uint16_t scale = scale_bits<kFormat>(block);
      std::memcpy(target + kTo.scale.at, &scale, sizeof scale);
    }
    target += kTo.bytes;
  }
}

template <int kIndex>
constexpr CodedFormat kCodedOf = kCodedFormats[kIndex];

template <int kIndex>
void expand_blocks(const void* source, void* target, int64_t columns) noexcept {
  constexpr const CodedFormat& kFormat = kCodedOf<kIndex>;
  constexpr const BlockFormat& kTo = kExpandedOf<kFormat>;
  static_assert(kFormat.elements % kTo.elements == 0);
  const auto* block = static_cast<const uint8_t*>(source);
  auto* to = static_cast<uint8_t*>(target);
  for (int64_t i = 0; i < columns; i += kFormat.elements) {
    expand_block<kFormat>(block, to);
    block += kFormat.bytes;
    to += kFormat.elements / kTo.elements * kTo.bytes;
  }
}

constexpr auto kExpanders =
    []<int... kIndices>(std::integer_sequence<int, kIndices...>) {
  return std::array<Expander, kCodedFormatCount>{expand_blocks<kIndices>...};
}
(std::make_integer_sequence<int, kCodedFormatCount>());

}  // namespace

Expander find_expander(DType dtype) {
  for (size_t i = 0; i < kExpanders.size(); ++i) {
    if (kCodedFormats[i].dtype == dtype) return kExpanders[i];
  }
  return nullptr;
}

DType expanded_type(DType dtype) {
  for (const CodedFormat& format : kCodedFormats) {
    if (format.dtype == dtype) return format.expanded;
  }
  return dtype;
}

std::optional<uint64_t> expanded_row_bytes(DType expanded, int64_t columns) {
  const BlockFormat* format = find_block_format(expanded);
  if (format == nullptr || !format->is_expanded) {
    return row_bytes(expanded, columns);
  }
  if (columns < 0 || columns % format->elements != 0) return std::nullopt;
  return checked_mul(static_cast<uint64_t>(columns / format->elements),
                     static_cast<uint64_t>(format->bytes));
}

}  // namespace rc
