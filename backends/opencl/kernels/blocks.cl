// The layout of weights on the device, and decoding them.
//
// TILE rows of a matrix make a tile. Within a tile the units of the rows are
// interleaved: first unit 0 of every row, then unit 1, and so on. A unit is one
// element of a plain type, and one byte of a block. So LANES neighbouring rows
// are decoded side by side, each lane with the layout of src/tensor/blocks.h,
// and no sum has to be taken across lanes. The last tile is filled with zeros.
//
// Defined by the host: TYPE_<name of the type>. Plain types give element(). A
// block of the others is decoded in chunks, pair by pair: what lies in one byte,
// or nearly so. They give
//   BLOCK        elements of a block
//   BLOCK_BYTES  its bytes per row
//   SPAN         pairs of a chunk; a block has CHUNKS = BLOCK / (2 * SPAN)
//   APART        the distance of the two elements of a pair
//   first_of()   the first element of a chunk
//   scales()     scale and offset of the first elements of the pairs of a
//                chunk, and of the second
//   quants()     pair l of a chunk, as it is stored
// so that an element is scale * quant + offset. MINIMUMS marks types whose
// elements are rounded twice, after the product and after the sum; of the others
// the sum is exact.

typedef const global uchar* Bytes;

// With DENSE a row lies as files hold it (TILE is 1), and the lanes are LANES
// neighbouring pairs of a chunk: element() gives neighbouring elements, and
// quants() those of the pairs from l on, a multiple of LANES.

// Byte j of a block, or two bytes, in each lane; of quants, with DENSE, byte
// j + i in lane i.
#define QUANT_BYTE(p, j) TO_INT(LOAD(0, (p) + (j) * TILE))
#define SIGNED_QUANT_BYTE(p, j) \
  TO_INT(LOAD(0, (const global char*)(p) + (j) * TILE))
#ifdef DENSE
#define BYTE(p, j) ((intL)((int)((p)[j])))
#define SIGNED_BYTE(p, j) ((intL)((int)((const global char*)(p))[j]))
#else
#define BYTE(p, j) QUANT_BYTE(p, j)
#define SIGNED_BYTE(p, j) SIGNED_QUANT_BYTE(p, j)
#endif
#define BYTES_2(p, j) (BYTE(p, j) | (BYTE(p, (j) + 1) << 8))
#define HALF(p, j) half_bits(BYTES_2(p, j))

#if defined(TYPE_F32) || defined(TYPE_I32)
#define UNIT 4
#elif defined(TYPE_F16) || defined(TYPE_BF16) || defined(TYPE_I16)
#define UNIT 2
#elif defined(TYPE_F64) || defined(TYPE_I64)
#define UNIT 8
#else
#define UNIT 1
#endif

// Of plain types LANES elements, and one.
#if defined(TYPE_F16)
#define PLAIN
INLINE floatL element(Bytes p) {
  return half_bits(TO_INT(LOAD(0, (const global ushort*)p)));
}
INLINE float one_element(Bytes p) {
  return vload_half(0, (const global half*)p);
}

#elif defined(TYPE_BF16)
#define PLAIN
INLINE floatL element(Bytes p) {
  return AS_FLOAT(TO_INT(LOAD(0, (const global ushort*)p)) << 16);
}
INLINE float one_element(Bytes p) {
  return as_float((uint)(*(const global ushort*)p) << 16);
}

#elif UNIT > 1 || defined(TYPE_I8)
#define PLAIN
#if defined(TYPE_F32)
typedef const global float* Elements;
#elif defined(TYPE_F64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef const global double* Elements;
#elif defined(TYPE_I8)
typedef const global char* Elements;
#elif defined(TYPE_I16)
typedef const global short* Elements;
#elif defined(TYPE_I32)
typedef const global int* Elements;
#else
typedef const global long* Elements;
#endif
INLINE floatL element(Bytes p) { return TO_FLOAT(LOAD(0, (Elements)p)); }
INLINE float one_element(Bytes p) { return convert_float(*(Elements)p); }

#elif defined(TYPE_Q4_0) || defined(TYPE_Q4_1) || defined(TYPE_Q5_0) || \
    defined(TYPE_Q5_1)
