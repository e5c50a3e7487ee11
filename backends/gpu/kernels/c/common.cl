// The common beginning of every kernel file.
//
// A work-item works on LANES neighbouring elements at once: on processors as
// many as a vector register holds, on GPUs one, where neighbouring work-items
// stand for the lanes. floatL and intL are vectors of them.
//
// The language itself, OpenCL C or what another interface has in its place, is
// made the same by a prelude before this: see prelude_opencl.cl.
//
// Defined by the host: LANES (1, 4, 8 or 16); TILE, a multiple of LANES (see
// blocks.cl); GROUP_ITEMS, the work-items of a group; and what the comment of
// each file names.
//
// A driver may leave constants open until a kernel is loaded, if they decide
// nothing before compiling: no array has their size, and no #if reads them. For
// arrays there are macros beside them that a prelude may define as the most, such
// as GROUP_ROOM.
//
// Rows of a kernel, or blocks of them, are always dimension 1 of its range,
// which may be cut into pieces; hence get_global_id and not get_group_id.
// FAST_FMA: the device has fma, though its compiler may not say that it is fast.

#ifndef GROUP_ROOM
#define GROUP_ROOM GROUP_ITEMS
#endif

// Before a loop of few iterations whose variables have to be registers, where a
// compiler has to be asked for that.
#ifndef UNROLL
#define UNROLL
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

// A kernel's file lists what the kernel is given: BUFFERS, in the order of their
// slots (see gpu/kernel.h), and PARAMETERS. OPEN makes variables of them. What an
// op does without is bound to something else; has_ or flags say so.
//
// The parameters, and of each buffer the bytes before what is meant, are one
// struct: some drivers take their time for every argument.
#define BUFFER_PLACE(type, name) ulong name##_at;
#define PARAMETER(type, name) type name;
#define CALL                            \
  typedef struct {                      \
    BUFFERS(BUFFER_PLACE, BUFFER_PLACE) \
    PARAMETERS(PARAMETER)               \
  } Call;
#define OPEN_PARAMETER(type, name) type name = call.name;
#define OPEN                       \
  BUFFERS(OPEN_INPUT, OPEN_OUTPUT) \
  PARAMETERS(OPEN_PARAMETER)

// counts: the rows, outputs and sequences of the run. A kernel of an op on rows
// does the rows of counts[symbol] from first_row on, at most row_limit; buffers
// begin there. What follows ROW_PARAMETERS is listed in gpu/row_ops.cc.
#define COUNTS(INPUT) INPUT(uint, counts)
#define ROW_PARAMETERS(P) P(uint, symbol) P(uint, first_row) P(uint, row_limit)
#define ROW_COUNT \
  min(max(counts[symbol], first_row) - first_row, row_limit)

// The number of a group within a row, which may have more groups than a range
// has along one dimension; and the first of the LANES columns of a work-item.
#define COLUMN_GROUP (get_group_id(2) * get_num_groups(0) + get_group_id(0))
#define COLUMN ((int)(COLUMN_GROUP * GROUP_ITEMS + get_local_id(0)) * LANES)

#if LANES == 1
typedef float floatL;
typedef int intL;
typedef uint uintL;
#define LOAD(i, p) ((p)[i])
#define STORE(v, i, p) ((p)[i] = (v))
#define TO_FLOAT(v) convert_float(v)
#define TO_INT(v) convert_int(v)
#define AS_FLOAT(v) as_float(v)
#define CHOOSE(no, yes, condition) ((condition) ? (yes) : (no))
#define LANE_NUMBERS 0
#else
typedef JOIN(float, LANES) floatL;
typedef JOIN(int, LANES) intL;
typedef JOIN(uint, LANES) uintL;
#define LOAD(i, p) JOIN(vload, LANES)(i, p)
#define STORE(v, i, p) JOIN(vstore, LANES)(v, i, p)
#define TO_FLOAT(v) JOIN(convert_float, LANES)(v)
#define TO_INT(v) JOIN(convert_int, LANES)(v)
#define AS_FLOAT(v) JOIN(as_float, LANES)(v)
#define CHOOSE(no, yes, condition) select(no, yes, condition)
#if LANES == 16
#define LANE_NUMBERS \
  VECTOR(int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#elif LANES == 8
#define LANE_NUMBERS VECTOR(int8)(0, 1, 2, 3, 4, 5, 6, 7)
#else
#define LANE_NUMBERS VECTOR(int4)(0, 1, 2, 3)
#endif
#endif

// a * b + c for sums: rounded once where that costs nothing.
#if defined(FP_FAST_FMAF) || defined(FAST_FMA)
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

// The sum over the lanes, always in the same order.
INLINE float lane_sum(floatL v) {
#if LANES == 1
  return v;
#else
#if LANES == 16
  const float8 a = v.lo + v.hi;
#elif LANES == 8
  const float8 a = v;
#endif
#if LANES >= 8
  const float4 b = a.lo + a.hi;
#else
  const float4 b = v;
#endif
  const float2 c = b.lo + b.hi;
  return c.lo + c.hi;
#endif
}

// IEEE binary16 in the low bits to f32, exact, subnormal numbers included,
// whatever a device does with them in its own arithmetic.
INLINE floatL half_bits(intL h) {
  const intL magnitude = h & 0x7FFF;
  const intL sign = (h & 0x8000) << 16;
  const intL normal = (magnitude << 13) + (112 << 23);
  const floatL tiny = TO_FLOAT(magnitude) * 0x1p-24f;
  const intL special = normal + (112 << 23);
  floatL value = CHOOSE(AS_FLOAT(normal), tiny, magnitude < 0x0400);
  value = CHOOSE(value, AS_FLOAT(special), magnitude >= 0x7C00);
  return CHOOSE(value, -value, sign != 0);
}
