// Types whose scales are searched.
#include <array>
#include <iterator>
#include <utility>

#include "files/quantize/block_encoders.h"
#include "files/quantize/encoder.h"
#include "files/quantize/encoder_list.h"
#include "files/quantize/long_vectors.h"
#include "files/quantize/plain_blocks.h"
#include "tensor/formats/coded_formats.h"

namespace rc::quantize {
namespace {

template <rc_dtype kType>
constexpr BlockFormat kNumbers = *find_block_format(kType);

// Steps from `first` to `last`, kCount of them.
template <int kCount>
constexpr std::array<float, kCount> steps(float first, float last) {
  std::array<float, kCount> result = {};
  for (int i = 0; i < kCount; ++i) {
    result[static_cast<size_t>(i)] =
        first + (last - first) * static_cast<float>(i) / (kCount - 1);
  }
  return result;
}

template <size_t kA, size_t kB>
constexpr std::array<float, kA + kB> both(const std::array<float, kA>& a,
                                          const std::array<float, kB>& b) {
  std::array<float, kA + kB> result = {};
  for (size_t i = 0; i < kA; ++i) result[i] = a[i];
  for (size_t i = 0; i < kB; ++i) result[kA + i] = b[i];
  return result;
}

constexpr auto kPlacesTernary = steps<2>(1.8f, 2.5f);
constexpr auto kPlaces3 = both(steps<5>(-4.5f, -3.0f), steps<2>(2.9f, 3.4f));
constexpr auto kPlaces4 = both(steps<18>(-9.4f, -6.0f), steps<10>(6.0f, 8.3f));
constexpr auto kPlaces5 =
    both(steps<18>(-17.0f, -14.0f), steps<10>(14.0f, 16.0f));
constexpr auto kPlaces6 = steps<12>(-32.5f, -31.2f);
constexpr std::array kPlaces8 = {127.0f};
constexpr auto kPlacesIQ4 =
    both(steps<14>(-140.0f, -95.0f), steps<10>(92.0f, 125.0f));

constexpr auto kFewPlacesIQ4 =
    both(steps<7>(-134.0f, -99.0f), steps<5>(94.0f, 122.0f));

constexpr auto kSpans2 = steps<16>(2.0f, 4.4f);
constexpr auto kSpans4 = steps<14>(13.0f, 16.4f);
constexpr auto kFewSpans4 = steps<5>(13.4f, 15.8f);
constexpr auto kSpans5 = steps<14>(29.5f, 32.6f);
constexpr auto kFewSpans5 = steps<5>(29.8f, 32.2f);

template <rc_dtype kType, class Grid, const auto& kPlaces, int kTurns = 3>
void encode_by_scales(const float* x, const float* w, int64_t columns,
                      uint8_t* target) {
  encode_scales<kNumbers<kType>, Grid>(x, w, columns, kPlaces, kTurns, target);
}

template <rc_dtype kType, const auto& kSpans>
void encode_by_lines(const float* x, const float* w, int64_t columns,
                     uint8_t* target) {
  encode_lines<kNumbers<kType>>(x, w, columns, kSpans, target);
}

// Without weights the lines of four or five bits need no search.
template <rc_dtype kType, Encoder kSearch>
void encode_lines_quickly(const float* x, const float* w, int64_t columns,
                          uint8_t* target) {
  if (w != nullptr) {
    kSearch(x, w, columns, target);
  } else {
    encode_plain_lines<kNumbers<kType>>(x, columns, target);
  }
}

template <rc_dtype kType, class Grid, const auto& kPlaces, int kReach>
void encode_scaled_blocks(const float* x, const float* w, int64_t columns,
                          uint8_t* target) {
  constexpr const BlockFormat& kFormat = kNumbers<kType>;
  for (int64_t i = 0; i < columns; i += kFormat.elements) {
    encode_scaled_block<kFormat, Grid>(x + i, w == nullptr ? w : w + i, kPlaces,
                                       kReach, target);
    target += kFormat.bytes;
  }
}

template <rc_dtype kType, const auto& kSpans>
void encode_line_blocks(const float* x, const float* w, int64_t columns,
                        uint8_t* target) {
  constexpr const BlockFormat& kFormat = kNumbers<kType>;
  for (int64_t i = 0; i < columns; i += kFormat.elements) {
    encode_line_block<kFormat>(x + i, w == nullptr ? w : w + i, kSpans, target);
    target += kFormat.bytes;
  }
}

using Ternary = IntegerGrid<-1, 1>;
using IQ4 = TableGrid<ValueTable::kIQ4>;

// Bytes of five digits, which are those of elements kBytes.stride apart: digit
// d of byte b is the whole part of 3 / 256 times (3^d b mod 256), which is the
// number of the digits as a fraction of 243, rounded up to a 256th.
template <TernaryBytes kBytes>
void put_ternary(const uint8_t* quants, uint8_t* target) {
  uint16_t numbers[kBytes.stride] = {};
  for (int digit = 0; digit < 5; ++digit) {
    for (int byte = 0; byte < kBytes.stride; ++byte) {
      numbers[byte] = static_cast<uint16_t>(
          3 * numbers[byte] +
          (digit < kBytes.digits ? quants[digit * kBytes.stride + byte] : 0));
    }
  }
  for (int byte = 0; byte < kBytes.stride; ++byte) {
    target[kBytes.at + byte] = static_cast<uint8_t>(
        static_cast<uint16_t>(numbers[byte] * 256 + 242) / 243);
  }
}

// As TQ2_0, of which the digits are packed five to a byte.
void encode_tq1_0(const float* x, const float* w, int64_t columns,
                  uint8_t* target) {
  constexpr const BlockFormat& kFormat = kNumbers<RC_DTYPE_TQ2_0>;
  constexpr CodedFormat kCoded = [] {
    for (const CodedFormat& format : kCodedFormats) {
      if (format.dtype == RC_DTYPE_TQ1_0) return format;
    }
    return CodedFormat{};
  }();
  constexpr int64_t kAtOnce = int64_t{kLanes} * kFormat.elements;
  uint8_t blocks[kLanes * kFormat.bytes], quants[kFormat.elements];
  for (int64_t first = 0; first < columns; first += kAtOnce) {
    const int64_t count = std::min(kAtOnce, columns - first);
    encode_by_scales<RC_DTYPE_TQ2_0, Ternary, kPlacesTernary, 1>(
        x + first, w == nullptr ? w : w + first, count, blocks);
    for (int64_t i = 0; i < count / kFormat.elements; ++i) {
      const uint8_t* block = blocks + i * kFormat.bytes;
      unpack_bits<kFormat.quant, kFormat.elements>(block, quants);
      [&]<size_t... kPart>(std::index_sequence<kPart...>) {
        const uint8_t* from = quants;
        ((put_ternary<kCoded.ternary[kPart]>(from, target),
          from += kCoded.ternary[kPart].digits * kCoded.ternary[kPart].stride),
         ...);
      }
      (std::make_index_sequence<std::size(kCoded.ternary)>());
      std::memcpy(target + kCoded.scale_at, block + kFormat.scale.at, 2);
      target += kCoded.bytes;
    }
  }
}

}  // namespace

Encoder find_searched_encoder(DType dtype) {
  switch (dtype) {
    case RC_DTYPE_Q4_0:
      return best_of<
          encode_by_scales<RC_DTYPE_Q4_0, IntegerGrid<-8, 7>, kPlaces4>>();
    case RC_DTYPE_Q4_1:
      return best_of<encode_lines_quickly<
          RC_DTYPE_Q4_1, encode_by_lines<RC_DTYPE_Q4_1, kFewSpans4>>>();
    case RC_DTYPE_Q5_0:
      return best_of<
          encode_by_scales<RC_DTYPE_Q5_0, IntegerGrid<-16, 15>, kPlaces5>>();
    case RC_DTYPE_Q5_1:
      return best_of<encode_lines_quickly<
          RC_DTYPE_Q5_1, encode_by_lines<RC_DTYPE_Q5_1, kFewSpans5>>>();
    case RC_DTYPE_Q8_0:
      return best_of<encode_by_scales<RC_DTYPE_Q8_0, IntegerGrid<-127, 127, 0>,
                                      kPlaces8, 1>>();
    case RC_DTYPE_Q2_K:
      return best_of<encode_line_blocks<RC_DTYPE_Q2_K, kSpans2>>();
    case RC_DTYPE_Q3_K:
      return best_of<encode_scaled_blocks<RC_DTYPE_Q3_K, IntegerGrid<-4, 3>,
                                          kPlaces3, 1>>();
    case RC_DTYPE_Q4_K:
      return best_of<encode_line_blocks<RC_DTYPE_Q4_K, kSpans4>>();
    case RC_DTYPE_Q5_K:
      return best_of<encode_line_blocks<RC_DTYPE_Q5_K, kSpans5>>();
    case RC_DTYPE_Q6_K:
      return best_of<encode_scaled_blocks<RC_DTYPE_Q6_K, IntegerGrid<-32, 31>,
                                          kPlaces6, 3>>();
    case RC_DTYPE_IQ4_NL:
      return best_of<
          encode_by_scales<RC_DTYPE_IQ4_NL, IQ4, kFewPlacesIQ4, 2>>();
    case RC_DTYPE_IQ4_XS:
      return best_of<
          encode_scaled_blocks<RC_DTYPE_IQ4_XS, IQ4, kPlacesIQ4, 1>>();
    case RC_DTYPE_TQ1_0:
      return best_of<encode_tq1_0>();
    case RC_DTYPE_TQ2_0:
      return best_of<
          encode_by_scales<RC_DTYPE_TQ2_0, Ternary, kPlacesTernary, 1>>();
    default: {
      const Encoder encoder = find_fp4_encoder(dtype);
      return encoder != nullptr ? encoder : find_coded_encoder(dtype);
    }
  }
}

}  // namespace rc::quantize