#define BLOCK 32
#define SPAN 16
#define APART 16
#if defined(TYPE_Q4_1) || defined(TYPE_Q5_1)
#define MINIMUMS
#define HEAD_BYTES 4
#else
#define HEAD_BYTES 2
#endif
#if defined(TYPE_Q5_0) || defined(TYPE_Q5_1)
#define FIFTH_BYTES 4
#else
#define FIFTH_BYTES 0
#endif
#define BLOCK_BYTES (HEAD_BYTES + FIFTH_BYTES + 16)
INLINE int first_of(int chunk) { return 0; }
INLINE void scales(Bytes p, int chunk, floatL scale[2], floatL offset[2]) {
  scale[0] = scale[1] = HALF(p, 0);
#ifdef MINIMUMS
  offset[0] = offset[1] = HALF(p, 2);
#elif FIFTH_BYTES == 0
  offset[0] = offset[1] = -8.0f * scale[0];
#else
  offset[0] = offset[1] = -16.0f * scale[0];
#endif
}
INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  const intL both = QUANT_BYTE(p, HEAD_BYTES + FIFTH_BYTES + l);
  *first = both & 15;
  *second = both >> 4;
#if FIFTH_BYTES > 0 && defined(DENSE)
  const intL pair = l + LANE_NUMBERS;
  *first |= ((BYTES_2(p, HEAD_BYTES) >> pair) & 1) << 4;
  *second |= ((BYTES_2(p, HEAD_BYTES + 2) >> pair) & 1) << 4;
#elif FIFTH_BYTES > 0
  *first |= ((BYTE(p, HEAD_BYTES + l / 8) >> (l % 8)) & 1) << 4;
  *second |= ((BYTE(p, HEAD_BYTES + 2 + l / 8) >> (l % 8)) & 1) << 4;
#endif
}

#elif defined(TYPE_Q8_0) || defined(TYPE_Q8_1) || defined(TYPE_Q8_K)
#define SPAN 16
#define APART 16
#if defined(TYPE_Q8_0)
#define BLOCK 32
#define BLOCK_BYTES 34
#define HEAD_BYTES 2
#elif defined(TYPE_Q8_1)
#define BLOCK 32
#define BLOCK_BYTES 36
#define HEAD_BYTES 4
#else
#define BLOCK 256
#define BLOCK_BYTES 292
#define HEAD_BYTES 4
#endif
INLINE int first_of(int chunk) { return 32 * chunk; }
INLINE void scales(Bytes p, int chunk, floatL scale[2], floatL offset[2]) {
#ifdef TYPE_Q8_K
  scale[0] = scale[1] = AS_FLOAT(BYTES_2(p, 0) | (BYTES_2(p, 2) << 16));
#else
  scale[0] = scale[1] = HALF(p, 0);
#endif
  offset[0] = offset[1] = 0.0f;
}
INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  *first = SIGNED_QUANT_BYTE(p, HEAD_BYTES + 32 * chunk + l);
  *second = SIGNED_QUANT_BYTE(p, HEAD_BYTES + 32 * chunk + 16 + l);
}

