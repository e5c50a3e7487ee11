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
// or nearly so. formats.cl, which is made from the descriptions of the formats
// (src/tensor/formats), says by macros
//   BLOCK        elements of a block
//   BLOCK_BYTES  its bytes per row
//   SPAN         pairs of a chunk; a block has CHUNKS = BLOCK / (2 * SPAN)
//   APART        the distance of the two elements of a pair
//   MINIMUMS     that elements are rounded twice, after the product and after
//                the sum; of other types the sum is exact
// and where the numbers of a block are. By these there are
//   first_of()   the first element of a chunk
//   scales()     scale and offset of the first elements of the pairs of a
//                chunk, and of the second
//   quants()     pair l of a chunk, as it is stored or as its table says. Types
//                that are CODED are read so only with DENSE or a TILE of 1:
//                weights have what they expand into
// so that an element is scale * quant + offset.

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
#define FLOAT(p, j) AS_FLOAT(BYTES_2(p, j) | (BYTES_2(p, (j) + 2) << 16))

#if defined(TYPE_F32) || defined(TYPE_I32)
#define UNIT 4
#elif defined(TYPE_F16) || defined(TYPE_BF16) || defined(TYPE_I16)
#define UNIT 2
#elif defined(TYPE_F64) || defined(TYPE_I64)
#define UNIT 8
#else
#define UNIT 1
#endif

// Return LANES elements, or one, of plain types.
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

#endif

#include "formats.cl"

#ifndef PLAIN
// Where number i of a plane lies: `at` to `step` are the members of BitPlane in
// src/tensor/formats/block_format.h.
INLINE uint number_of(int stride, int first, int step, uint i) {
  return first + i % (uint)stride + i / (uint)stride * step;
}
INLINE int byte_of(int at, int width, int stride, int first, int step, uint i) {
  const uint number = number_of(stride, first, step, i);
  return at + number / (uint)(8 / width * stride) * stride +
         number % (uint)stride;
}
INLINE int shift_of(int at, int width, int stride, int first, int step,
                    uint i) {
  const uint number = number_of(stride, first, step, i);
  return number / (uint)stride % (uint)(8 / width) * width;
}
INLINE intL plane_bits(Bytes p, int at, int width, int stride, int first,
                       int step, uint i) {
  return (BYTE(p, byte_of(at, width, stride, first, step, i)) >>
          shift_of(at, width, stride, first, step, i)) &
         ((1 << width) - 1);
}

// 2^(exponent - 128); the two smallest are subnormal.
INLINE floatL power_of_two(intL exponent) {
  const intL one = (intL)(0x00200000);
  return AS_FLOAT(
      CHOOSE((exponent - 1) << 23, one << (exponent & 1), exponent < 2));
}

// A byte of BitKind::kE4M3 as a whole number.
INLINE intL e4m3(intL bits) {
  const intL exponent = (bits >> 3) & 15;
  const intL mantissa = bits & 7;
  const intL normal = (mantissa | 8) << ((exponent + 15) & 15);
  return CHOOSE(CHOOSE(normal, mantissa, exponent == 0), (intL)(0),
                bits == 0x7F);
}

INLINE int first_of(int chunk) {
  const uint pair = chunk * SPAN;
  return pair / APART * (2 * APART) + pair % APART;
}

#ifdef CODED
// Number i of a row: the members of BitRow in src/tensor/formats/coded_format.h.
INLINE int row_bits(Bytes p, int at, int width, int step, int run, int run_step,
                    uint i) {
  const int bit = at + i / (uint)run * run_step + i % (uint)run * step;
  int bits = p[bit / 8];
  if (bit % 8 + width > 8) bits |= p[bit / 8 + 1] << 8;
  return (bits >> (bit % 8)) & ((1 << width) - 1);
}
INLINE int scale_of_parts(Bytes p, int at, int width, int step, int run,
                          int run_step) {
  int bits = 0;
  for (int i = 0; i < 4; ++i) {
    bits |= row_bits(p, at, width, step, run, run_step, i) << (4 * i);
  }
  return bits;
}
#ifdef TERNARY
INLINE int ternary(Bytes p, int at, int stride, int i) {
  int power = 1;
  for (int digit = i / stride; digit > 0; --digit) power *= 3;
  return ((p[at + i % stride] * power & 255) * 3) >> 8;
}
#endif
// The quant of element e: its digit, and the sign above it.
INLINE int quant_of(Bytes p, int e) {
#if defined(ENTRIES)
  const int digits = DIGIT_BITS == 3 ? 4 : 8;
  int index = row_bits(p, INDEX, e / digits);
#ifdef INDEX_HIGH
  index |= row_bits(p, INDEX_HIGH, e / digits) << INDEX_BITS;
#endif
  int quant = (entries[index] >> (e % digits * DIGIT_BITS)) &
              ((1 << DIGIT_BITS) - 1);
#elif defined(TERNARY)
  int quant = e < TERNARY_END_0 ? ternary(p, TERNARY_0, e)
              : e < TERNARY_END_1
                  ? ternary(p, TERNARY_1, e - TERNARY_END_0)
                  : ternary(p, TERNARY_2, e - TERNARY_END_1);
#else
  int quant = (p[byte_of(CODED_PLANE, e)] >> shift_of(CODED_PLANE, e)) &
              ((1 << DIGIT_BITS) - 1);
#endif
#ifdef SIGN
  int signs = row_bits(p, SIGN, e / SIGN_ELEMENTS);
#if SIGN_BITS == 7
  // Bit n of 0x6996 is the parity of n.
  signs |= ((0x6996 >> (signs & 15)) ^ (0x6996 >> (signs >> 4))) << 7 & 128;
#endif
#if SIGN_BITS > 1
  signs = (signs >> (e % 8)) & 1;
#endif
  quant |= signs << DIGIT_BITS;
#endif
  return quant;
}
#endif

