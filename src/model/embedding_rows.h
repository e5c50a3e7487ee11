// Embedding rows that take the place of tokens: those that an encoder makes of
// a picture or a sound, or a learned prompt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rc::model {

// Never changes, so that sessions, the prefix cache and steps share it.
class EmbeddingRows {
 public:
  // `values`: F32 [rows, width], finite; width is at least 1.
  EmbeddingRows(std::vector<float> values, int64_t width);

  int64_t width() const { return static_cast<int64_t>(width_); }
  int64_t count() const { return static_cast<int64_t>(hashes_.size()); }
  std::span<const float> values() const { return values_; }
  std::span<const float> row(int64_t number) const {
    return values().subspan(static_cast<size_t>(number) * width_, width_);
  }
  // A hash of the row's numbers, the same wherever they come from.
  uint64_t hash(int64_t number) const {
    return hashes_[static_cast<size_t>(number)];
  }

 private:
  std::vector<float> values_;
  size_t width_;
  std::vector<uint64_t> hashes_;
};

// Rows that follow each other, at consecutive positions.
struct EmbeddingRun {
  std::shared_ptr<const EmbeddingRows> rows;
  int64_t first;  // number of the first one in `rows`
  int64_t begin;  // its position
  int64_t count;

  int64_t end() const { return begin + count; }
  bool has(int64_t position) const {
    return position >= begin && position < end();
  }
  // The number in `rows` of the one at a position.
  int64_t number(int64_t position) const { return first + position - begin; }
};

}  // namespace rc::model