#elif defined(TYPE_Q2_K) || defined(TYPE_Q3_K)
// Chunk 0 to 7: bits 1 and 2 say which runs of 32, bit 0 which half of them.
#define BLOCK 256
#define SPAN 16
#define APART 32
INLINE int first_of(int chunk) { return 64 * (chunk / 2) + 16 * (chunk % 2); }
// The group of 16 that the first elements belong to; the second are of the one
// after the next.
INLINE int group_of(int chunk) { return 4 * (chunk / 2) + chunk % 2; }
#ifdef TYPE_Q2_K
#define MINIMUMS
#define BLOCK_BYTES 84
INLINE void scales(Bytes p, int chunk, floatL scale[2], floatL offset[2]) {
  const floatL d = HALF(p, 80);
  const floatL m = HALF(p, 82);
  for (int i = 0; i < 2; ++i) {
    const intL both = BYTE(p, group_of(chunk) + 2 * i);
    scale[i] = d * TO_FLOAT(both & 15);
    offset[i] = -(m * TO_FLOAT(both >> 4));
  }
}
INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  const intL byte =
      QUANT_BYTE(p, 16 + 32 * (chunk / 4) + 16 * (chunk % 2) + l) >>
      (chunk / 2 % 2 * 4);
  *first = byte & 3;
  *second = (byte >> 2) & 3;
}
#else
#define BLOCK_BYTES 110
INLINE void scales(Bytes p, int chunk, floatL scale[2], floatL offset[2]) {
  const floatL d = HALF(p, 108);
  for (int i = 0; i < 2; ++i) {
    // See q3_k_scale in src/tensor/blocks.h.
    const int group = group_of(chunk) + 2 * i;
    const intL low = (BYTE(p, 96 + group % 8) >> (group / 8 * 4)) & 15;
    const intL high = (BYTE(p, 104 + group % 4) >> (group / 4 * 2)) & 3;
    scale[i] = d * TO_FLOAT((low | (high << 4)) - 32);
    offset[i] = -4.0f * scale[i];
  }
}
INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  const intL byte =
      QUANT_BYTE(p, 32 + 32 * (chunk / 4) + 16 * (chunk % 2) + l) >>
      (chunk / 2 % 2 * 4);
  const intL thirds = QUANT_BYTE(p, 16 * (chunk % 2) + l) >> (chunk / 2 * 2);
  *first = (byte & 3) | ((thirds & 1) << 2);
  *second = ((byte >> 2) & 3) | ((thirds & 2) << 1);
}
#endif

#elif defined(TYPE_Q4_K) || defined(TYPE_Q5_K)
#define MINIMUMS
#define BLOCK 256
#define SPAN 32
#define APART 32
INLINE int first_of(int chunk) { return 64 * chunk; }
// See k_scale_min in src/tensor/blocks.h.
INLINE void scales(Bytes p, int chunk, floatL scale[2], floatL offset[2]) {
  const floatL d = HALF(p, 0);
  const floatL min = HALF(p, 2);
  for (int i = 0; i < 2; ++i) {
    const int group = 2 * chunk + i;
    intL s, m;
    if (group < 4) {
      s = BYTE(p, 4 + group) & 63;
      m = BYTE(p, 8 + group) & 63;
    } else {
      const intL low = BYTE(p, 8 + group);
      s = (low & 15) | ((BYTE(p, group) >> 6) << 4);
      m = (low >> 4) | ((BYTE(p, 4 + group) >> 6) << 4);
    }
    scale[i] = d * TO_FLOAT(s);
    offset[i] = -(min * TO_FLOAT(m));
  }
}
#ifdef TYPE_Q4_K
#define BLOCK_BYTES 144
INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  const intL both = QUANT_BYTE(p, 16 + 32 * chunk + l);
  *first = both & 15;
  *second = both >> 4;
}
#else
#define BLOCK_BYTES 176
INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  const intL both = QUANT_BYTE(p, 48 + 32 * chunk + l);
  const intL fifths = QUANT_BYTE(p, 16 + l) >> (2 * chunk);
  *first = (both & 15) | ((fifths & 1) << 4);
  *second = (both >> 4) | ((fifths & 2) << 3);
}
#endif

#elif defined(TYPE_Q6_K)
// Chunk 0 to 7: bit 2 says which half of 128, bit 1 the run of 32 of the first
// elements (the second are two runs on), bit 0 the half of the run.
#define BLOCK 256
#define BLOCK_BYTES 210
#define SPAN 16
#define APART 64
INLINE int first_of(int chunk) { return 128 * (chunk / 4) + 16 * (chunk % 4); }
INLINE void scales(Bytes p, int chunk, floatL scale[2], floatL offset[2]) {
  const floatL d = HALF(p, 208);
  for (int i = 0; i < 2; ++i) {
    const int group = 8 * (chunk / 4) + chunk % 4 + 4 * i;
    scale[i] = d * TO_FLOAT(SIGNED_BYTE(p, 192 + group));
    offset[i] = -32.0f * scale[i];
  }
}
INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  const intL low = QUANT_BYTE(p, 64 * (chunk / 4) + 16 * (chunk % 4) + l);
  const intL high =
      QUANT_BYTE(p, 128 + 32 * (chunk / 4) + 16 * (chunk % 2) + l) >>
      (chunk / 2 % 2 * 2);
  *first = (low & 15) | ((high & 3) << 4);
  *second = (low >> 4) | (high & 0x30);
}

