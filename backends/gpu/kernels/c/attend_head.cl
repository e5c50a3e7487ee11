// The attention of one head of one row, which a group of GROUP_ITEMS work-items
// gives.
//
// The positions are taken in chunks of 16 from the first that the row sees.
// Work-item i does the chunks i, i + GROUP_ITEMS, ..., with the largest score
// so far, the sum of the shares and of the shares times the values; in the end
// the items' results are put together in their order. So the result of a row
// does not depend on the other rows.
//
// The including file defines types Where and Place, place_at(const Where*, int
// position), and key_of and value_of(const Where*, Place), the vectors there.
// HEAD: the elements of a key; its type: see cache.cl. VALUE: those of a value,
// as many unless it is defined. ADD_TERMS(where, position, score), if defined,
// gives the score with what depends on the position.

#define CHUNK 16
#ifndef VALUE
#define VALUE HEAD
#endif
#ifndef HEAD_ROOM
#define HEAD_ROOM HEAD
#define VALUE_ROOM VALUE
#endif
// Numbers of the results of all items.
#ifndef RESULTS_ROOM
#define RESULTS_ROOM (GROUP_ITEMS * VALUE)
#endif
#ifndef ADD_TERMS
#define ADD_TERMS(where, position, score) (score)
#endif
#define PIECES (HEAD / LANES)
#define REST (HEAD % LANES)
#define VALUE_PIECES (VALUE / LANES)
#define VALUE_REST (VALUE % LANES)

// Element i of a vector in the cache, and LANES elements from there on.
#if CACHE == CACHE_F32
#define CACHED(p, i) (((const global float*)(p))[i])
#define CACHED_LANES(p, i) LOAD(0, (const global float*)(p) + (i))
#elif CACHE == CACHE_F16
#define CACHED(p, i) vload_half(i, (const global half*)(p))
#define CACHED_LANES(p, i) \
  half_bits(TO_INT(LOAD(0, (const global ushort*)(p) + (i))))
#else
// Rows of Q8_0 are whole blocks, so LANES divides HEAD.
#define CACHED(p, i)                                                 \
  (vload_half(0, (const global half*)((p) + (i) / 32 * 34)) *        \
   convert_float(((const global char*)(p))[(i) / 32 * 34 + 2 + (i) % 32]))
#define CACHED_LANES(p, i)                                           \
  (vload_half(0, (const global half*)((p) + (i) / 32 * 34)) *        \
   TO_FLOAT(LOAD(0, (const global char*)(p) + (i) / 32 * 34 + 2 + (i) % 32)))
#endif

typedef struct {
  floatL pieces[HEAD_ROOM / LANES + 1];
  float rest[HEAD_ROOM % LANES + 1];
} Vector;

typedef struct {
  floatL pieces[VALUE_ROOM / LANES + 1];
  float rest[VALUE_ROOM % LANES + 1];
} Values;

INLINE float dot_cached(const Vector* q, const global uchar* key) {
  floatL lanes = 0.0f;
  for (int i = 0; i < PIECES; ++i) {
    lanes = MULTIPLY_ADD(q->pieces[i], CACHED_LANES(key, i * LANES), lanes);
  }
  float sum = lane_sum(lanes);
  for (int i = 0; i < REST; ++i) {
    sum = MULTIPLY_ADD(q->rest[i], CACHED(key, PIECES * LANES + i), sum);
  }
  return sum;
}

// sink: -INFINITY for none.
// In `sums` is room for the result of each item, in the others for a number.
INLINE void attend_head(const global float* query, const Where* where,
                        int first, int last, float scale, float cap,
                        float sink, int item,
                        global float* out, local float* sums,
                        local float* all_largest, local float* all_totals) {
  Vector q;
  Values y;
  for (int i = 0; i < PIECES; ++i) q.pieces[i] = LOAD(0, query + i * LANES);
  for (int i = 0; i < REST; ++i) q.rest[i] = query[PIECES * LANES + i];
  for (int i = 0; i < VALUE_PIECES; ++i) y.pieces[i] = 0.0f;
  for (int i = 0; i < VALUE_REST; ++i) y.rest[i] = 0.0f;
  // As if the first item had seen a position with the score `sink` before.
  float largest = item == 0 ? sink : -INFINITY;
  float total = largest > -INFINITY ? 1.0f : 0.0f;
  for (int begin = first + item * CHUNK; begin <= last;
       begin += GROUP_ITEMS * CHUNK) {
    const int count = min(CHUNK, last - begin + 1);
    float scores[CHUNK];
    Place places[CHUNK];
    float highest = largest;
    for (int j = 0; j < count; ++j) {
      places[j] = place_at(where, begin + j);
      float score = dot_cached(&q, key_of(where, places[j])) * scale;
      if (cap > 0.0f) score = cap * tanh(score / cap);
      score = ADD_TERMS(where, begin + j, score);
      scores[j] = score;
      highest = fmax(highest, score);
    }
    for (int j = count; j < CHUNK; ++j) scores[j] = -INFINITY;
    const float16 shares = exp(vload16(0, scores) - highest);
    vstore16(shares, 0, scores);
    const float shrink = exp(largest - highest);
    largest = highest;
    total *= shrink;
    for (int i = 0; i < VALUE_PIECES; ++i) y.pieces[i] *= shrink;
    for (int i = 0; i < VALUE_REST; ++i) y.rest[i] *= shrink;
    for (int j = 0; j < count; ++j) {
      const global uchar* value = value_of(where, places[j]);
      total += scores[j];
      for (int i = 0; i < VALUE_PIECES; ++i) {
        y.pieces[i] = MULTIPLY_ADD(
            (floatL)(scores[j]), CACHED_LANES(value, i * LANES), y.pieces[i]);
      }
      for (int i = 0; i < VALUE_REST; ++i) {
        y.rest[i] = MULTIPLY_ADD(scores[j], CACHED(value, VALUE_PIECES * LANES + i),
                                 y.rest[i]);
      }
    }
  }
#if GROUP_ROOM == 1
  for (int i = 0; i < VALUE_PIECES; ++i) STORE(y.pieces[i] / total, i, out);
  for (int i = 0; i < VALUE_REST; ++i) out[VALUE_PIECES * LANES + i] = y.rest[i] / total;
#else
  all_largest[item] = largest;
  all_totals[item] = total;
  for (int i = 0; i < VALUE_PIECES; ++i) STORE(y.pieces[i], i, sums + item * VALUE);
  for (int i = 0; i < VALUE_REST; ++i) {
    sums[item * VALUE + VALUE_PIECES * LANES + i] = y.rest[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float highest = all_largest[0];
  for (int i = 1; i < GROUP_ITEMS; ++i) {
    highest = fmax(highest, all_largest[i]);
  }
  total = 0.0f;
  for (int i = 0; i < GROUP_ITEMS; ++i) {
    total += all_totals[i] * exp(all_largest[i] - highest);
  }
  for (int e = item; e < VALUE; e += GROUP_ITEMS) {
    float sum = 0.0f;
    for (int i = 0; i < GROUP_ITEMS; ++i) {
      sum += sums[i * VALUE + e] * exp(all_largest[i] - highest);
    }
    out[e] = sum / total;
  }
#endif
}

#define ATTENTION_ROOM                  \
  SHARED float sums[RESULTS_ROOM];      \
  SHARED float all_largest[GROUP_ROOM]; \
  SHARED float all_totals[GROUP_ROOM];
