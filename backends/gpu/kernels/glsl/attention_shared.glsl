// ATTENTION where lanes meet in shared memory: a work-group has one head of
// kRows rows of the batch, which read keys and values once for all of them.
//
// The result of a row does not depend on the other rows of its work-group:
// chunks begin at multiples of kLanes, a chunk of which a row sees nothing does
// not change its result, and its sums always take the positions in the same
// order. In a chunk lanes are parted by the values: kUnits lanes, each with
// eight elements, add one position after the other, those of part i positions
// i, i + kParts and so on. Each part keeps separate sums, to the end.
//
// For each eight elements of a key or value that are read, 16 bytes of F16, and
// decoded, a lane has 8 kRows multiply-adds: with one row it mostly reads.
//
// A large batch is dispatched twice. Where rows that lie together are of one
// sequence they are done by the work-groups of several rows, others by those of
// one row; each skips the rows of the other.
CONSTANT(7, uint, kRows, 1)
CONSTANT(8, uint, kTogether, 1)  // kRows of the dispatch that has more
CONSTANT(9, uint, kFew, 0)  // up to so many rows are done one by one

// Units of eight elements of a key, of a value, and of values of a lane.
#define kKeyUnits ((kHead + 7) / 8)
#define kUnits ((kValue + 7) / 8)
#define kUnitsEach ((kUnits + kLanes - 1) / kLanes)
#define kParts (kUnits < kLanes ? kLanes / kUnits : 1)
#define kFours ((kRows + 3) / 4)
// In so many pieces a chunk is searched for the largest score.
#define kPieces 8
#define kPiece ((kLanes + kPieces - 1) / kPieces)

struct Eight {
  vec4 low, high;
};

// The query of each row, in fours of elements; what is missing is zero.
shared vec4 query_area[SIZE(1, ((kHead + 7) / 8) * 2 * kRows)];
// The scores of positions, for groups of four rows.
shared vec4 score_area[SIZE(7, kLanes * ((kRows + 3) / 4))];
// The same; at the end it has sums.
shared vec4 share_area[SIZE(2, kLanes * ((kRows + 3) / 4 + 1))];
shared float largest_area[SIZE(3, kRows * 8)];
shared float total_area[SIZE(4, kLanes)];
shared Place places[SIZE(4, kLanes)];

uint firsts[SIZE(5, kRows)];
uint ends[SIZE(5, kRows)];
float scales[SIZE(5, kRows)];
float scores[SIZE(5, kRows)];
float largest[SIZE(5, kRows)];
// Totals and sums of the positions of the lane's part.
float totals[SIZE(5, kRows)];
vec4 sums[SIZE(6, kRows * 2 * (((kValue + 7) / 8 + kLanes - 1) / kLanes))];

uvec4 key_quad(uint range, uint i) {
  if (kRanges > 1 && range == 1) return QUAD(keys1, i);
  if (kRanges > 2 && range == 2) return QUAD(keys2, i);
  if (kRanges > 3 && range == 3) return QUAD(keys3, i);
  return QUAD(keys0, i);
}

uvec4 value_quad(uint range, uint i) {
  if (kRanges > 1 && range == 1) return QUAD(values1, i);
  if (kRanges > 2 && range == 2) return QUAD(values2, i);
  if (kRanges > 3 && range == 3) return QUAD(values3, i);
  return QUAD(values0, i);
}

vec4 signed_bytes(uint word) {
  return vec4(ivec4(int(word << 24), int(word << 16), int(word << 8),
                    int(word)) >>
              24);
}

