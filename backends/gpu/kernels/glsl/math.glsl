// Functions that Vulkan promises too little of: sin and cos only near zero, exp
// with an error that grows with its argument, conversions of binary16 with any
// rounding. Errors here are a few units in the last place.

// Cody and Waite's reduction to +-ln(2)/2, then the Taylor series to x^7/7!.
float exact_exp(float x) {
  if (isnan(x)) return x;
  x = clamp(x, -104.0, 89.0);
  const float n = round(x * 1.44269504);
  precise float r = x - n * 0.693359375;
  r = r - n * -2.12194440e-4;
  precise float y = 1.0 / 5040.0;
  y = y * r + 1.0 / 720.0;
  y = y * r + 1.0 / 120.0;
  y = y * r + 1.0 / 24.0;
  y = y * r + 1.0 / 6.0;
  y = y * r + 0.5;
  y = y * r + 1.0;
  y = y * r + 1.0;
  // 2^n in two steps: n may be below the smallest exponent or above the
  // largest.
  const int half_ = int(n) >> 1;
  const int rest = int(n) - half_;
  return y * uintBitsToFloat(uint(half_ + 127) << 23) *
         uintBitsToFloat(uint(rest + 127) << 23);
}

// log(1 + exp(x)). The logarithm is twice the series of artanh, whose argument is
// a third at most.
float exact_softplus(float x) {
  const float z = exact_exp(-abs(x));
  const float r = z / (2.0 + z);
  const float s = r * r;
  precise float y = 1.0 / 15.0;
  y = y * s + 1.0 / 13.0;
  y = y * s + 1.0 / 11.0;
  y = y * s + 1.0 / 9.0;
  y = y * s + 1.0 / 7.0;
  y = y * s + 1.0 / 5.0;
  y = y * s + 1.0 / 3.0;
  y = y * s + 1.0;
  return (x > 0.0 ? x : 0.0) + 2.0 * r * y;
}

// The fraction, from 0.5 on and below 1, of a finite number above 0, and the
// power of two that it is to be multiplied by.
#ifdef WGSL
float fraction_of(float x, out int exponent) {
  const bool small = x < 1.17549435e-38;
  const uint bits = floatBitsToUint(small ? x * 16777216.0 : x);
  exponent = int(bits >> 23) - (small ? 150 : 126);
  return uintBitsToFloat((bits & 0x7FFFFFu) | 0x3F000000u);
}
#else
#define fraction_of(x, exponent) frexp(x, exponent)
#endif

// The place of the highest bit that is set, of a number above 0.
#ifdef WGSL
int highest_bit(uint x) {
  int place = 0;
  for (int step_ = 16; step_ > 0; step_ /= 2) {
    if (x >> (place + step_) != 0) place += step_;
  }
  return place;
}
#else
#define highest_bit(x) findMSB(x)
#endif

// The exponent times log(2), and twice the series of artanh for what is left,
// whose argument is 0.172 at most.
float exact_log(float x) {
  if (isnan(x) || x < 0.0) return NOT_A_NUMBER;
  if (x == 0.0) return NEGATIVE_INFINITY;
  if (isinf(x)) return x;
  int exponent;
  float m = fraction_of(x, exponent);
  if (m < 0.70710678) {
    m *= 2.0;
    --exponent;
  }
  const float r = (m - 1.0) / (m + 1.0);
  const float s = r * r;
  precise float y = 1.0 / 9.0;
  y = y * s + 1.0 / 7.0;
  y = y * s + 1.0 / 5.0;
  y = y * s + 1.0 / 3.0;
  y = y * s * r + r;
  const float n = float(exponent);
  return n * 0.693359375 + (n * -2.12194440e-4 + 2.0 * y);
}

float exact_tanh(float x) {
  const float a = abs(x);
  float y;
  if (a < 0.25) {
    const float s = x * x;
    y = a * (1.0 +
             s * (-1.0 / 3.0 +
                  s * (2.0 / 15.0 + s * (-17.0 / 315.0 + s * 62.0 / 2835.0))));
  } else {
    y = 1.0 - 2.0 / (exact_exp(2.0 * a) + 1.0);
  }
  return x < 0.0 ? -y : y;
}

// Abramowitz and Stegun 7.1.26, absolute error below 1.5e-7.
float exact_erf(float x) {
  const float a = abs(x);
  const float t = 1.0 / (1.0 + 0.3275911 * a);
  const float y =
      1.0 - t *
                (0.254829592 +
                 t * (-0.284496736 +
                      t * (1.421413741 +
                           t * (-1.453152027 + t * 1.061405429)))) *
                exact_exp(-a * a);
  return x < 0.0 ? -y : y;
}

// The exact product of two numbers as a sum of two (Dekker 1971).
vec2 exact_product(float a, float b) {
  const float a_high = uintBitsToFloat(floatBitsToUint(a) & 0xFFFFF000u);
  const float b_high = uintBitsToFloat(floatBitsToUint(b) & 0xFFFFF000u);
  precise float a_low = a - a_high;
  precise float b_low = b - b_high;
  precise float product = a * b;
  precise float error = a_high * b_high - product;
  error = error + a_high * b_low;
  error = error + a_low * b_high;
  error = error + a_low * b_low;
  return vec2(product, error);
}

