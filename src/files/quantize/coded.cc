// Types whose elements are entries of codebooks.
#include <array>
#include <cmath>
#include <cstring>

#include "files/quantize/block_encoders.h"
#include "files/quantize/code_search.h"
#include "files/quantize/encoder_list.h"
#include "files/quantize/long_vectors.h"

namespace rc::quantize {
namespace {

constexpr CodedFormat coded_format(rc_dtype dtype) {
  for (const CodedFormat& format : kCodedFormats) {
    if (format.dtype == dtype) return format;
  }
  return {};
}

// Magnitudes and signs: eight elements have a sign each, of which the last
// makes the number of set ones even if there are seven bits for them.
template <rc_dtype kType, class Values>
struct SignedCodes {
  static constexpr CodedFormat kFormat = coded_format(kType);
  static constexpr Codebook kBook = kFormat.book;
  using Shape = BookShape<kBook>;
  static constexpr int kGroup = kFormat.group;
  static constexpr int kEntries = kGroup / Shape::kDigits;
  static constexpr int kSigns = kGroup / kFormat.sign_elements;
  using Codes = GroupCodes<kEntries, kSigns>;
  static constexpr float kLeast = Values::value(0, Shape::kLevels);
  static constexpr float kMost =
      Values::value(Shape::kLevels - 1, Shape::kLevels);

  RC_LANES_INLINE static ScaleSums search(const LaneGroups<kGroup>& groups,
                                          Lanes by, const BookRows& book,
                                          Codes& codes) {
    ScaleSums sums = {};
    for (int first = 0; first < kGroup; first += 8) {
      Lanes x[8], w[8], q[8];
      LaneMask signs = {};
      for (int i = 0; i < 8; ++i) {
        const Lanes element = groups.x(first + i);
        x[i] = lesser(magnitude(element * by), all_lanes(4 * kMost));
        w[i] = groups.w(first + i);
        signs |= (element < 0.0f) & (1 << i);
      }
      if constexpr (kFormat.sign.width == 7) even(x, w, signs);
      for (int e = 0; e < 8; e += Shape::kDigits) {
        DigitCosts<kBook> costs;
        costs.template measure<Values>(x + e, w + e);
        const LaneMask word = cheapest_entry(costs, book);
        codes.words[(first + e) / Shape::kDigits] = word;
        for (int i = 0; i < Shape::kDigits; ++i) {
          q[e + i] = digit_of<kBook, Values>(word, i);
        }
      }
      codes.signs[first / 8] = signs;
      for (int i = 0; i < 8; ++i) {
        const Lanes element = groups.x(first + i);
        const Lanes signed_q = select((signs & (1 << i)) != 0, -q[i], q[i]);
        const Lanes wq = w[i] * signed_q;
        sums.xq += wq * element;
        sums.qq += wq * signed_q;
      }
    }
    return sums;
  }

 private:
  // Changes the sign of the element that suffers least from it where the number
  // of set ones is odd.
  RC_LANES_INLINE static void even(Lanes* x, const Lanes* w, LaneMask& signs) {
    Lanes least = all_lanes(INFINITY);
    LaneMask which = {}, odd = {};
    for (int i = 0; i < 8; ++i) {
      Lanes error = all_lanes(INFINITY);
#pragma GCC unroll 8
      for (int d = 0; d < Shape::kLevels; ++d) {
        const Lanes rest = x[i] - Values::value(d, Shape::kLevels);
        error = lesser(error, rest * rest);
      }
      const Lanes turned = x[i] + kLeast;
      const Lanes more = w[i] * (turned * turned - error);
      const LaneMask better = more < least;
      least = select(better, more, least);
      which = select(better, LaneMask{} + (1 << i), which);
      odd ^= (signs >> i) & 1;
    }
    which &= -odd;
    signs ^= which;
    for (int i = 0; i < 8; ++i) {
      x[i] = select((which & (1 << i)) != 0, -x[i], x[i]);
    }
  }
};

// Digits -1, 0 and 1, to all of which, of sign_elements elements, an eighth is
// added or from which it is subtracted.
template <rc_dtype kType>
struct ShiftedCodes {
  static constexpr CodedFormat kFormat = coded_format(kType);
  static constexpr Codebook kBook = kFormat.book;
  using Shape = BookShape<kBook>;
  static constexpr int kGroup = kFormat.group;
  static constexpr int kEntries = kGroup / Shape::kDigits;
  static constexpr int kSigns = kGroup / kFormat.sign_elements;
  using Codes = GroupCodes<kEntries, kSigns>;
  static constexpr float kMost = 9;

