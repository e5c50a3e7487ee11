// Writes a part of a word: the other bits may belong to another value, which
// another work-group writes. The including shader has the output y.
void put_word(uint at, uint bits, uint mask) {
  if (mask == 0xFFFFFFFFu) {
    y[at] = bits;
  } else if (mask != 0) {
    atomicAnd(y[at], ~mask);
    atomicOr(y[at], bits);
  }
}
