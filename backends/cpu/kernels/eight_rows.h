// Products of eight rows of activations at a time with unpacked weights, for
// levels that multiply matrices of bytes (AMX). Integers are exact, and scaled
// they are as everywhere: the bits are those of dot_rows.
//
// Quants alone are multiplied so. AMX has products of BF16 too, but they round
// the activations and flush small numbers to zero: a row of a prompt would get
// other bits than the same row alone.
#pragma once

#include "cpu/kernels/scaled.h"
#include "cpu/kernels/unpacked.h"

namespace rc::cpu::RC_CPU_LEVEL {

#if defined(__AMX_INT8__) || defined(__AMXINT8__)  // Clang 14

constexpr bool kEightRows = true;

// The registers of AMX, which calls them tiles; tiles are something else here.
// By instructions rather than GCC's intrinsics, which want a literal for a
// register and do not say that they read memory.
template <int to>
RC_SIMD void matrix_zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(to));
}
template <int to>
RC_SIMD void matrix_load(const void* p, int64_t row_bytes) {
  asm volatile("tileloadd (%0,%1), %%tmm%c2" ::"r"(p), "r"(row_bytes), "i"(to)
               : "memory");
}
template <int from>
RC_SIMD void matrix_store(void* p, int64_t row_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1)" ::"r"(p), "r"(row_bytes),
               "i"(from)
               : "memory");
}
// Adds, for row r of `a` and lane l of `b`, the products of the signed bytes
// 4 g + c of r and the unsigned bytes 4 l + c of row g to lane l of row r.
template <int sum, int a, int b>
RC_SIMD void matrix_dot() {
  asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(a),
               "i"(b));
}

// Which register holds what: products by half and tile, quants by half,
// unpacked weights by tile.
constexpr int kProductsAt = 0, kQuantsAt = 4, kWeightsAt = 6;

// Gives the registers their shapes as long as it lives. Nothing is left behind:
// the thread may be the caller's.
template <class Weight>
class Matrices {
 public:
  RC_SIMD_MEMBER Matrices() {
    constexpr int groups = 8 / kScales<Weight>;  // of four columns
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } shapes;
    for (int i = 0; i < 8; ++i) {
      const bool quants = i >= kQuantsAt && i < kWeightsAt;
      shapes.row_bytes[i] = quants ? 4 * groups : 64;
      shapes.rows[i] = i < kWeightsAt ? 8 : groups;
    }
    asm volatile("ldtilecfg %0" ::"m"(shapes));
  }
  RC_SIMD_MEMBER ~Matrices() { asm volatile("tilerelease"); }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;
};

// The quants of eight rows: from row to row and from block to block.
struct EightRows {
  const int8_t* quants;
  int64_t row_bytes, block_bytes;
};

// Rows that are not equally far apart are copied to `room`.
RC_SIMD EightRows eight_rows(const ActivationBlock* const (&x)[8],
                             int64_t blocks, int8_t* room) {
  const int64_t row_bytes = (const int8_t*)x[1] - (const int8_t*)x[0];
  bool even = true;
  for (int r = 1; r < 8; ++r) {
    even &= (const int8_t*)x[r] - (const int8_t*)x[r - 1] == row_bytes;
  }
  if (even) return {x[0]->quants, row_bytes, sizeof(ActivationBlock)};
  for (int64_t at = 0; at < blocks; ++at) {
    for (int r = 0; r < 8; ++r) {
      __builtin_memcpy(room + (at * 8 + r) * 32, x[r][at].quants, 32);
    }
  }
  return {room, 32, 8 * 32};
}

using EightProducts = int32_t[8][kLanes];  // of one tile, by row

template <class Weight, int tiles, int half>
RC_SIMD void multiply_half(const uint8_t* weights, int64_t weight_bytes,
                           const int8_t* quants, int64_t row_bytes,
                           EightProducts (&products)[tiles]) {
  constexpr int to = kProductsAt + 2 * half;
  weights += 256 * half;
  matrix_load<kQuantsAt + half>(quants + 16 * half, row_bytes);
  matrix_load<kWeightsAt>(weights, 64);
  matrix_zero<to>();
  matrix_dot<to, kQuantsAt + half, kWeightsAt>();
  if constexpr (tiles == 2) {
    matrix_load<kWeightsAt + 1>(weights + weight_bytes, 64);
    matrix_zero<to + 1>();
    matrix_dot<to + 1, kQuantsAt + half, kWeightsAt + 1>();
    matrix_store<to + 1>(products[1], 64);
  }
  matrix_store<to>(products[0], 64);
}

template <class Weight, int tiles>
RC_SIMD void dot_eight_rows(const uint8_t* weights, int64_t weight_bytes,
                            int64_t columns, const Ahead& ahead,
                            const ActivationBlock* const (&x)[8],
                            Vf (&y)[tiles][8]) {
  const int64_t blocks = columns / 32;
  alignas(64) int8_t room[8 * kUnpackedColumns];
  const EightRows rows = eight_rows(x, blocks, room);
  // Those of one block are made while those of the one before are scaled.
  alignas(64) EightProducts products[2][kScales<Weight>][tiles];
  const auto multiply = [&](int64_t at) __attribute__((always_inline)) {
    const uint8_t* from = weights + at * Weight::kBytes;
    const int8_t* quants = rows.quants + at * rows.block_bytes;
    auto& to = products[at % 2];
    multiply_half<Weight, tiles, 0>(from, weight_bytes, quants, rows.row_bytes,
                                    to[0]);
    if constexpr (Weight::kHalves) {
      multiply_half<Weight, tiles, 1>(from, weight_bytes, quants,
                                      rows.row_bytes, to[1]);
    }
  };
  // The instructions above may change memory; these stay in registers.
  Vf sums[tiles][8];
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) {
#pragma GCC unroll 2
    for (int t = 0; t < tiles; ++t) sums[t][r] = y[t][r];
  }
  multiply(0);
  for (int64_t at = 0; at < blocks; ++at) {
    ahead.prefetch_step(at);
    if (at + 1 < blocks) multiply(at + 1);
    const uint8_t* from = weights + at * Weight::kBytes;
    const Weight weight[2] = {Weight(from),
                              Weight(from + (tiles - 1) * weight_bytes)};
    const auto product = [&](int half, int t, int r)
        __attribute__((always_inline)) {
      const Vi made = {_mm512_load_si512(products[at % 2][half][t][r])};
      return add(start<Weight>(x[r][at], half), made);
    };
    add_scaled<Weight, tiles, 8>(weight, 0, x, at, sums, product);
  }
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) {
#pragma GCC unroll 2
    for (int t = 0; t < tiles; ++t) y[t][r] = sums[t][r];
  }
}

#else

constexpr bool kEightRows = false;
template <class Weight>
struct Matrices {};
template <class Weight, int tiles>
void dot_eight_rows(const uint8_t*, int64_t, int64_t, const Ahead&,
                    const ActivationBlock* const (&)[8], Vf (&)[tiles][8]);

#endif

}  // namespace rc::cpu::RC_CPU_LEVEL
