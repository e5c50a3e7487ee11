// A product of many rows: a work-group of 128 lanes has 64 rows of the weight and
// kRuns times as many of x, and brings a group of columns of both to shared
// memory at a time, in numbers. Of the results a lane has runs of four rows of x
// by two runs of four rows of the weight, so that lanes that are neighbours read
// neighbours. Each is summed as add_groups does.
#define kSide 64
#define kSideTiles (kSide / kTileRows)

// Column by column.
#define w_square shared_quads
shared vec4 x_square[SIZE(8, kSquare * 512 * kRuns + 1 - kSquare)];

// Loads the row of a lane: the first 64 lanes load the weight, the others x.
Raw read_side(uint tile, uint x_row, uint group) {
  if (gl_LocalInvocationIndex < kSide) {
    return read_group(tile, gl_LocalInvocationIndex % kTileRows, group,
                      p.groups);
  }
  Raw raw;
  [[unroll]] for (uint quad = 0; quad < 8; ++quad) {
    raw.quads[quad] = floatBitsToUint(read_x(x_row, group * 32 + quad * 4));
  }
  return raw;
}

void multiply_square(uint first_row, uint first_tile, uint rows) {
  const uint lane = gl_LocalInvocationIndex;
  const uint side = lane % kSide;
  const uint tile = min(first_tile + side / kTileRows, p.piece_tiles - 1);
  const uint across = lane % 8;
  const uint down = lane / 8;
  vec4 whole[SIZE(9, 8 * kRuns)];
  vec4 some[SIZE(9, 8 * kRuns)];
  [[unroll]] for (uint i = 0; i < 8 * kRuns; ++i) {
    whole[i] = vec4(0);
    some[i] = vec4(0);
  }
  uint x_row[SIZE(10, kRuns)];
  Raw next[SIZE(10, kRuns)];
  [[unroll]] for (uint run = 0; run < kRuns; ++run) {
    x_row[run] = min(first_row + run * kSide + side, rows - 1);
    if (run == 0 || lane >= kSide) next[run] = read_side(tile, x_row[run], 0);
  }
  for (uint group = 0; group < p.groups; ++group) {
    barrier();
    if (lane < kSide) {
      [[unroll]] for (uint quad = 0; quad < 8; ++quad) {
        vec4 w;
        FOUR_WEIGHTS(next[0], quad, w)
        [[unroll]] for (uint i = 0; i < 4; ++i) {
          w_square[(quad * 4 + i) * 16 + side / 4][side % 4] = w[i];
        }
      }
    } else {
      [[unroll]] for (uint run = 0; run < kRuns; ++run) {
        [[unroll]] for (uint quad = 0; quad < 8; ++quad) {
          const vec4 x = uintBitsToFloat(next[run].quads[quad]);
          [[unroll]] for (uint i = 0; i < 4; ++i) {
            x_square[((quad * 4 + i) * kRuns + run) * 16 + side / 4][side % 4] =
                x[i];
          }
        }
      }
    }
    barrier();
    if (group + 1 < p.groups) {
      [[unroll]] for (uint run = 0; run < kRuns; ++run) {
        if (run == 0 || lane >= kSide) {
          next[run] = read_side(tile, x_row[run], group + 1);
        }
      }
    }
    for (uint column = 0; column < 32; ++column) {
      const vec4 w0 = w_square[column * 16 + across];
      const vec4 w1 = w_square[column * 16 + 8 + across];
      [[unroll]] for (uint run = 0; run < kRuns; ++run) {
        const vec4 x = x_square[(column * kRuns + run) * 16 + down];
        [[unroll]] for (uint i = 0; i < 4; ++i) {
          const uint at = 2 * (run * 4 + i);
          some[at] = fma(w0, vec4(x[i]), some[at]);
          some[at + 1] = fma(w1, vec4(x[i]), some[at + 1]);
        }
      }
    }
    if ((group + 1) % kSection == 0 || group + 1 == p.groups) {
      [[unroll]] for (uint i = 0; i < 8 * kRuns; ++i) {
        whole[i] += some[i];
        some[i] = vec4(0);
      }
    }
  }
  [[unroll]] for (uint i = 0; i < 8 * kRuns; ++i) {
    const uint row = first_row + i / 8 * kSide + down * 4 + i / 2 % 4;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const uint place = i % 2 * 32 + across * 4 + j;
      const uint column = (p.first_tile + first_tile) * kTileRows + place;
      if (row >= rows || column >= p.n ||
          first_tile + place / kTileRows >= p.piece_tiles) {
        continue;
      }
      float sum = whole[i][j];
      if (p.has_bias != 0) sum += NUMBER(bias, column);
      const uint at = row * p.n + column;
      if (p.has_residual != 0) sum += NUMBER(residual, at);
      y[at] = sum;
    }
  }
}