// function(place, unit) decodes eight elements of a vector at once: `size`
// elements, `step` apart. Vectors of F32 and F16 that are whole units begin at
// whole quads, since ranges of a cache begin at multiples of 16 bytes; of the
// others elements are read one by one. Blocks of Q8_0 begin at any second byte.
#define WHOLE(size, step) (size % 8 == 0 && step % 8 == 0)
#define EIGHT(function, quad, word, size, step)                                \
  Eight function(Place place, uint unit) {                                     \
    Eight e = Eight(vec4(0), vec4(0));                                         \
    const uint from = 8 * unit;                                                \
    if (kType == 0 && WHOLE(size, step)) {                                     \
      const uint first = (place.vector * step + from) / 4;                     \
      e.low = uintBitsToFloat(quad(place.range, first));                       \
      e.high = uintBitsToFloat(quad(place.range, first + 1));                  \
    } else if (kType == 1 && WHOLE(size, step)) {                              \
      const uvec4 halves =                                                     \
          quad(place.range, (place.vector * step + from) / 8);                 \
      e.low = vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));        \
      e.high = vec4(unpackHalf2x16(halves.z), unpackHalf2x16(halves.w));       \
    } else if (kType == 2 && WHOLE(size, step)) {                              \
      const uint half_ = (place.vector * (step / 32) + from / 32) * 17;        \
      const float scale = half_to_float(                                       \
          (word(place.range, half_ / 2) >> (half_ % 2 * 16)) & 0xFFFFu);       \
      const uint second = half_ + 1 + from % 32 / 2; /* of two bytes */        \
      uint first_four = word(place.range, second / 2);                         \
      uint last_four = word(place.range, second / 2 + 1);                      \
      if (second % 2 != 0) {                                                   \
        first_four = (first_four >> 16) | (last_four << 16);                   \
        last_four = (last_four >> 16) |                                        \
                    (word(place.range, second / 2 + 2) << 16);                 \
      }                                                                        \
      e.low = scale * signed_bytes(first_four);                                \
      e.high = scale * signed_bytes(last_four);                                \
    } else {                                                                   \
      for (uint i = 0; i < 8 && from + i < size; ++i) {                        \
        float one;                                                             \
        ELEMENT(word, step, place, from + i, one)                              \
        if (i < 4) {                                                           \
          e.low[i] = one;                                                      \
        } else {                                                               \
          e.high[i - 4] = one;                                                 \
        }                                                                      \
      }                                                                        \
    }                                                                          \
    return e;                                                                  \
  }
EIGHT(key_eight, key_quad, key_word, kHead, kHead)
EIGHT(value_eight, value_quad, value_word, kValue, kValueStep)

