#include "files/folder/expanded_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "tensor/dtype.h"

namespace rc::folder {
namespace {

using safetensors::Place;

// A float of 8 bits with so many of them for its exponent.
float float8(uint32_t bits, int exponent_bits) {
  const int mantissa_bits = 7 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent =
      static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  const auto mantissa = static_cast<int>(bits & ((1u << mantissa_bits) - 1));
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  // E4M3 has a single NaN and no infinity.
  if (exponent_bits == 4 && (bits & 0x7F) == 0x7F) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  if (exponent_bits == 5 && exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  }
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  return sign * std::ldexp(static_cast<float>(whole),
                           std::max(exponent, 1) - bias - mantissa_bits);
}

using Table = std::array<float, 256>;

// The meaning of each byte of a type; nullptr for types whose elements are not
// bytes.
const Table* byte_table(std::string_view type) {
  const auto make = [](auto value) {
    Table table;
    for (uint32_t i = 0; i < table.size(); ++i) table[i] = value(i);
    return table;
  };
  static const Table kE4M3 = make([](uint32_t i) { return float8(i, 4); });
  static const Table kE5M2 = make([](uint32_t i) { return float8(i, 5); });
  static const Table kI8 = make(
      [](uint32_t i) { return static_cast<float>(static_cast<int8_t>(i)); });
  // Of two; the last one is no number.
  static const Table kE8M0 = make([](uint32_t i) {
    return i == 255 ? std::numeric_limits<float>::quiet_NaN()
                    : std::ldexp(1.0f, static_cast<int>(i) - 127);
  });
  if (type == "F8_E4M3") return &kE4M3;
  if (type == "F8_E5M2") return &kE5M2;
  if (type == "I8") return &kI8;
  if (type == "F8_E8M0") return &kE8M0;
  return nullptr;
}

class ScaledBytes : public ExpandedTensor {
 public:
  ScaledBytes(std::string name, const Place& weights, const Scales& scales)
      : ExpandedTensor(weights, std::move(name), weights.tensor->shape[0],
                       weights.tensor->shape[1]),
        weights_(weights),
        scales_(scales) {}

 private:
  void decode(uint64_t row, uint64_t column,
              std::span<float> target) const override {
    read_numbers(weights_, row * columns() + column, target);
    const uint64_t block = column / scales_.block_columns;
    const uint64_t last = (column + target.size() - 1) / scales_.block_columns;
    const uint64_t at = row / scales_.block_rows * scales_.per_row + block;
    std::vector<float> scales(last - block + 1);
    read_numbers(scales_.place, at, scales);
    std::vector<float> zeros(scales.size());
    if (scales_.zeros) read_numbers(*scales_.zeros, at, zeros);
    for (size_t i = 0; i < target.size(); ++i) {
      const uint64_t of = (column + i) / scales_.block_columns - block;
      target[i] = (target[i] - zeros[of]) * scales[of];
    }
  }

  const Place weights_;
  const Scales scales_;
};

class ScaledWords : public ExpandedTensor {
 public:
  ScaledWords(std::string name, const PackedRows& packed, const Scales& scales)
      : ExpandedTensor(packed.weights, std::move(name), packed.rows,
                       packed.columns),
        packed_(packed),
        scales_(scales),
        per_word_(32 / packed.bits),
        words_((columns() + per_word_ - 1) / per_word_) {}

 private:
  uint32_t number(uint32_t word, uint64_t at) const {
    const uint32_t mask = (1u << packed_.bits) - 1;
    return word >> (at % per_word_ * packed_.bits) & mask;
  }