INLINE void scales(Bytes p, int chunk, floatL scale[2], floatL offset[2]) {
  for (int i = 0; i < 2; ++i) {
    scale[i] = SCALE(p);
#ifdef MINIMUMS
    offset[i] = MINIMUM(p);
#endif
#ifdef GROUP
    const uint group = (uint)(first_of(chunk) + i * APART) / GROUP;
    scale[i] *= TO_FLOAT(SCALE_FACTOR(p, group));
#ifdef MINIMUM_FACTOR
    offset[i] *= TO_FLOAT(MINIMUM_FACTOR(p, group));
#endif
#endif
#ifdef ZERO
    offset[i] = -ZERO * scale[i];
#elif !defined(MINIMUMS)
    offset[i] = 0.0f;
#endif
  }
}

#if defined(QUANTS_ARE_E2M1)
// A sign, two bits of exponent, one of mantissa; doubled.
INLINE intL value_of(intL q) {
  const intL exponent = (q >> 1) & 3;
  const intL normal = ((q & 1) | 2) << ((exponent + 3) & 3);
  const intL magnitude = CHOOSE(normal, q & 1, exponent == 0);
  return CHOOSE(magnitude, -magnitude, (q & 8) != 0);
}
#elif defined(QUANT_VALUES)
INLINE intL one_of(int a, int b, int c, int d, intL one, intL two) {
  return CHOOSE(CHOOSE((intL)(a), (intL)(b), one),
                CHOOSE((intL)(c), (intL)(d), one), two);
}
// Entry q of sixteen, chosen by the bits of q.
INLINE intL entry_of(intL q, int v0, int v1, int v2, int v3, int v4, int v5,
                     int v6, int v7, int v8, int v9, int v10, int v11, int v12,
                     int v13, int v14, int v15) {
  const intL one = (q & 1) != 0, two = (q & 2) != 0;
  const intL four = (q & 4) != 0, eight = (q & 8) != 0;
  const intL a = one_of(v0, v1, v2, v3, one, two);
  const intL b = one_of(v4, v5, v6, v7, one, two);
  const intL c = one_of(v8, v9, v10, v11, one, two);
  const intL d = one_of(v12, v13, v14, v15, one, two);
  return CHOOSE(CHOOSE(a, b, four), CHOOSE(c, d, four), eight);
}
#define value_of(q) entry_of(q, QUANT_VALUES)
#else
#define value_of(q) (q)
#endif

INLINE void quants(Bytes p, int chunk, int l, intL* first, intL* second) {
  const uint e = first_of(chunk);
#if defined(CODED)
  int some[2][LANES];
  for (int i = 0; i < LANES; ++i) {
    some[0][i] = quant_of(p, e + l + i);
    some[1][i] = quant_of(p, e + APART + l + i);
  }
  *first = value_of(LOAD(0, some[0]));
  *second = value_of(LOAD(0, some[1]));
#elif defined(SINGLE_QUANTS)
  *first = value_of(plane_bits(p, QUANTS, e + l));
  *second = value_of(plane_bits(p, QUANTS, e + APART + l));
#elif defined(SIGNED_QUANTS)
  *first = SIGNED_QUANT_BYTE(p, byte_of(QUANTS, e) + l);
  *second = SIGNED_QUANT_BYTE(p, byte_of(QUANTS, e + APART) + l);
#else
  const int mask = (1 << QUANT_BITS) - 1;
  const intL both =
      QUANT_BYTE(p, byte_of(QUANTS, e) + l) >> shift_of(QUANTS, e);
  intL q0 = both & mask;
  intL q1 = (both >> QUANT_BITS) & mask;
#if defined(HIGH_QUANTS) && HIGH_STRIDE > 1
  const int high_mask = (1 << HIGH_BITS) - 1;
  const intL high =
      QUANT_BYTE(p, byte_of(HIGH_QUANTS, e) + l) >> shift_of(HIGH_QUANTS, e);
  q0 |= (high & high_mask) << QUANT_BITS;
  q1 |= ((high >> (APART / HIGH_STRIDE * HIGH_BITS)) & high_mask) << QUANT_BITS;
#elif defined(HIGH_QUANTS) && defined(DENSE)
  // A bit each, those of a chunk in two bytes.
  const intL pair = l + LANE_NUMBERS;
  q0 |= ((BYTES_2(p, byte_of(HIGH_QUANTS, e)) >> pair) & 1) << QUANT_BITS;
  q1 |= ((BYTES_2(p, byte_of(HIGH_QUANTS, e + APART)) >> pair) & 1)
        << QUANT_BITS;
#elif defined(HIGH_QUANTS)
  q0 |= plane_bits(p, HIGH_QUANTS, e + l) << QUANT_BITS;
  q1 |= plane_bits(p, HIGH_QUANTS, e + APART + l) << QUANT_BITS;
#endif
  *first = value_of(q0);
  *second = value_of(q1);
#endif
}
#endif

#ifdef PLAIN
#define BLOCK 1
#define BLOCK_BYTES UNIT
#define APART 1
#else
#define CHUNKS (BLOCK / (2 * SPAN))
#endif

// The place of the units of row `lane` in a tile.
#define LANE(tile, lane) ((tile) + (lane) * UNIT)
// From there, block b.
#define BLOCK_AT(p, b) ((p) + (ulong)(b) * (BLOCK_BYTES / UNIT) * TILE * UNIT)