// a^b, as pow of C. The logarithm of |a| is a sum of two numbers, for its error
// is multiplied by b: the exponent times log(2), and twice the series of artanh
// for what is left.
float exact_pow(float a, float b) {
  const float magnitude = abs(a);
  const bool negative = floatBitsToUint(a) >> 31 != 0;
  if (b == 0.0 || a == 1.0) return 1.0;
  if (isnan(a) || isnan(b)) return a + b;
  // From 2^24 on all numbers are even.
  const bool whole = floor(b) == b;
  const bool odd = whole && abs(b) < 16777216.0 && (int(abs(b)) & 1) != 0;
  if (negative && !whole && magnitude != 0.0 && !isinf(a)) {
    return NOT_A_NUMBER;
  }
  float y = 1.0;
  if (magnitude == 0.0 || isinf(a) || isinf(b)) {
    if (magnitude != 1.0) {
      y = (magnitude > 1.0) == (b > 0.0) ? INFINITY : 0.0;
    }
  } else if (magnitude != 1.0) {
    int exponent;
    float m = fraction_of(magnitude, exponent);
    if (m < 0.70710678) {
      m *= 2.0;
      --exponent;
    }
    precise float top = m - 1.0;
    precise float bottom = m + 1.0;
    precise float lost = m - (bottom - 1.0);
    precise float r = top / bottom;
    const vec2 back = exact_product(r, bottom);
    precise float rest = top - back.x;
    rest = rest - back.y;
    rest = rest - r * lost;
    const float s = r * r;
    precise float tail = 1.0 / 11.0;
    tail = tail * s + 1.0 / 9.0;
    tail = tail * s + 1.0 / 7.0;
    tail = tail * s + 1.0 / 5.0;
    tail = tail * s + 1.0 / 3.0;
    tail = tail * s * r + rest / bottom;
    const float n = float(exponent);
    precise float high = n * 0.693359375;
    precise float sum = high + 2.0 * r;
    precise float low = high - sum;
    low = low + 2.0 * r;
    low = low + (n * -2.12194440e-4 + 2.0 * tail);
    high = sum + low;
    sum = sum - high;
    low = sum + low;
    const vec2 product = exact_product(b, high);
    // Beyond that all are 0 or infinite.
    const bool far = abs(b * high) > 200.0;
    y = exact_exp(far ? b * high : product.x);
    if (!far) y *= 1.0 + (product.y + b * low);
  }
  return odd && negative ? -y : y;
}

// Cosine and sine of a * b. The product is reduced to +-pi/4 with pi/2 in four
// parts whose products with the number of turns are exact, then come the
// polynomials of Moshier's cephes.
vec2 cosine_sine(float a, float b) {
  const vec2 angle = exact_product(a, b);
  const float n = round(angle.x * 0.636619772);
  precise float r = angle.x - n * 1.5703125;
  r = r - n * 4.83512878e-4;
  r = r - n * 3.13855708e-7;
  r = r - n * 6.07710050e-11;
  r = r + angle.y;
  const float s = r * r;
  const float sine =
      r + r * s *
              (-1.6666654611e-1 +
               s * (8.3321608736e-3 + s * -1.9515295891e-4));
  const float cosine =
      1.0 - 0.5 * s +
      s * s *
          (4.166664568298827e-2 +
           s * (-1.388731625493765e-3 + s * 2.443315711809948e-5));
  const int quarter = int(n) & 3;
  const float c = (quarter & 1) == 0 ? cosine : sine;
  const float q = (quarter & 1) == 0 ? sine : cosine;
  return vec2(quarter == 1 || quarter == 2 ? -c : c, quarter >= 2 ? -q : q);
}

// Converts the low 16 bits, also subnormal numbers, even if the device flushes
// those of f32.
#ifdef MATRICES
// The device's own conversion; subnormal numbers may become zero.
float half_to_float(uint bits) { return unpackHalf2x16(bits).x; }
#else
float half_to_float(uint bits) {
  const uint magnitude = bits & 0x7FFFu;
  const float normal = uintBitsToFloat(
      (magnitude << 13) + (magnitude >= 0x7C00u ? 0x70000000u : 0x38000000u));
  const float value =
      magnitude < 0x400u ? float(magnitude) * 5.9604644775390625e-8 : normal;
  return (bits & 0x8000u) != 0 ? -value : value;
}
#endif

// Rounds to nearest even; see src/tensor/half.h.
uint float_to_half(float value) {
  const uint bits = floatBitsToUint(value);
  const uint sign = (bits >> 16) & 0x8000u;
  const uint magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;
  if (magnitude >= 0x477FF000u) return sign | 0x7C00u;
  if (magnitude < 0x38800000u) {
    precise float sum = uintBitsToFloat(magnitude) + 0.5;
    return sign | (floatBitsToUint(sum) - 0x3F000000u);
  }
  const uint odd = (magnitude >> 13) & 1u;
  return sign | ((magnitude - (112u << 23) + 0xFFFu + odd) >> 13);
}