  RC_LANES_INLINE static ScaleSums search(const LaneGroups<kGroup>& groups,
                                          Lanes by, const BookRows& book,
                                          Codes& codes) {
    constexpr int kAlike = kFormat.sign_elements;
    constexpr int kFew = kAlike / 8;
    using Up = Digits<-7, 8, 0>;
    using Down = Digits<-9, 8, 0>;
    ScaleSums sums = {};
    for (int s = 0; s < kSigns; ++s) {
      DigitCosts<kBook> up[kFew], down[kFew];
      Lanes more = {};
      for (int e = 0; e < kFew; ++e) {
        Lanes x[8], w[8];
        for (int i = 0; i < 8; ++i) {
          const int at = s * kAlike + e * 8 + i;
          x[i] = clamp(groups.x(at) * by, -4 * kMost, 4 * kMost);
          w[i] = groups.w(at);
        }
        up[e].template measure<Up>(x, w);
        down[e].template measure<Down>(x, w);
        more += up[e].least - down[e].least;
      }
      // Which is better, judged by single digits.
      const LaneMask lower = more > 0.0f;
      codes.signs[s] = lower & 1;
      const Lanes shift = select(lower, all_lanes(-9.0f), all_lanes(-7.0f));
      for (int e = 0; e < kFew; ++e) {
        up[e].take(lower, down[e]);
        const LaneMask word = cheapest_entry(up[e], book);
        codes.words[s * kFew + e] = word;
        for (int i = 0; i < 8; ++i) {
          const int at = s * kAlike + e * 8 + i;
          const Lanes q = digit_of<kBook, Digits<0, 8, 0>>(word, i) + shift;
          const Lanes wq = groups.w(at) * q;
          sums.xq += wq * groups.x(at);
          sums.qq += wq * q;
        }
      }
    }
    return sums;
  }
};

void put_bits(uint8_t* block, const BitRow& row, int i, int bits) {
  const int bit = bit_of(row, i);
  const int shifted = (bits & ((1 << row.width) - 1)) << (bit % 8);
  block[bit / 8] |= static_cast<uint8_t>(shifted);
  if (bit % 8 + row.width > 8) {
    block[bit / 8 + 1] |= static_cast<uint8_t>(shifted >> 8);
  }
}

template <class Type>
struct CodeSearch {
  static constexpr CodedFormat kFormat = Type::kFormat;
  static constexpr int kGroup = Type::kGroup;
  static constexpr int kGroups = kFormat.elements / kGroup;
  static constexpr int kBatches = kGroups / kLanes;
  static constexpr float kMost = (1 << kFormat.factor.width) - 1;
  static constexpr float kUnit =
      power(find_block_format(kFormat.expanded)->scale.exponent);

  static_assert(kBatches * kLanes == kGroups);

  // Factors are 2 n + 1.
  RC_LANES_INLINE static Lanes factor(Lanes n) { return 2.0f * n + 1.0f; }

  using Codes = typename Type::Codes;