#elif defined(TYPE_IQ4_NL) || defined(TYPE_IQ4_XS)
#define SPAN 16
#define APART 16
INLINE int first_of(int chunk) { return 32 * chunk; }
// Entry q of kIQ4Values, chosen by the bits of q.
INLINE intL iq4_value(intL q) {
#define PAIR(a, b) CHOOSE((intL)(a), (intL)(b), one)
  const intL one = (q & 1) != 0, two = (q & 2) != 0;
  const intL four = (q & 4) != 0, eight = (q & 8) != 0;
  const intL a = CHOOSE(PAIR(-127, -104), PAIR(-83, -65), two);
  const intL b = CHOOSE(PAIR(-49, -35), PAIR(-22, -10), two);
  const intL c = CHOOSE(PAIR(1, 13), PAIR(25, 38), two);
  const intL d = CHOOSE(PAIR(53, 69), PAIR(89, 113), two);
  return CHOOSE(CHOOSE(a, b, four), CHOOSE(c, d, four), eight);
}
#ifdef TYPE_IQ4_NL
#define BLOCK 32
#define BLOCK_BYTES 18
#define HEAD_BYTES 2
#else
#define BLOCK 256
#define BLOCK_BYTES 136
#define HEAD_BYTES 8
#endif
INLINE void scales(Bytes p, int chunk, floatL scale[2], floatL offset[2]) {
  scale[0] = HALF(p, 0);
#ifdef TYPE_IQ4_XS
  const intL low = (BYTE(p, 4 + chunk / 2) >> (chunk % 2 * 4)) & 15;
  const intL high = (BYTES_2(p, 2) >> (2 * chunk)) & 3;
  scale[0] *= TO_FLOAT((low | (high << 4)) - 32);
#endif
  scale[1] = scale[0];
  offset[0] = offset[1] = 0.0f;
}
INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  const intL both = QUANT_BYTE(p, HEAD_BYTES + 16 * chunk + l);
  *first = iq4_value(both & 15);
  *second = iq4_value(both >> 4);
}

#elif defined(TYPE_MXFP4)
#define BLOCK 32
#define BLOCK_BYTES 17
#define SPAN 16
#define APART 16
INLINE int first_of(int chunk) { return 0; }
// 2^(exponent - 128); the two smallest are subnormal.
INLINE void scales(Bytes p, int chunk, floatL scale[2], floatL offset[2]) {
  const intL exponent = BYTE(p, 0);
  const intL one = (intL)(0x00200000);
  scale[0] = AS_FLOAT(
      CHOOSE((exponent - 1) << 23, one << (exponent & 1), exponent < 2));
  scale[1] = scale[0];
  offset[0] = offset[1] = 0.0f;
}
// Entry q of kMXFP4Values: a sign, two bits of exponent, one of mantissa.
INLINE intL mxfp4_value(intL q) {
  const intL exponent = (q >> 1) & 3;
  const intL normal = ((q & 1) | 2) << ((exponent + 3) & 3);
  const intL magnitude = CHOOSE(normal, q & 1, exponent == 0);
  return CHOOSE(magnitude, -magnitude, (q & 8) != 0);
}
INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  const intL both = QUANT_BYTE(p, 1 + l);
  *first = mxfp4_value(both & 15);
  *second = mxfp4_value(both >> 4);
}
#endif

#ifdef PLAIN
#define BLOCK 1
#define BLOCK_BYTES UNIT
#define APART 1
#else
#define CHUNKS (BLOCK / (2 * SPAN))
#endif

// Of a tile, the place of the units of row `lane` of it.
#define LANE(tile, lane) ((tile) + (lane) * UNIT)
// From there, block b.
#define BLOCK_AT(p, b) ((p) + (ulong)(b) * (BLOCK_BYTES / UNIT) * TILE * UNIT)
