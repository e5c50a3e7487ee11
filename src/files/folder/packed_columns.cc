// GPTQ and AWQ: several numbers of a few bits in a word, and the rows of a
// matrix along the fast dimension.
#include <algorithm>
#include <utility>

#include "files/folder/expanded_tensor.h"

namespace rc::folder {
namespace {

// The number of elements that are expanded at once.
constexpr uint64_t kTileElements = uint64_t{1} << 22;

// Which of the eight numbers of a word of AWQ the next row is in.
constexpr uint64_t kAwqOrder[] = {0, 4, 1, 5, 2, 6, 3, 7};

class Columns : public ExpandedTensor {
 public:
  Columns(std::string name, const PackedColumns& packed,
          std::shared_ptr<Tile> tile)
      : ExpandedTensor(packed.weights, std::move(name), packed.rows,
                       packed.columns),
        packed_(packed),
        tile_(std::move(tile)),
        per_word_(32 / packed.bits),
        groups_(static_cast<uint64_t>(packed.scales.tensor->shape[0])) {
    const uint64_t fit = kTileElements / columns() / per_word_ * per_word_;
    tile_rows_ = std::clamp(fit, per_word_, rows());
  }

 private:
  uint32_t bits_at(uint32_t word, uint64_t at) const {
    return word >> (at * packed_.bits) & ((1u << packed_.bits) - 1);
  }
  // The place within its word of the number of a row.
  uint64_t place_of(uint64_t row) const {
    const uint64_t at = row % per_word_;
    return packed_.awq ? kAwqOrder[at] : at;
  }

  void decode(uint64_t row, uint64_t column,
              std::span<float> target) const override {
    const std::lock_guard lock(tile_->mutex);
    const uint64_t first = row / tile_rows_ * tile_rows_;
    if (tile_->owner != this || tile_->first_row != first) fill(first);
    const auto values =
        std::span(tile_->values)
            .subspan((row - first) * columns() + column, target.size());
    std::ranges::copy(values, target.begin());
  }

  void fill(uint64_t first) const {
    tile_->owner = nullptr;
    const uint64_t count = std::min(tile_rows_, rows() - first);
    tile_->values.resize(count * columns());
    std::vector<float> scales(groups_ * count);
    std::vector<float> zeros(groups_ * count);
    read_groups(first, count, scales, zeros);
    std::vector<uint32_t> groups(packed_.groups ? columns() : 0);
    if (packed_.groups) read_groups_of(*packed_.groups, 0, groups_, groups);
    std::vector<uint32_t> words;
    for (uint64_t column = 0; column < columns(); ++column) {
      read_column(column, first, count, &words);
      const uint64_t group =
          groups.empty() ? column / packed_.group_size : groups[column];
      for (uint64_t i = 0; i < count; ++i) {
        const uint32_t number = packed_.awq
                                    ? bits_at(words[i / per_word_], place_of(i))
                                    : bits_at(words[i], column % per_word_);
        tile_->values[i * columns() + column] =
            (static_cast<float>(number) - zeros[group * count + i]) *
            scales[group * count + i];
      }
    }
    tile_->owner = this;
    tile_->first_row = first;
  }

  // The words with the numbers of a column; of GPTQ they hold several columns.
  void read_column(uint64_t column, uint64_t first, uint64_t count,
                   std::vector<uint32_t>* words) const {
    if (packed_.awq) {
      words->resize((count + per_word_ - 1) / per_word_);
      read_words(packed_.weights,
                 column * (rows() / per_word_) + first / per_word_, *words);
    } else if (column % per_word_ == 0) {
      words->resize(count);
      read_words(packed_.weights, column / per_word_ * rows() + first, *words);
    }
  }

  void read_groups(uint64_t first, uint64_t count, std::span<float> scales,
                   std::span<float> zeros) const {
    std::vector<uint32_t> words((count + per_word_ - 1) / per_word_);
    const uint32_t mask = (1u << packed_.bits) - 1;
    for (uint64_t group = 0; group < groups_; ++group) {
      read_numbers(packed_.scales, group * rows() + first,
                   scales.subspan(group * count, count));
      read_words(packed_.zeros,
                 group * (rows() / per_word_) + first / per_word_, words);
      for (uint64_t i = 0; i < count; ++i) {
        const uint32_t zero = bits_at(words[i / per_word_], place_of(i));
        zeros[group * count + i] =
            static_cast<float>((zero + packed_.zero_offset) & mask);
      }
    }
  }

  const PackedColumns packed_;
  const std::shared_ptr<Tile> tile_;
  const uint64_t per_word_;
  const uint64_t groups_;
  uint64_t tile_rows_;
};

}  // namespace

std::shared_ptr<const ExpandedTensor> expand_columns(
    std::string name, const PackedColumns& packed, std::shared_ptr<Tile> tile) {
  return std::make_shared<const Columns>(std::move(name), packed,
                                         std::move(tile));
}

}  // namespace rc::folder
