// The layout of caches of keys and values [pages, kv_heads, page_size, d], and
// where a position lies in them.
//
// Defined by the host: HEAD, elements of a head; CACHE_F32, CACHE_F16 or
// CACHE_Q8_0.

#ifdef CACHE_F32
#define CACHE_ROW_BYTES (HEAD * 4)
#elif defined(CACHE_F16)
#define CACHE_ROW_BYTES (HEAD * 2)
#else
#define CACHE_ROW_BYTES (HEAD / 32 * 34)
#endif

typedef struct {
  const global int* table;
  int entries;  // of the table for each sequence
  int page_size;
  int pages;
  int kv_heads;
} Places;

// Bytes before the vector of `head` at `position`. A page that the cache does
// not have gives the first.
INLINE ulong place_of(const Places* places, ulong sequence, int position, int head) {
  const uint entry = min((uint)position / (uint)places->page_size,
                         (uint)places->entries - 1);
  const uint asked = places->table[sequence * places->entries + entry];
  const ulong page = asked < (uint)places->pages ? asked : 0;
  return ((page * places->kv_heads + head) * places->page_size +
          (uint)position % (uint)places->page_size) *
         CACHE_ROW_BYTES;
}
