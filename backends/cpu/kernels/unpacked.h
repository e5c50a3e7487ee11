// Weights of any format, unpacked to a byte per quant and a float per scale for
// products with many rows of activations, which then share the unpacking.
#pragma once

#include "cpu/kernels/formats.h"
#include "cpu/kernels/short_sums.h"

namespace rc::cpu::RC_CPU_LEVEL {

// 32 columns of 16 rows, read as a format of formats.h is. What differs between
// those that are unpacked is only what the arithmetic has to know.
template <bool halves, bool has_minimum, bool wide, int offset,
          int pairs_per_sum>
struct Unpacked {
  static constexpr int kColumns = 32;
  static constexpr int kScales = halves ? 2 : 1;
  static constexpr int kBytes = 512 + 64 * kScales * (has_minimum ? 2 : 1);
  static constexpr bool kUnpacked = true;
  static constexpr bool kHalves = halves;
  static constexpr bool kMinimum = has_minimum;
  static constexpr bool kWide = wide;
  static constexpr int kOffset = offset;

  const uint8_t* block;

  RC_SIMD_MEMBER explicit Unpacked(const uint8_t* p) : block(p) {}
  template <int h>
  RC_SIMD_MEMBER Pair pair(int) const {
    return {load_bytes(block + 128 * h), load_bytes(block + 128 * h + 64)};
  }
  RC_SIMD_MEMBER Vf scale(int, int half) const {
    return load((const float*)(block + 512) + kLanes * half);
  }
  RC_SIMD_MEMBER Vf minimum(int, int half) const {
    return load((const float*)(block + 512) + kLanes * (kScales + half));
  }
};

// As many as of the format that it was.
template <bool halves, bool has_minimum, bool wide, int offset,
          int pairs_per_sum>
constexpr int
    kPairsPerSum<Unpacked<halves, has_minimum, wide, offset, pairs_per_sum>> =
        pairs_per_sum;

// Columns that are unpacked at a time. Shorter runs through the activations
// than this cost more than what a smaller area saves.
constexpr int64_t kUnpackedColumns = 2048;

// The memory to prefetch while they are multiplied: weights to be unpacked
// next, some lines per 32 columns; of packed weights see LinearTask.
struct Ahead {
  const uint8_t* bytes;
  int lines;
  int64_t prefetch_offset;

  RC_SIMD_MEMBER void prefetch_step(int64_t at) const {
    const uint8_t* next = bytes + 64 * lines * at;
    for (int i = 0; i < lines; ++i) prefetch_later(next + 64 * i);
  }
};

template <class Format>
using UnpackedOf =
    Unpacked<Format::kHalves, Format::kMinimum, Format::kWide, Format::kOffset,
             Format::kWide ? 0 : kPairsPerSum<Format>>;

template <class Format, int h>
RC_SIMD void unpack_pair(const Format& format, int j, uint8_t* to) {
  const Pair pair = format.template pair<h>(j);
  store_bytes(to + 128 * h, pair.first);
  store_bytes(to + 128 * h + 64, pair.second);
}

// `columns` columns, a multiple of the format's, from `tile` to `to`.
template <class Format>
RC_SIMD void unpack(const uint8_t* tile, int64_t columns,
                    int64_t prefetch_offset, uint8_t* to) {
  using To = UnpackedOf<Format>;
  for (; columns > 0; columns -= Format::kColumns, tile += Format::kBytes) {
    const Format format(tile);
    for (int j = 0; j < Format::kColumns / 32; ++j, to += To::kBytes) {
      prefetch_step<kPrefetch<kMaxChunk>>(format, j, prefetch_offset);
      unpack_pair<Format, 0>(format, j, to);
      unpack_pair<Format, 1>(format, j, to);
      unpack_pair<Format, 2>(format, j, to);
      unpack_pair<Format, 3>(format, j, to);
      float* scales = (float*)(to + 512);
      for (int half = 0; half < To::kScales; ++half, scales += kLanes) {
        store(scales, format.scale(j, half));
      }
      if constexpr (To::kMinimum) {
        for (int half = 0; half < To::kScales; ++half, scales += kLanes) {
          store(scales, format.minimum(j, half));
        }
      }
    }
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
