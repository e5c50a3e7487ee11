// Weights and activations made 16-bit quants (quants16.h).
#include "cpu/kernels/quants16.h"

#include "cpu/kernels/levels.h"
#include "cpu/kernels/plain.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// A block of `plain`, column after column of 16 floats of 16 bits.
template <class Plain>
RC_SIMD void encode(const uint8_t* plain, uint8_t* tile) {
  const Vf zero = splat(0);
  Vf most = zero;
  Vf not_finite = zero;  // 0 but for infinity and NaN, which must not get lost
  for (int column = 0; column < Quants16::kColumns; ++column) {
    const Vf w = Plain::column(plain + column * Plain::kBytes);
    most = largest(most, largest(w, sub(zero, w)));
    not_finite = fma(w, zero, not_finite);
  }
  const Scales16 scales = scales16(most);
  store((float*)tile, add(scales.scale, not_finite));
  tile += Quants16::kScaleBytes;
  const auto quants = [&](int column) __attribute__((always_inline)) {
    return rounded(
        mul(Plain::column(plain + column * Plain::kBytes), scales.inverse));
  };
  for (int column = 0; column < Quants16::kColumns; column += 2) {
    store_bytes(tile, pairs(quants(column), quants(column + 1)));
    tile += Quants16::kPairBytes;
  }
}

template <class Plain, rc_dtype dtype>
void pack_quants16(const uint8_t* source, int64_t step, int rows,
                   int64_t columns, uint8_t* tile) {
  const PackFunction pack = pack_function(dtype, dtype);
  alignas(64) uint8_t plain[Quants16::kColumns * Plain::kBytes];
  constexpr int bytes = Quants16::kColumns * (int)sizeof(uint16_t);
  for (; columns > 0; columns -= Quants16::kColumns) {
    pack(source, step, rows, Quants16::kColumns, plain);
    encode<Plain>(plain, tile);
    source += bytes;
    tile += Quants16::kBytes;
  }
}

}  // namespace

PackFunction pack_quants16_function(rc_dtype weight) {
  switch (weight) {
    case RC_DTYPE_F16:
      return pack_quants16<PlainF16, RC_DTYPE_F16>;
    case RC_DTYPE_BF16:
      return pack_quants16<PlainBF16, RC_DTYPE_BF16>;
    default:
      return nullptr;
  }
}

void quantize16(const float* x, int64_t n, ActivationBlock16* y) {
  constexpr int vectors = kColumns16 / kLanes;
  constexpr float most = Quants16::kLargestActivation;
  for (; n > 0; n -= kColumns16, x += kColumns16, ++y) {
    const Vf zero = splat(0);
    Vf limits = zero;
    Vf not_finite = zero;  // as in encode
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const Vf a = load(x + v * kLanes);
      limits = largest(limits, largest(a, sub(zero, a)));
      not_finite = add(not_finite, sub(a, a));
    }
    const float limit = largest_lane(limits);
    const Vf inverse = splat(limit > 0 ? most / limit : 0);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      // Within limits even where x is infinite or NaN.
      const Vf scaled = mul(load(x + v * kLanes), inverse);
      store_s16(y->quants + v * kLanes,
                rounded(smallest(largest(scaled, splat(-most)), splat(most))));
    }
    y->scale = limit / most + sum(not_finite);
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
