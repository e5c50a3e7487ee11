// The layout of caches of keys and values [pages, kv_heads, page_size, d], and
// where a position lies in them.
//
// Defined by the host: CACHE, the type of the elements.

#define CACHE_F32 0
#define CACHE_F16 1
#define CACHE_Q8_0 2

// Bytes of a vector of d elements.
#if CACHE == CACHE_F32
#define VECTOR_BYTES(d) ((ulong)(d) * 4)
#elif CACHE == CACHE_F16
#define VECTOR_BYTES(d) ((ulong)(d) * 2)
#else
#define VECTOR_BYTES(d) ((ulong)(d) / 32 * 34)
#endif

typedef struct {
  const global uint* table;
  uint entries;  // of the table for each sequence
  uint page_size;
  uint pages;
  uint kv_heads;
} Places;

// The page of a position. One that the cache does not have gives the first.
INLINE uint page_of(const Places* places, uint sequence, uint position) {
  const uint entry =
      min(position / places->page_size, places->entries - 1);
  const uint asked =
      places->table[(ulong)sequence * places->entries + entry];
  return asked < places->pages ? asked : 0;
}

// Which vector of a range of the cache the position is, on a page of it.
INLINE ulong vector_of(const Places* places, uint page, uint position,
                       uint head) {
  return ((ulong)page * places->kv_heads + head) * places->page_size +
         position % places->page_size;
}
