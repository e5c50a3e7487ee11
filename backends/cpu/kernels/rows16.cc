// Products of few rows of activations with weights of F16 and BF16 that stay in
// the mapped file: 16-bit quants (quants16.h) are made of a block of 16 rows
// and used at once. No tile is made, since that takes longer than all the rest.
//
// The products of a block are summed as integers, whose order does not matter:
// lanes are columns here and rows in tiles, and the results have the same bits.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/passes.h"
#include "cpu/kernels/plain.h"
#include "cpu/kernels/quants16.h"

namespace rc::cpu::RC_CPU_LEVEL {

#if defined(__wasm__)

// No file is mapped there.
LinearFunction linear_of_rows_function(rc_dtype) { return nullptr; }

#else

namespace {

constexpr int kBlockRowBytes = kColumns16 * (int)sizeof(uint16_t);
constexpr int kPairs = kColumns16 / (2 * kLanes);  // vectors of pairs

// A block of 16 rows.
struct Block16 {
  Vf scale;
  // Lane l of vector v has columns l and 16 + l of 32 v on.
  alignas(64) uint8_t quants[kTileRows][kPairs][64];
};

// The largest of 64 numbers of 16 bits of each row, without their signs.
RC_SIMD void magnitudes(const uint8_t* const (&rows)[kTileRows],
                        uint16_t* most) {
  const Vi magnitude = splat_int(0x7fff7fff);
  Vi words[kTileRows];
#pragma GCC unroll 16
  for (int r = 0; r < kTileRows; ++r) {
    const auto* from = (const float*)rows[r];
    words[r] = largest_s16(bits_and(as_int(load(from)), magnitude),
                           bits_and(as_int(load(from + kLanes)), magnitude));
  }
  const Vi x = joined(
      words,
      [](I a, I b) __attribute__((always_inline)) { return i_max_s16(a, b); });
  store_s16((int16_t*)most,
            bits_and(largest_s16(x, shr(x, 16)), splat_int(0x7fff)));
}

template <class Plain>
RC_SIMD void make_block(const uint8_t* const (&rows)[kTileRows],
                        Block16* block) {
  alignas(32) uint16_t most[kTileRows];
  magnitudes(rows, most);
  const Vf largest_weight = Plain::column((const uint8_t*)most);
  const Scales16 scales = scales16(largest_weight);
  // Infinity and NaN must not get lost.
  block->scale = fma(largest_weight, splat(0), scales.scale);
  float inverses[kTileRows];
  store(inverses, scales.inverse);
#pragma GCC unroll 16
  for (int r = 0; r < kTileRows; ++r) {
    const Vf inverse = splat(inverses[r]);
    const auto quants = [&](int v) __attribute__((always_inline)) {
      const uint8_t* from = rows[r] + v * kLanes * (int)sizeof(uint16_t);
      return rounded(mul(Plain::column(from), inverse));
    };
#pragma GCC unroll 2
    for (int v = 0; v < kPairs; ++v) {
      store_bytes(block->quants[r][v], pairs(quants(2 * v), quants(2 * v + 1)));
    }
  }
}

RC_SIMD Vf add_products(const Block16& block, const ActivationBlock16& x,
                        const Vf& y) {
  Vb columns[kPairs];
#pragma GCC unroll 2
  for (int v = 0; v < kPairs; ++v) {
    const auto* from = (const uint16_t*)x.quants + 2 * v * kLanes;
    columns[v] = pairs(load_u16(from), load_u16(from + kLanes));
  }
  Vi products[kTileRows];
#pragma GCC unroll 16
  for (int r = 0; r < kTileRows; ++r) {
    products[r] = splat_int(0);
#pragma GCC unroll 2
    for (int v = 0; v < kPairs; ++v) {
      products[r] =
          dot2(products[r], load_bytes(block.quants[r][v]), columns[v]);
    }
  }
  const Vi sums = joined(
      products,
      [](I a, I b) __attribute__((always_inline)) { return i_add(a, b); });
  return fma(to_float(sums), mul(block.scale, splat(x.scale)), y);
}

template <class Plain>
void linear_of_rows(const LinearTask& task) {
  alignas(64) float sums[kMaxChunk * kLanes];
  for (int tile = 0; tile < task.tiles; ++tile) {
    const uint8_t* first = task.tile + tile * kTileRows * task.weight_step;
    const int last = task.lanes - tile * kTileRows - 1;
    const uint8_t* rows[kTileRows];
    for (int r = 0; r < kTileRows; ++r) {
      // Of rows that there are not, the results are left out.
      rows[r] = first + (r < last ? r : last) * task.weight_step;
    }
    const uint8_t* later = first + kTileRows * task.weight_step;
    for (int r = 0; r < task.rows; ++r) store(sums + r * kLanes, splat(0));
    for (int64_t at = 0; at < task.columns / kColumns16; ++at) {
      for (int line = 0; line < kTileRows * kBlockRowBytes; line += 64) {
        prefetch_later(later + line);
      }
      later += kTileRows * kBlockRowBytes;
      Block16 block;
      make_block<Plain>(rows, &block);
      for (int r = 0; r < kTileRows; ++r) rows[r] += kBlockRowBytes;
      for (int r = 0; r < task.rows; ++r) {
        const auto* x = (const ActivationBlock16*)task.x[r];
        float* y = sums + r * kLanes;
        store(y, add_products(block, x[at], load(y)));
      }
    }
    for (int r = 0; r < task.rows; ++r) {
      finish(task, tile, r, load(sums + r * kLanes));
    }
  }
}

}  // namespace

LinearFunction linear_of_rows_function(rc_dtype weight) {
  switch (weight) {
    case RC_DTYPE_F16:
      return linear_of_rows<PlainF16>;
    case RC_DTYPE_BF16:
      return linear_of_rows<PlainBF16>;
    default:
      return nullptr;
  }
}

#endif

}  // namespace rc::cpu::RC_CPU_LEVEL
