// Functions that GPUs have no exact instructions for. Errors are a few units in
// the last place; those of erfc are 1.5e-7, absolute.

// 2^n for n from -252 to 254, in two factors.
INLINE float scaled(float y, int n) {
  const int some = n >> 1;
  return y * as_float((uint)(some + 127) << 23) *
         as_float((uint)(n - some + 127) << 23);
}

// Reduction by Cody and Waite to +-ln(2)/2, then the Taylor series to x^7/7!.
BUILT_IN float exp(float x) {
  if (isnan(x)) return x;
  x = clamp(x, -104.0f, 89.0f);
  const float n = rint(x * 1.44269504f);
  const float r = fma(n, 2.12194440e-4f, fma(n, -0.693359375f, x));
  float y = 1.0f / 5040.0f;
  y = fma(y, r, 1.0f / 720.0f);
  y = fma(y, r, 1.0f / 120.0f);
  y = fma(y, r, 1.0f / 24.0f);
  y = fma(y, r, 1.0f / 6.0f);
  y = fma(y, r, 0.5f);
  y = fma(y, r, 1.0f);
  y = fma(y, r, 1.0f);
  return scaled(y, (int)n);
}
BUILT_IN float16 exp(float16 x) {
  float16 y;
#pragma unroll
  for (int i = 0; i < 16; ++i) y[i] = exp(x[i]);
  return y;
}
INLINE float16 vload16(ulong at, const float* p) {
  float16 v;
#pragma unroll
  for (int i = 0; i < 16; ++i) v[i] = p[16 * at + i];
  return v;
}
INLINE void vstore16(float16 v, ulong at, float* p) {
#pragma unroll
  for (int i = 0; i < 16; ++i) p[16 * at + i] = v[i];
}

// For x from 0 to 1: twice the series of artanh, whose argument is a third at
// most.
INLINE float log1p(float x) {
  const float r = x / (2.0f + x);
  const float s = r * r;
  float y = 1.0f / 15.0f;
  y = fma(y, s, 1.0f / 13.0f);
  y = fma(y, s, 1.0f / 11.0f);
  y = fma(y, s, 1.0f / 9.0f);
  y = fma(y, s, 1.0f / 7.0f);
  y = fma(y, s, 1.0f / 5.0f);
  y = fma(y, s, 1.0f / 3.0f);
  y = fma(y, s, 1.0f);
  return 2.0f * r * y;
}

// The fraction of a finite number above 0, from sqrt(1/2) on and below sqrt(2),
// and the power of two that it is to be multiplied by.
INLINE float fraction_of(float x, int* exponent) {
  const bool small = x < 0x1p-126f;
  const uint bits = as_uint(small ? x * 0x1p24f : x);
  *exponent = (int)(bits >> 23) - (small ? 150 : 126);
  float m = as_float((bits & 0x7FFFFFu) | 0x3F000000u);
  if (m < 0.70710678f) {
    m *= 2.0f;
    --*exponent;
  }
  return m;
}

// The exponent times log(2), and twice the series of artanh for what is left,
// whose argument is 0.172 at most.
INLINE float log(float x) {
  if (isnan(x) || x < 0.0f) return __builtin_nanf("");
  if (x == 0.0f) return -INFINITY;
  if (x == INFINITY) return x;
  int exponent;
  const float m = fraction_of(x, &exponent);
  const float r = (m - 1.0f) / (m + 1.0f);
  const float s = r * r;
  float y = 1.0f / 9.0f;
  y = fma(y, s, 1.0f / 7.0f);
  y = fma(y, s, 1.0f / 5.0f);
  y = fma(y, s, 1.0f / 3.0f);
  y = fma(y * s, r, r);
  const float n = (float)exponent;
  return fma(n, 0.693359375f, fma(n, -2.12194440e-4f, 2.0f * y));
}

INLINE float tanh(float x) {
  const float a = fabs(x);
  float y;
  if (a < 0.25f) {
    const float s = x * x;
    y = 62.0f / 2835.0f;
    y = fma(y, s, -17.0f / 315.0f);
    y = fma(y, s, 2.0f / 15.0f);
    y = fma(y, s, -1.0f / 3.0f);
    y = fma(y * s, a, a);
  } else {
    y = 1.0f - 2.0f / (exp(2.0f * a) + 1.0f);
  }
  return x < 0.0f ? -y : y;
}

