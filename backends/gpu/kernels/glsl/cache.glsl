// The paged cache of keys and values: where a position of a sequence lies.
// Shaders that include this have the parameters of PLACE_PARAMETERS and the
// inputs sequences, positions and page_table.
#define PLACE_PARAMETERS \
  uint kv_heads;         \
  uint page_size;        \
  uint pages;            \
  uint table_width;      \
  uint piece_pages; /* in each bound range of the cache but the last */

const uint kNowhere = 0xFFFFFFFFu;

// The page of a position, or kNowhere.
uint page_of(uint sequence, uint position) {
  const uint entry = position / p.page_size;
  if (sequence >= counts[2] || entry >= p.table_width) return kNowhere;
  const uint page = WORD(page_table, sequence * p.table_width + entry);
  return page < p.pages ? page : kNowhere;
}
