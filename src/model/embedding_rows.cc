#include "model/embedding_rows.h"

#include <bit>
#include <utility>

#include "base/mix.h"

namespace rc::model {

EmbeddingRows::EmbeddingRows(std::vector<float> values, int64_t width)
    : values_(std::move(values)), width_(static_cast<size_t>(width)) {
  const size_t count = values_.size() / width_;
  hashes_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t hash = 0;
    for (const float value : std::span(values_).subspan(i * width_, width_)) {
      hash = mix(hash, std::bit_cast<uint32_t>(value));
    }
    hashes_.push_back(hash);
  }
}

}  // namespace rc::model
