// exp, tanh and erfc of 16 lanes. A lane's result depends on its argument
// alone.
#pragma once

#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Relative error below 2e-7; 0 below -87.3, and the largest finite power for
// arguments above 88.7 grows to infinity. NaN stays NaN.
//
// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor polynomial of degree
// 7, whose error there is below 1e-8; ln 2 in two parts, of which the first
// has few enough bits for n times it to be exact.
RC_SIMD Vf exp(const Vf& x) {
  const Vf low = splat(-87.3f);
  const Vf clamped = largest(low, smallest(splat(89.0f), x));
  const Vi n = rounded(mul(clamped, splat(1.44269504f)));
  const Vf nf = to_float(n);
  Vf r = fnma(nf, splat(0.693359375f), clamped);
  r = fnma(nf, splat(-2.12194440e-4f), r);
  Vf y = splat(1.0f / 5040);
  y = fma(y, r, splat(1.0f / 720));
  y = fma(y, r, splat(1.0f / 120));
  y = fma(y, r, splat(1.0f / 24));
  y = fma(y, r, splat(1.0f / 6));
  y = fma(y, r, splat(0.5f));
  y = fma(y, r, splat(1.0f));
  y = fma(y, r, splat(1.0f));
  // 2^n in two steps: n may be 128, whose power is no float.
  const Vi half = sub(n, splat_int(1));
  const Vf power = as_float(shl<23>(add(half, splat_int(127))));
  return if_less(x, low, splat(0), mul(mul(y, power), splat(2.0f)));
}

// Relative error below 1e-6: (e^2x - 1) / (e^2x + 1), which loses digits near
// 0, where the Taylor polynomial takes over.
RC_SIMD Vf tanh(const Vf& x) {
  const Vf square = mul(x, x);
  Vf small = splat(62.0f / 2835);
  small = fma(small, square, splat(-17.0f / 315));
  small = fma(small, square, splat(2.0f / 15));
  small = fma(small, square, splat(-1.0f / 3));
  small = fma(mul(small, square), x, x);
  const Vf bounded = largest(splat(-10.0f), smallest(splat(10.0f), x));
  const Vf e = exp(add(bounded, bounded));
  const Vf large = div(sub(e, splat(1.0f)), add(e, splat(1.0f)));
  return if_less(square, splat(0.09f), small, large);
}

// 1 - erf(x) for x >= 0. Relative error below 4e-7 up to 0.7, and below
// 4e-6 up to 6; 0 above 9.3.
//
// t = 1 / (1 + x / 2); ln(erfc(x) / t) + x^2 by the polynomial of degree 9 in
// t - 9/16 whose largest error over x in [0, 9.4] is least, 4.3e-8 (fitted in
// 40 digits to 400 Chebyshev nodes of t).
RC_SIMD Vf erfc(const Vf& x) {
  const Vf t = div(splat(1.0f), fma(x, splat(0.5f), splat(1.0f)));
  const Vf s = sub(t, splat(0.5625f));
  Vf y = splat(0.137213882f);
  y = fma(y, s, splat(0.0560143129f));
  y = fma(y, s, splat(-0.253853561f));
  y = fma(y, s, splat(-0.00746280364f));
  y = fma(y, s, splat(0.298118063f));
  y = fma(y, s, splat(-0.0661584707f));
  y = fma(y, s, splat(-0.403162657f));
  y = fma(y, s, splat(0.116046075f));
  y = fma(y, s, splat(1.36442871f));
  y = fma(y, s, splat(-0.5870677f));
  return mul(t, exp(fnma(x, x, y)));
}

}  // namespace rc::cpu::RC_CPU_LEVEL