float add_product(vec4 a, vec4 b, float sum) {
  return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

void read_queries(uint begin, uint rows, uint head) {
  for (uint t = gl_LocalInvocationIndex; t < kKeyUnits * 2 * kRows;
       t += kLanes) {
    const uint r = t / (kKeyUnits * 2);
    const uint four = t % (kKeyUnits * 2);
    vec4 query = vec4(0);
    if (begin + r < rows) {
      const uint at = ((begin + r) * p.heads + head) * kHead;
      const uint i = 4 * four;
      if (kHead % 4 == 0) {
        if (i < kHead) query = uintBitsToFloat(QUAD(q, (at + i) / 4));
      } else {
        if (i < kHead) query.x = uintBitsToFloat(WORD_OF(q, at + i));
        if (i + 1 < kHead) query.y = uintBitsToFloat(WORD_OF(q, at + i + 1));
        if (i + 2 < kHead) query.z = uintBitsToFloat(WORD_OF(q, at + i + 2));
        if (i + 3 < kHead) query.w = uintBitsToFloat(WORD_OF(q, at + i + 3));
      }
    }
    query_area[four * kRows + r] = query;
  }
}

// Products of the key at `place` and the queries. Four units are under way at
// once.
void score(Place place) {
  [[unroll]] for (uint r = 0; r < kRows; ++r) scores[r] = 0;
  for (uint unit = 0; unit < kKeyUnits; unit += 4) {
#define HAS(u) (kKeyUnits % 4 == 0 || unit + u < kKeyUnits)
#define LOAD(u)                                                                \
  Eight e##u;                                                                  \
  if (HAS(u)) e##u = key_eight(place, unit + u);
#define ADD(u)                                                                 \
  if (HAS(u)) {                                                                \
    [[unroll]] for (uint r = 0; r < kRows; ++r) {                              \
      const uint at = (unit + u) * 2 * kRows + r;                              \
      const float low = add_product(query_area[at], e##u.low, scores[r]);      \
      scores[r] = add_product(query_area[at + kRows], e##u.high, low);         \
    }                                                                          \
  }
    LOAD(0) LOAD(1) LOAD(2) LOAD(3)
    ADD(0) ADD(1) ADD(2) ADD(3)
#undef HAS
#undef LOAD
#undef ADD
  }
}

// Adds `share` times the value to the sums of row r, of units t.
void add_value(uint r, uint t, float share, Eight value) {
  const uint at = 2 * (t * kRows + r);
  sums[at] = fma(vec4(share), value.low, sums[at]);
  sums[at + 1] = fma(vec4(share), value.high, sums[at + 1]);
  if (t == 0) totals[r] += share;
}

// Adds `count` positions of the chunk; unless it is whole and every row sees
// `all`, those with a share that is not negative. Four are under way at once.
void add_values(uint count, bool all) {
  const uint part = gl_LocalInvocationIndex / kUnits;
  [[unroll]] for (uint t = 0; t < kUnitsEach; ++t) {
    const uint unit = gl_LocalInvocationIndex % kUnits + t * kLanes;
    if (unit >= kUnits) break;
    for (uint j = part; j < count; j += 4 * kParts) {
#define AT(u) (j + u * kParts)
#define HAS(u) ((all && kLanes % (4 * kParts) == 0) || AT(u) < count)
#define LOAD(u)                                                                \
  Eight e##u;                                                                  \
  if (HAS(u)) e##u = value_eight(places[AT(u)], unit);
#define ADD(u)                                                                 \
  if (HAS(u)) {                                                                \
    [[unroll]] for (uint four = 0; four < kFours; ++four) {                    \
      const vec4 of_rows = share_area[AT(u) * kFours + four];                  \
      [[unroll]] for (uint i = 0; i < 4; ++i) {                                \
        if (4 * four + i < kRows && (all || of_rows[i] >= 0)) {                \
          add_value(4 * four + i, t, of_rows[i], e##u);                        \
        }                                                                      \
      }                                                                        \
    }                                                                          \
  }
      LOAD(0) LOAD(1) LOAD(2) LOAD(3)
      ADD(0) ADD(1) ADD(2) ADD(3)
#undef AT
#undef HAS
#undef LOAD
#undef ADD
    }
  }
}

// Adds up the parts of number `r` of the rows.
void write_row(uint r, uint result) {
  const uint lane = gl_LocalInvocationIndex;
  if (kParts == 1) {
    [[unroll]] for (uint t = 0; t < kUnitsEach; ++t) {
      const uint unit = lane + t * kLanes;
      if (unit >= kUnits) break;
      [[unroll]] for (uint i = 0; i < 8; ++i) {
        if (8 * unit + i < kValue) {
          const float sum = sums[2 * (t * kRows + r) + i / 4][i % 4];
          y[result + 8 * unit + i] = totals[r] > 0 ? sum / totals[r] : 0.0;
        }
      }
    }
    return;
  }
  barrier();
  if (lane < kParts * kUnits) {
    share_area[2 * lane] = sums[2 * r];
    share_area[2 * lane + 1] = sums[2 * r + 1];
    if (lane % kUnits == 0) total_area[lane / kUnits] = totals[r];
  }
  barrier();
  float total = 0;
  for (uint part = 0; part < kParts; ++part) total += total_area[part];
  for (uint i = lane; i < kValue; i += kLanes) {
    float sum = 0;
    for (uint part = 0; part < kParts; ++part) {
      sum += share_area[2 * (part * kUnits + i / 8) + i % 8 / 4][i % 4];
    }
    y[result + i] = total > 0 ? sum / total : 0.0;
  }
}

// Whether rows from `begin` on, kTogether or what is left, are of one sequence.
bool one_sequence(uint begin, uint rows) {
  const uint sequence = WORD(sequences, begin);
  bool one = true;
  [[unroll]] for (uint i = 1; i < kTogether; ++i) {
    if (WORD(sequences, min(begin + i, rows - 1)) != sequence) one = false;
  }
  return one;
}

void main() {
  const uint rows = ROW_COUNT;
  const uint begin = gl_WorkGroupID.y * kRows;
  if (begin >= rows) return;
  if (kTogether > 1) {
    const bool together =
        rows > kFew && one_sequence(begin / kTogether * kTogether, rows);
    if (together != (kRows > 1)) return;
  }
  const uint head = gl_WorkGroupID.x;
  const uint kv_head = head / (p.heads / p.kv_heads);
  const uint lane = gl_LocalInvocationIndex;
  read_queries(begin, rows, head);
  // A sink counts as a position that was seen before, of values that are zero.
  const bool sink = p.has_sinks != 0;
  uint from = 0xFFFFFFFFu;
  uint to = 0;
  uint all_from = 0;  // where all rows see everything
  uint all_to = 0xFFFFFFFFu;
  [[unroll]] for (uint r = 0; r < kRows; ++r) {
    Span span = span_of(min(begin + r, rows - 1));
    if (begin + r >= rows) span.end = span.first;
    firsts[r] = span.first;
    ends[r] = span.end;
    scales[r] = span.scale;
    if (span.first < span.end) {
      from = min(from, span.first);
      to = max(to, span.end);
    }
    all_from = max(all_from, span.first);
    all_to = min(all_to, span.end);
    largest[r] = sink ? NUMBER(sinks, head) : NEGATIVE_INFINITY;
    totals[r] = sink && lane < kUnits ? 1 : 0;
  }
  [[unroll]] for (uint t = 0; t < kRows * 2 * kUnitsEach; ++t) {
    sums[t] = vec4(0);
  }
  const uint sequence = WORD(sequences, begin);
  barrier();

  for (uint chunk = from / kLanes * kLanes; chunk < to; chunk += kLanes) {
    const uint position = chunk + lane;
    const uint page = position >= from && position < to
                          ? page_of(sequence, position)
                          : kNowhere;
    const bool here = page != kNowhere;
    const Place place = place_of(here ? page : 0, position, kv_head);
    if (here) score(place);
    [[unroll]] for (uint four = 0; four < kFours; ++four) {
      vec4 now = vec4(NEGATIVE_INFINITY);
      [[unroll]] for (uint i = 0; i < 4; ++i) {
        const uint r = 4 * four + i;
        if (r < kRows && here && position >= firsts[r] && position < ends[r]) {
          float x = scores[r] * scales[r];
          if (p.softcap > 0) x = p.softcap * exact_tanh(x / p.softcap);
          if (kMore != 0) x = with_terms(x, begin + r, head, position);
          now[i] = x;
        }
      }
      score_area[lane * kFours + four] = now;
    }
    barrier();
    for (uint t = lane; t < kRows * kPieces; t += kLanes) {
      const uint r = t / kPieces;
      float x = NEGATIVE_INFINITY;
      for (uint i = 0; i < kPiece; ++i) {
        const uint j = t % kPieces * kPiece + i;
        if (j < kLanes) x = max(x, score_area[j * kFours + r / 4][r % 4]);
      }
      largest_area[t] = x;
    }
    barrier();
    [[unroll]] for (uint four = 0; four < kFours; ++four) {
      vec4 now = score_area[lane * kFours + four];
      [[unroll]] for (uint i = 0; i < 4; ++i) {
        const uint r = 4 * four + i;
        if (r < kRows) {
          float larger = largest[r];
          [[unroll]] for (uint t = 0; t < kPieces; ++t) {
            larger = max(larger, largest_area[r * kPieces + t]);
          }
          const bool seen = position >= firsts[r] && position < ends[r];
          now[i] = !seen ? -1.0 : here ? exact_exp(now[i] - larger) : 0.0;
          if (largest[r] != larger) {
            const float fading = exact_exp(largest[r] - larger);
            largest[r] = larger;
            totals[r] *= fading;
            [[unroll]] for (uint t = 0; t < kUnitsEach; ++t) {
              const uint at = 2 * (t * kRows + r);
              sums[at] *= fading;
              sums[at + 1] *= fading;
            }
          }
        }
      }
      share_area[lane * kFours + four] = now;
    }
    places[lane] = place;
    barrier();
    if (lane / kUnits < kParts) {
      if (all_from <= chunk && chunk + kLanes <= all_to) {
        add_values(kLanes, true);
      } else {
        add_values(min(kLanes, to - chunk), false);
      }
    }
  }

  [[unroll]] for (uint r = 0; r < kRows; ++r) {
    if (begin + r < rows) write_row(r, ((begin + r) * p.heads + head) * kValue);
  }
}
