// A product of many rows by cooperative matrices of 16 by 16, whose elements are
// binary16 and whose sums are f32: a work-group of 128 lanes has 64 rows of the
// weight and 64 of x, and each of its four sub-groups 32 by 32 of the results.
// Several work-groups fit into a core, so that some multiply while others read.
//
// A weight is rounded to binary16. A number of x is taken as two, x / 256 rounded
// and the rest, so that it keeps 22 bits and may be as large as 1.6e7.
#define kMatrixRows 64
#define kMatrixColumns 64

// Rows of a group of columns, five quads apart so that banks differ.
shared uvec4 w_halves[kMatrixRows * 5];
shared uvec4 x_high[kMatrixColumns * 5];
shared uvec4 x_low[kMatrixColumns * 5];
shared float results[4 * 256];

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

void multiply_matrices(uint first_row, uint first_tile, uint rows) {
  const uint lane = gl_LocalInvocationIndex;
  const uint side = lane % kMatrixRows;  // row of either
  const uint half_ = lane / kMatrixRows;
  const uint tile = min(first_tile + side / kTileRows, p.piece_tiles - 1);
  const uint x_row = min(first_row + side, rows - 1);
  const uint across = gl_SubgroupID % 2 * 32;
  const uint down = gl_SubgroupID / 2 * 32;
  MATRIX(32) high[4];
  MATRIX(32) low[4];
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    high[i] = MATRIX(32)(0.0);
    low[i] = MATRIX(32)(0.0);
  }
  Raw raw = read_group(tile, side % kTileRows, 0, p.groups);
  vec4 x[4];
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    x[i] = read_x(x_row, half_ * 16 + i * 4);
  }
  for (uint group = 0; group < p.groups; ++group) {
    barrier();
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      if (half_ == i / 2) {
        vec4 w0, w1;
        FOUR_WEIGHTS(raw, 2 * i, w0)
        FOUR_WEIGHTS(raw, 2 * i + 1, w1)
        w_halves[side * 5 + i] = halves_of(w0, w1);
      }
    }
    [[unroll]] for (uint i = 0; i < 2; ++i) {
      const uvec4 some = halves_of(x[2 * i] / 256.0, x[2 * i + 1] / 256.0);
      const uint at = side * 5 + half_ * 2 + i;
      x_high[at] = some;
      x_low[at] = halves_of(x[2 * i] - 256.0 * low_of(some),
                            x[2 * i + 1] - 256.0 * high_of(some));
    }
    barrier();
    if (group + 1 < p.groups) {
      raw = read_group(tile, side % kTileRows, group + 1, p.groups);
      [[unroll]] for (uint i = 0; i < 4; ++i) {
        x[i] = read_x(x_row, (group + 1) * 32 + half_ * 16 + i * 4);
      }
    }
    [[unroll]] for (uint k = 0; k < 2; ++k) {
      MATRIX(16) a[2];
      [[unroll]] for (uint i = 0; i < 2; ++i) {
        coopMatLoadNV(a[i], w_halves, (across + 16 * i) * 5 + 2 * k, 5, false);
      }
      [[unroll]] for (uint j = 0; j < 2; ++j) {
        MATRIX(16) b;
        coopMatLoadNV(b, x_high, (down + 16 * j) * 5 + 2 * k, 5, true);
        [[unroll]] for (uint i = 0; i < 2; ++i) {
          high[2 * j + i] = coopMatMulAddNV(a[i], b, high[2 * j + i]);
        }
        coopMatLoadNV(b, x_low, (down + 16 * j) * 5 + 2 * k, 5, true);
        [[unroll]] for (uint i = 0; i < 2; ++i) {
          low[2 * j + i] = coopMatMulAddNV(a[i], b, low[2 * j + i]);
        }
      }
    }
  }
  const uint mine = gl_SubgroupID * 256;
  [[unroll]] for (uint m = 0; m < 4; ++m) {
    const MATRIX(32) sum = high[m] * 256.0 + low[m];
    barrier();
    coopMatStoreNV(sum, results, mine, 16, true);
    barrier();
    for (uint e = gl_SubgroupInvocationID; e < 256; e += 32) {
      const uint place = across + m % 2 * 16 + e % 16;
      const uint row = first_row + down + m / 2 * 16 + e / 16;
      const uint column = (p.first_tile + first_tile) * kTileRows + place;
      if (row >= rows || column >= p.n ||
          first_tile + place / kTileRows >= p.piece_tiles) {
        continue;
      }
      float sum_ = results[mine + e];
      if (p.has_bias != 0) sum_ += NUMBER(bias, column);
      const uint at = row * p.n + column;
      if (p.has_residual != 0) sum_ += NUMBER(residual, at);
      y[at] = sum_;
    }
  }
}