  void decode(uint64_t row, uint64_t column,
              std::span<float> target) const override {
    const uint64_t first = column / per_word_;
    const uint64_t last = (column + target.size() - 1) / per_word_;
    std::vector<uint32_t> words(last - first + 1);
    read_words(packed_.weights, row * words_ + first, words);
    std::vector<float> scales(scales_.per_row);
    read_numbers(scales_.place, row / scales_.block_rows * scales_.per_row,
                 scales);
    const auto half = static_cast<float>(1u << (packed_.bits - 1));
    std::vector<float> zeros(scales_.per_row, half);
    if (packed_.zeros) {
      std::vector<uint32_t> packed(scales_.per_row);
      read_words(*packed_.zeros, row / per_word_ * scales_.per_row, packed);
      for (size_t i = 0; i < zeros.size(); ++i) {
        zeros[i] = static_cast<float>(number(packed[i], row));
      }
    }
    std::vector<uint32_t> groups;
    if (packed_.groups) {
      groups.resize(target.size());
      read_groups_of(*packed_.groups, column, scales_.per_row, groups);
    }
    for (size_t i = 0; i < target.size(); ++i) {
      const uint64_t of =
          groups.empty() ? (column + i) / scales_.block_columns : groups[i];
      const uint64_t at = column + i;
      target[i] =
          (static_cast<float>(number(words[at / per_word_ - first], at)) -
           zeros[of]) *
          scales[of];
    }
  }

  const PackedRows packed_;
  const Scales scales_;
  const uint64_t per_word_;
  const uint64_t words_;  // of a row
};

}  // namespace

ExpandedTensor::ExpandedTensor(const Place& model, std::string tensor,
                               int64_t rows, int64_t columns)
    : file_(*model.file),
      tensor_{.name = std::move(tensor),
              .type = safetensors::find_type("F32"),
              .shape = {rows, columns},
              .bytes = static_cast<uint64_t>(rows) *
                       static_cast<uint64_t>(columns) * sizeof(float),
              .offset = 0} {}

void ExpandedTensor::read(const safetensors::Tensor& /*tensor*/,
                          uint64_t offset, std::span<std::byte> target) const {
  uint64_t at = offset / sizeof(float);
  std::vector<float> values;
  while (!target.empty()) {
    const uint64_t column = at % columns();
    const uint64_t count =
        std::min<uint64_t>(columns() - column, target.size() / sizeof(float));
    values.resize(count);
    decode(at / columns(), column, values);
    const auto bytes = std::as_bytes(std::span(values));
    std::ranges::copy(bytes, target.begin());
    target = target.subspan(bytes.size());
    at += count;
  }
}

bool has_numbers(const Place& place) {
  const std::string_view type = place.tensor->type->name;
  return type == "F32" || type == "F16" || type == "BF16" ||
         byte_table(type) != nullptr;
}

void read_numbers(const Place& place, uint64_t first, std::span<float> target) {
  const uint64_t size = place.tensor->type->bits / 8;
  std::vector<std::byte> bytes(target.size() * size);
  place.file->read(*place.tensor, first * size, bytes);
  if (const Table* table = byte_table(place.tensor->type->name)) {
    for (size_t i = 0; i < target.size(); ++i) {
      target[i] = (*table)[static_cast<uint8_t>(bytes[i])];
    }
    return;
  }
  const std::string_view type = place.tensor->type->name;
  decode_row(type == "F32"   ? RC_DTYPE_F32
             : type == "F16" ? RC_DTYPE_F16
                             : RC_DTYPE_BF16,
             bytes.data(), target.data(), static_cast<int64_t>(target.size()));
}

void read_words(const Place& place, uint64_t first,
                std::span<uint32_t> target) {
  place.file->read(*place.tensor, first * sizeof(uint32_t),
                   std::as_writable_bytes(target));
}

void read_groups_of(const Place& place, uint64_t first, uint64_t count,
                    std::span<uint32_t> target) {
  read_words(place, first, target);
  for (const uint32_t group : target) {
    if (group < count) continue;
    fail(RC_E_FORMAT, place.file->name(), ": tensor ",
         quote(place.tensor->name), " has a column of group ", group,
         ", but there are scales for ", count, " groups");
  }
}

std::shared_ptr<const ExpandedTensor> expand_bytes(std::string name,
                                                   const Place& weights,
                                                   const Scales& scales) {
  return std::make_shared<const ScaledBytes>(std::move(name), weights, scales);
}

std::shared_ptr<const ExpandedTensor> expand_packed(std::string name,
                                                    const PackedRows& packed,
                                                    const Scales& scales) {
  return std::make_shared<const ScaledWords>(std::move(name), packed, scales);
}

}  // namespace rc::folder
