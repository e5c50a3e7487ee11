// The largest numbers that a file may give for the sizes of a model.
#pragma once

#include <cstdint>

namespace rc::model {

// Far above every known model; small enough that sizes can be multiplied.
inline constexpr int64_t kMaxVocabulary = int64_t{1} << 24;
inline constexpr int64_t kMaxWidth = int64_t{1} << 20;
inline constexpr int64_t kMaxFeedForward = int64_t{1} << 22;
inline constexpr int64_t kMaxLayers = 4096;
inline constexpr int64_t kMaxHeads = 4096;
inline constexpr int64_t kMaxHeadSize = 4096;
inline constexpr int64_t kMaxExperts = 4096;
inline constexpr int64_t kMaxPooling = 4;  // none, mean, first, last, rank
inline constexpr int64_t kMaxConvWidth = 64;

}  // namespace rc::model
