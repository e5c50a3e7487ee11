// The values of four bits in IQ4_NL, IQ4_XS and MXFP4: kIQ4Values and
// kMXFP4Values of src/tensor/blocks.h.

// The byte of a table that is given as four words.
int look_up(uvec4 table, uint index) {
  const uint low = (index & 4u) == 0 ? table.x : table.y;
  const uint high = (index & 4u) == 0 ? table.z : table.w;
  const uint word = (index & 8u) == 0 ? low : high;
  return int(word << (24 - (index & 3u) * 8)) >> 24;
}

int iq4_value(uint bits) {
  return look_up(uvec4(0xBFAD9881u, 0xF6EADDCFu, 0x26190D01u, 0x71594535u),
                 bits);
}

int mxfp4_value(uint bits) {
  return look_up(uvec4(0x03020100u, 0x0C080604u, 0xFDFEFF00u, 0xF4F8FAFCu),
                 bits);
}