  template <class Places>
  static void encode_block(const float* x, const float* w, const Places& places,
                           int turns, int rounds, int reach,
                           const BookRows& book, uint8_t* block) {
    LaneGroups<kGroup> groups[kBatches];
    Lanes scale[kBatches], n[kBatches] = {}, kept[kBatches] = {};
    Codes codes[kBatches] = {}, kept_codes[kBatches] = {};
    float greatest = 0;
    for (int b = 0; b < kBatches; ++b) {
      const int first = b * kLanes * kGroup;
      groups[b].load(x + first, w == nullptr ? w : w + first, kLanes);
      scale[b] = best_scale(groups[b], places, turns, book);
      for (int g = 0; g < kLanes; ++g) {
        greatest = std::max(greatest, scale[b][g]);
      }
    }
    // In what the block holds.
    float unit = rounded_scale(greatest / (2 * kMost + 1) / kUnit);
    float kept_unit = 0;
    double most = -INFINITY;
    for (int round = 0; round < rounds; ++round) {
      const float by = unit == 0 ? 0 : 1 / (unit * kUnit);
      double gain = 0, xq = 0, qq = 0;
      for (int b = 0; b < kBatches; ++b) {
        const Lanes near =
            round == 0 ? clamp(rounded((scale[b] * by - 1.0f) * 0.5f), 0, kMost)
                       : n[b];
        Lanes best = all_lanes(-INFINITY), best_xq = {}, best_qq = {};
        for (int step = -reach; step <= reach; ++step) {
          const Lanes m = clamp(near + static_cast<float>(step), 0, kMost);
          const Lanes s = factor(m) * (unit * kUnit);
          Codes tried;
          const ScaleSums sums =
              Type::search(groups[b], inverse(s), book, tried);
          const Lanes g = sums.gain_at(s);
          const LaneMask better = g > best;
          best = select(better, g, best);
          best_xq = select(better, sums.xq, best_xq);
          best_qq = select(better, sums.qq, best_qq);
          n[b] = select(better, m, n[b]);
          codes[b].take(better, tried);
        }
        gain += sum(best);
        xq += sum(best_xq * factor(n[b]));
        qq += sum(best_qq * factor(n[b]) * factor(n[b]));
      }
      if (gain > most) {
        most = gain;
        kept_unit = unit;
        std::copy(n, n + kBatches, kept);
        std::copy(codes, codes + kBatches, kept_codes);
      }
      const float next =
          qq > 0 && xq > 0 ? rounded_scale(static_cast<float>(xq / qq) / kUnit)
                           : unit;
      if (next == unit) break;
      // The same codes with a better scale.
      const auto s = static_cast<double>(next * kUnit);
      if (const double better = s * (2 * xq - s * qq); better > most) {
        most = better;
        kept_unit = next;
        std::copy(n, n + kBatches, kept);
        std::copy(codes, codes + kBatches, kept_codes);
      }
      unit = next;
    }
    std::memset(block, 0, kFormat.bytes);
    for (int b = 0; b < kBatches; ++b) {
      put(kept_codes[b], kept[b], b * kLanes, book, block);
    }
    put_block_scale(kept_unit, block);
  }

 private:
  // Of those that put the extreme at each of `places`, after `turns` turns.
  template <class Places>
  RC_LANES_INLINE static Lanes best_scale(const LaneGroups<kGroup>& groups,
                                          const Places& places, int turns,
                                          const BookRows& book) {
    const Lanes far = inverse(magnitude(extreme(groups, kGroup)));
    const int count = static_cast<int>(places.size());
    Lanes scale = {}, gain = {};
    for (int i = 0; i < count + turns; ++i) {
      const Lanes by =
          i < count ? places[static_cast<size_t>(i)] * far : inverse(scale);
      Codes codes;
      const ScaleSums sums = Type::search(groups, by, book, codes);
      const Lanes g = select(sums.xq > 0.0f, sums.gain(), Lanes{});
      const LaneMask better = g > gain;
      gain = select(better, g, gain);
      scale = select(better, sums.scale(), scale);
    }
    return scale;
  }

