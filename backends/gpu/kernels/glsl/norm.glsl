// The factor of a norm, also of vectors whose squares F32 cannot hold.
//
// Defined by the shader: NORM_ELEMENT(i), element i of all vectors.

struct Norm {
  float scale;  // multiplies elements before the mean is taken away
  float mean;
  float factor;
};

// Returns the norm of p.d elements from `first` on with this mean, 0 if it is
// not subtracted, and this mean square, which includes epsilon.
Norm norm_of(uint first, bool center, float mean, float square) {
  Norm norm = Norm(1.0, mean, 1.0 / sqrt(square));
  // 2^-100 and 2^127.
  if (square >= 7.8886091e-31 && square <= 1.7014118e38) return norm;
  // 2^96 and 2^-96. Each lane does this for itself: in vectors like that time
  // does not matter, and lanes need not meet.
  norm.scale = square < 1.0 ? 7.9228163e28 : 1.2621774e-29;
  norm.mean = 0.0;
  if (center) {
    for (uint begin = 0; begin < p.d; begin += 32) {
      float piece = 0.0;
      for (uint i = begin; i < min(begin + 32, p.d); ++i) {
        piece += NORM_ELEMENT(first + i) * norm.scale;
      }
      norm.mean += piece;
    }
    norm.mean /= float(p.d);
  }
  float squares = 0.0;
  for (uint begin = 0; begin < p.d; begin += 32) {
    float piece = 0.0;
    for (uint i = begin; i < min(begin + 32, p.d); ++i) {
      const float distance = NORM_ELEMENT(first + i) * norm.scale - norm.mean;
      piece = fma(distance, distance, piece);
    }
    squares += piece;
  }
  norm.factor = 1.0 / sqrt(squares / float(p.d) +
                           p.epsilon * norm.scale * norm.scale);
  return norm;
}
