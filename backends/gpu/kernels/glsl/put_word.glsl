// Writes of what is not a whole word: the other bits may be another value's,
// which another work-group writes. Shaders that include this have the output y.
void put_word(uint at, uint bits, uint mask) {
  if (mask == 0xFFFFFFFFu) {
    y[at] = bits;
  } else if (mask != 0) {
    atomicAnd(y[at], ~mask);
    atomicOr(y[at], bits);
  }
}