// Abramowitz and Stegun 7.1.26.
INLINE float erfc(float x) {
  const float a = fabs(x);
  const float t = 1.0f / fma(0.3275911f, a, 1.0f);
  float y = 1.061405429f;
  y = fma(y, t, -1.453152027f);
  y = fma(y, t, 1.421413741f);
  y = fma(y, t, -0.284496736f);
  y = fma(y, t, 0.254829592f);
  y *= t * exp(-a * a);
  return x < 0.0f ? 2.0f - y : y;
}

// As pow of C. The logarithm of |a| is a sum of two numbers, for its error is
// multiplied by b: the exponent times log(2), and twice the series of artanh for
// what is left.
INLINE float pow(float a, float b) {
  const float magnitude = fabs(a);
  const bool negative = as_uint(a) >> 31 != 0;
  const bool endless = magnitude == INFINITY;
  if (b == 0.0f || a == 1.0f) return 1.0f;
  if (isnan(a) || isnan(b)) return a + b;
  // From 2^24 on all numbers are even.
  const bool whole = rint(b) == b;
  const bool odd = whole && fabs(b) < 0x1p24f && ((int)fabs(b) & 1) != 0;
  if (negative && !whole && magnitude != 0.0f && !endless) {
    return __builtin_nanf("");
  }
  float y = 1.0f;
  if (magnitude == 0.0f || endless || fabs(b) == INFINITY) {
    if (magnitude != 1.0f) {
      y = (magnitude > 1.0f) == (b > 0.0f) ? INFINITY : 0.0f;
    }
  } else if (magnitude != 1.0f) {
    int exponent;
    const float m = fraction_of(magnitude, &exponent);
    const float top = m - 1.0f;
    const float bottom = m + 1.0f;
    const float lost = m - (bottom - 1.0f);
    const float r = top / bottom;
    const float rest = fma(-r, lost, fma(-r, bottom, top));
    const float s = r * r;
    float tail = 1.0f / 11.0f;
    tail = fma(tail, s, 1.0f / 9.0f);
    tail = fma(tail, s, 1.0f / 7.0f);
    tail = fma(tail, s, 1.0f / 5.0f);
    tail = fma(tail, s, 1.0f / 3.0f);
    tail = tail * s * r + rest / bottom;
    const float n = (float)exponent;
    const float start = n * 0.693359375f;
    const float near = start + 2.0f * r;
    const float low = (start - near + 2.0f * r) +
                      fma(n, -2.12194440e-4f, 2.0f * tail);
    const float high = near + low;
    const float left = near - high + low;
    const float product = b * high;
    // Beyond that all are 0 or infinite.
    y = exp(product);
    if (fabs(product) <= 200.0f) {
      y *= 1.0f + fma(b, left, fma(b, high, -product));
    }
  }
  return odd && negative ? -y : y;
}

// Reduction to +-pi/4 with pi/2 in three parts, then the polynomials of
// Moshier's Cephes. `turned` quarters are added.
INLINE float sine_of_turned(float x, int turned) {
  const float n = rint(x * 0.636619772f);
  float r = fma(n, -1.57079637f, x);
  r = fma(n, 4.37113883e-8f, r);
  r = fma(n, 1.71512489e-15f, r);
  const float s = r * r;
  const float sine =
      fma(r * s, fma(s, fma(s, -1.9515295891e-4f, 8.3321608736e-3f),
                     -1.6666654611e-1f), r);
  const float cosine =
      fma(s * s, fma(s, fma(s, 2.443315711809948e-5f, -1.388731625493765e-3f),
                     4.166664568298827e-2f), fma(-0.5f, s, 1.0f));
  const int quarter = ((int)n + turned) & 3;
  const float y = (quarter & 1) == 0 ? sine : cosine;
  return quarter >= 2 ? -y : y;
}
INLINE float sin(float x) { return sine_of_turned(x, 0); }
INLINE float cos(float x) { return sine_of_turned(x, 1); }