  static void put(const typename Type::Codes& codes, Lanes n, int first,
                  const BookRows& book, uint8_t* block) {
    for (int g = 0; g < kLanes; ++g) {
      put_bits(block, kFormat.factor, first + g, static_cast<int>(n[g]));
      for (int e = 0; e < Type::kEntries; ++e) {
        const int number = book.numbers[static_cast<size_t>(codes.words[e][g])];
        const int at = (first + g) * Type::kEntries + e;
        put_bits(block, kFormat.index, at, number);
        if constexpr (kFormat.index_high.width > 0) {
          put_bits(block, kFormat.index_high, at,
                   number >> kFormat.index.width);
        }
      }
      for (int s = 0; s < Type::kSigns; ++s) {
        put_bits(block, kFormat.sign, (first + g) * Type::kSigns + s,
                 codes.signs[s][g]);
      }
    }
  }

  static void put_block_scale(float scale, uint8_t* block) {
    if constexpr (kFormat.scale_parts.width > 0) {
      for (int i = 0; i < 4; ++i) {
        put_bits(block, kFormat.scale_parts, i,
                 scale_bits_of(scale) >> (4 * i));
      }
    } else {
      put_scale(scale, block + kFormat.scale_at);
    }
  }
};

template <class Type, const auto& kPlaces, int kTurns, int kRounds, int kReach>
void encode_codes(const float* x, const float* w, int64_t columns,
                  uint8_t* target) {
  const BookRows& book = rows_of_book<Type::kBook>();
  for (int64_t i = 0; i < columns; i += Type::kFormat.elements) {
    CodeSearch<Type>::encode_block(x + i, w == nullptr ? w : w + i, kPlaces,
                                   kTurns, kRounds, kReach, book, target);
    target += Type::kFormat.bytes;
  }
}

using IQ2 = Digits<8, 17, 1>;
using IQ3XXS = Digits<4, 8, 2>;
using IQ3S = Digits<1, 2, 0>;

constexpr std::array kPlacesCoded2 = {32.0f, 38.0f, 44.0f};
constexpr std::array kPlacesCoded3XXS = {48.0f, 54.0f, 61.0f};
constexpr std::array kPlacesCoded3S = {11.5f, 13.0f, 14.5f};
constexpr std::array kPlacesCoded1 = {13.0f};

}  // namespace

Encoder find_coded_encoder(DType dtype) {
  switch (dtype) {
    case RC_DTYPE_IQ2_XXS:
      return best_of<encode_codes<SignedCodes<RC_DTYPE_IQ2_XXS, IQ2>,
                                  kPlacesCoded2, 1, 2, 1>>();
    case RC_DTYPE_IQ2_XS:
      return best_of<encode_codes<SignedCodes<RC_DTYPE_IQ2_XS, IQ2>,
                                  kPlacesCoded2, 1, 2, 1>>();
    case RC_DTYPE_IQ2_S:
      return best_of<encode_codes<SignedCodes<RC_DTYPE_IQ2_S, IQ2>,
                                  kPlacesCoded2, 1, 2, 1>>();
    case RC_DTYPE_IQ3_XXS:
      return best_of<encode_codes<SignedCodes<RC_DTYPE_IQ3_XXS, IQ3XXS>,
                                  kPlacesCoded3XXS, 1, 2, 1>>();
    case RC_DTYPE_IQ3_S:
      return best_of<encode_codes<SignedCodes<RC_DTYPE_IQ3_S, IQ3S>,
                                  kPlacesCoded3S, 1, 2, 1>>();
    case RC_DTYPE_IQ1_S:
      return best_of<
          encode_codes<ShiftedCodes<RC_DTYPE_IQ1_S>, kPlacesCoded1, 0, 1, 0>>();
    case RC_DTYPE_IQ1_M:
      return best_of<
          encode_codes<ShiftedCodes<RC_DTYPE_IQ1_M>, kPlacesCoded1, 0, 1, 0>>();
    default:
      return nullptr;
  }
}

}  // namespace rc::quantize
