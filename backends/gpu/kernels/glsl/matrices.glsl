// A product of many rows by cooperative matrices of 16 by 16, whose elements are
// binary16 and whose sums are f32: a work-group of 128 lanes has 128 rows of the
// weight and 64 of x, and each of its four sub-groups 64 by 32 of the results. It
// takes two groups of columns at a time.
//
// A weight is rounded to binary16. A number of x is taken as two, x / 16 rounded
// and the rest, so that it keeps 22 bits unless it is below 1, and may be as large
// as 1e6.
#define kMatrixOutputs 128
#define kMatrixRows 64
#define kMatrixLanes 128

#define kAcross 4  // matrices of a sub-group along the outputs ...
#define kDown 2    // ... and the rows of x
#define kStep 2    // groups of columns
// Eight columns of a row that a lane brings at a time.
#define kEights (4 * kStep)
#define kEach (kMatrixRows * kEights / kMatrixLanes)
// Quads from row to row, one more than there are, so that banks differ.
#define kStride (kEights + 1)

shared uvec4 w_halves[kMatrixOutputs * kStride];
shared uvec4 x_high[kMatrixRows * kStride];
shared uvec4 x_low[kMatrixRows * kStride];
shared float results[kMatrixLanes / 32 * 256];

uvec4 halves_of(vec4 low, vec4 high) {
  return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw),
               packHalf2x16(high.xy), packHalf2x16(high.zw));
}

vec4 low_of(uvec4 halves) {
  return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
}

vec4 high_of(uvec4 halves) {
  return vec4(unpackHalf2x16(halves.z), unpackHalf2x16(halves.w));
}

#define MATRIX(bits) fcoopmatNV<bits, gl_ScopeSubgroup, 16, 16>

// The numbers that a lane loads in a step: a row of the weight, and eight
// columns of kEach rows of x, so that adjacent lanes read adjacent numbers.
Raw raw[kStep];
vec4 x[2 * kEach];

void read_step(uint tile, uint x_rows[kEach], uint step) {
  const uint lane = gl_LocalInvocationIndex;
  [[unroll]] for (uint i = 0; i < kStep; ++i) {
    raw[i] = read_group(tile, lane % kTileRows,
                        min(step * kStep + i, p.groups - 1), p.groups);
  }
  const uint eight = lane % kEights;
  const uint column = step * kStep * 32 + eight * 8;
  const bool beyond = step * kStep + eight / 4 >= p.groups;
  [[unroll]] for (uint i = 0; i < kEach; ++i) {
    x[2 * i] = beyond ? vec4(0) : read_x(x_rows[i], column);
    x[2 * i + 1] = beyond ? vec4(0) : read_x(x_rows[i], column + 4);
  }
}

void share_step() {
  const uint lane = gl_LocalInvocationIndex;
  [[unroll]] for (uint i = 0; i < kEights; ++i) {
    vec4 w0, w1;
    FOUR_WEIGHTS(raw[i / 4], i % 4 * 2, w0)
    FOUR_WEIGHTS(raw[i / 4], i % 4 * 2 + 1, w1)
    w_halves[lane * kStride + i] = halves_of(w0, w1);
  }
  [[unroll]] for (uint i = 0; i < kEach; ++i) {
    const vec4 x0 = x[2 * i] / 16.0;
    const vec4 x1 = x[2 * i + 1] / 16.0;
    const uvec4 high = halves_of(x0, x1);
    const uint row = lane / kEights + i * (kMatrixLanes / kEights);
    const uint at = row * kStride + lane % kEights;
    x_high[at] = high;
    x_low[at] = halves_of(x0 - low_of(high), x1 - high_of(high));
  }
}

void multiply_matrices(uint first_row, uint first_tile, uint rows) {
  const uint lane = gl_LocalInvocationIndex;
  const uint tile = min(first_tile + lane / kTileRows, p.piece_tiles - 1);
  const uint across = gl_SubgroupID % 2 * (16 * kAcross);
  const uint down = gl_SubgroupID / 2 * (16 * kDown);
  uint x_rows[kEach];
  [[unroll]] for (uint i = 0; i < kEach; ++i) {
    x_rows[i] = min(
        first_row + lane / kEights + i * (kMatrixLanes / kEights), rows - 1);
  }
  MATRIX(32) some[kAcross * kDown];
  [[unroll]] for (uint i = 0; i < kAcross * kDown; ++i) {
    some[i] = MATRIX(32)(0.0);
  }
  read_step(tile, x_rows, 0);
  const uint steps = (p.groups + kStep - 1) / kStep;
  for (uint step = 0; step < steps; ++step) {
    barrier();
    share_step();
    barrier();
    if (step + 1 < steps) read_step(tile, x_rows, step + 1);
    [[unroll]] for (uint k = 0; k < 2 * kStep; ++k) {
      MATRIX(16) a[kAcross];
      [[unroll]] for (uint i = 0; i < kAcross; ++i) {
        coopMatLoadNV(a[i], w_halves, (across + 16 * i) * kStride + 2 * k,
                      kStride, false);
      }
      [[unroll]] for (uint j = 0; j < kDown; ++j) {
        const uint from = (down + 16 * j) * kStride + 2 * k;
        MATRIX(16) b;
        coopMatLoadNV(b, x_high, from, kStride, true);
        [[unroll]] for (uint i = 0; i < kAcross; ++i) {
          some[kAcross * j + i] = coopMatMulAddNV(a[i], b, some[kAcross * j + i]);
        }
        coopMatLoadNV(b, x_low, from, kStride, true);
        [[unroll]] for (uint i = 0; i < kAcross; ++i) {
          some[kAcross * j + i] = coopMatMulAddNV(a[i], b, some[kAcross * j + i]);
        }
      }
    }
  }
  const uint mine = gl_SubgroupID * 256;
  [[unroll]] for (uint m = 0; m < kAcross * kDown; ++m) {
    const MATRIX(32) whole = some[m] * 16.0;
    barrier();
    coopMatStoreNV(whole, results, mine, 16, true);
    barrier();
    for (uint e = gl_SubgroupInvocationID; e < 256; e += 32) {
      const uint place = across + m % kAcross * 16 + e % 16;
      const uint row = first_row + down + m / kAcross * 16 + e / 16;
      const uint column = (p.first_tile + first_tile) * kTileRows + place;
      if (row >= rows || column >= p.n ||
          first_tile + place / kTileRows >= p.piece_tiles) {
        continue;
      }
      float sum = results[mine + e];
      if (p.has_bias != 0) sum += NUMBER(bias, column);
      const uint at = row * p.n + column;
      if (p.has_residual != 0) sum += NUMBER(residual, at);
      y[at] = sum;
    }
  }
}
