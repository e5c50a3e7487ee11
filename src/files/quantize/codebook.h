// Codebooks in the order in which they are searched.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tensor/formats/codebooks.h"
#include "tensor/formats/coded_formats.h"

namespace rc::quantize {

template <Codebook kBook>
constexpr const auto& entries_of() {
  if constexpr (kBook == Codebook::kIQ2XXS) return kIQ2XXSEntries;
  if constexpr (kBook == Codebook::kIQ2XS) return kIQ2XSEntries;
  if constexpr (kBook == Codebook::kIQ2S) return kIQ2SEntries;
  if constexpr (kBook == Codebook::kIQ3XXS) return kIQ3XXSEntries;
  if constexpr (kBook == Codebook::kIQ3S) return kIQ3SEntries;
  if constexpr (kBook == Codebook::kIQ1S) return kIQ1SEntries;
}

// The digits of a codebook's entries. A half of an entry has a number: its
// digits, the first the least, to the base kLevels.
template <Codebook kBook>
struct BookShape {
  static constexpr bool kIsIQ3 =
      kBook == Codebook::kIQ3XXS || kBook == Codebook::kIQ3S;
  static constexpr int kDigits = kIsIQ3 ? 4 : 8;
  static constexpr int kWidth = kIsIQ3 ? 3 : 2;  // bits of a digit
  static constexpr int kLevels = kIsIQ3 ? 8 : 3;
  static constexpr int kHalf = kDigits / 2;
  static constexpr int kWordBits = kDigits * kWidth;
  static constexpr int kHalfCount = kIsIQ3 ? 64 : 81;

  // The number of half `half` of an entry's word.
  static constexpr int half_of(uint16_t word, int half) {
    int number = 0;
    for (int i = kHalf; i-- > 0;) {
      const int digit = word >> ((half * kHalf + i) * kWidth);
      number = number * kLevels + (digit & ((1 << kWidth) - 1));
    }
    return number;
  }
};

// Entries by their first halves.
struct BookRows {
  struct Row {
    uint16_t first;  // half
    uint16_t count;  // of entries that begin with it
  };
  std::vector<Row> rows;
  // Halves, row after row: where their eight numbers of 32 bits begin.
  std::vector<uint16_t> seconds;
  // By an entry's word: its number.
  std::vector<uint16_t> numbers;
};

template <Codebook kBook>
const BookRows& rows_of_book() {
  using Shape = BookShape<kBook>;
  static const BookRows made = [] {
    BookRows book;
    const auto& entries = entries_of<kBook>();
    book.numbers.resize(size_t{1} << Shape::kWordBits);
    std::array<std::vector<uint16_t>, Shape::kHalfCount> seconds;
    for (size_t i = 0; i < entries.size(); ++i) {
      book.numbers[entries[i]] = static_cast<uint16_t>(i);
      seconds[static_cast<size_t>(Shape::half_of(entries[i], 0))].push_back(
          static_cast<uint16_t>(32 * Shape::half_of(entries[i], 1)));
    }
    for (size_t first = 0; first < seconds.size(); ++first) {
      if (seconds[first].empty()) continue;
      book.rows.push_back({static_cast<uint16_t>(first),
                           static_cast<uint16_t>(seconds[first].size())});
      book.seconds.insert(book.seconds.end(), seconds[first].begin(),
                          seconds[first].end());
    }
    return book;
  }();
  return made;
}

}  // namespace rc::quantize
