// The dispatches of the ops on a cache of keys and values.
#include <algorithm>

#include "base/error.h"
#include "gpu/row_appender.h"
#include "gpu/words.h"

namespace rc::gpu {
namespace {

// As the kernels number the types of caches.
uint32_t type_number(DType dtype) {
  return dtype == RC_DTYPE_F32 ? 0 : dtype == RC_DTYPE_F16 ? 1 : 2;
}

// What a work-group of ATTENTION shares; see attention_shared.glsl.
uint64_t shared_bytes(uint32_t lanes, uint32_t rows, uint32_t head) {
  const uint64_t queries = uint64_t{32} * divided(head, 8) * rows;
  const uint64_t of_lane = 16 * (2 * divided(rows, 4) + 1) + 12;
  return queries + of_lane * lanes + uint64_t{32} * rows;
}

}  // namespace

void RowAppender::cache_store() {
  const rc_plugin_value& x = in(0).value;
  const rc_plugin_value& table = in(3).value;
  const Placed& cache = in(4);
  const CacheRanges ranges = ranges_of(device_, cache.value);
  const auto pages = static_cast<uint64_t>(cache.value.shape[0]);
  for (const RowSlice& rows : row_slices(in(0), {&in(0), &in(1), &in(2)})) {
    for (uint64_t first = 0; first < pages; first += ranges.pages) {
      const uint64_t count = std::min(ranges.pages, pages - first);
      Dispatch& d = append(
          Kernel::kCacheStore,
          {std::min(32u, tuning_.plain), type_number(cache.value.dtype)}, rows,
          {narrow(x.shape[1]), narrow(cache.value.shape[2]),
           narrow(cache.value.shape[0]), narrow(table.shape[1]),
           static_cast<uint32_t>(first), static_cast<uint32_t>(count),
           narrow(x.shape[2])});
      bind(d, 1, in(0), rows);
      bind(d, 2, in(1), rows);
      bind(d, 3, in(2), rows);
      d.bindings.push_back({4, in(3).region});
      d.bindings.push_back({8, cache.region.part(first * ranges.page_bytes,
                                                 count * ranges.page_bytes)});
      d.x = narrow(x.shape[1]);
      d.work.each = static_cast<double>(width_of(x));
    }
  }
}

uint32_t RowAppender::attention_lanes(uint32_t head, uint32_t value) const {
  if (tuning_.attention_rows == 0) {
    return tuning_.attention_lanes(std::max(head, value));
  }
  uint32_t lanes = tuning_.attention;
  while (lanes > 1 && shared_bytes(lanes, 1, head) > tuning_.shared_bytes) {
    lanes /= 2;
  }
  return lanes;
}

uint32_t RowAppender::attention_rows(uint32_t lanes, uint32_t head,
                                     uint32_t value) const {
  // Units of eight elements that a lane sums, for each row.
  const uint32_t units = divided(divided(value, 8), lanes);
  uint32_t rows = std::max(tuning_.attention_rows, 1u);
  while (rows > 1 && (shared_bytes(lanes, rows, head) > tuning_.shared_bytes ||
                      rows * units > tuning_.attention_rows)) {
    rows /= 2;
  }
  return rows;
}

// ATTENTION and GENERAL_ATTENTION.
void RowAppender::attention() {
  const bool general = op_.code == RC_OP_GENERAL_ATTENTION;
  const auto& plain = op_.params.attention;
  const auto& more = op_.params.general_attention;
  const rc_plugin_value& q = in(0).value;
  const rc_plugin_value& cache = in(1).value;
  const int slot_of_values = has(2) ? 2 : 1;
  const rc_plugin_value& values = in(slot_of_values).value;
  // Of keys and values alike, so that a page of both is in the same.
  const CacheRanges of_keys = ranges_of(device_, cache);
  const CacheRanges of_values = ranges_of(device_, values);
  const auto pages = static_cast<uint64_t>(cache.shape[0]);
  const uint64_t range_pages = std::min(of_keys.pages, of_values.pages);
  const uint64_t range_count = std::max(of_keys.count, of_values.count);
  const uint32_t head = narrow(q.shape[2]);
  const uint32_t value = narrow(out(0).value.shape[2]);
  const bool slopes = general && has(8);
  const bool distances = general && has(9);
  const bool changes = slopes || distances ||
                       (general && (more.chunk > 0 || more.temperature > 0));
  // Positions are below 2^31: what is longer sees as much.
  const auto length = [](int64_t positions) {
    return static_cast<uint32_t>(std::min<int64_t>(positions, INT32_MAX));
  };
  const uint32_t lanes = attention_lanes(head, value);
  const uint32_t together = attention_rows(lanes, head, value);
  const auto one = [&](const RowSlice& rows, uint32_t group_rows) {
    Dispatch& d = append(
        Kernel::kAttention,
        {lanes, type_number(cache.dtype), head,
         static_cast<uint32_t>(range_count), value, narrow(values.shape[3]),
         changes, group_rows, together, tuning_.attention_few},
        rows,
        {narrow(cache.shape[1]), narrow(cache.shape[2]), narrow(cache.shape[0]),
         narrow(in(5).value.shape[1]), static_cast<uint32_t>(range_pages),
         narrow(q.shape[1]), length(general ? more.window : plain.window),
         word(general ? more.scale : plain.scale),
         word(general ? more.softcap : plain.softcap), has(6), has(7),
         general ? length(more.chunk) : 0,
         word(general ? more.temperature : 0.0f),
         general ? length(more.temperature_length) : 0, slopes,
         distances ? narrow(in(9).value.shape[1]) : 0});
    bind(d, 1, in(0), rows);
    if (has(7)) {
      d.bindings.push_back({2, in(7).region});
    } else {
      bind(d, 2, in(3), rows);
    }
    bind(d, 3, in(4), rows);
    d.bindings.push_back({4, in(5).region});
    // What is absent is bound all the same, as what is read by words like it.
    bind(d, 5, has(6) ? in(6) : in(4), rows);
    bind(d, 6, slopes ? in(8) : in(4), rows);
    bind(d, 7, distances ? in(9) : in(4), rows);
    bind(d, 8, out(0), rows);
    bind(d, 9, in(3), rows);
    for (uint32_t i = 0; i < kCacheRanges; ++i) {
      const uint64_t first =
          std::min<uint64_t>(i, range_count - 1) * range_pages;
      const uint64_t count = std::min(range_pages, pages - first);
      const auto bind_range = [&](uint32_t slot, const Region& all,
                                  uint64_t page_bytes) {
        d.bindings.push_back(
            {slot + i, all.part(first * page_bytes, count * page_bytes)});
      };
      bind_range(10, in(1).region, of_keys.page_bytes);
      bind_range(14, in(slot_of_values).region, of_values.page_bytes);
    }
    d.x = narrow(q.shape[1]);
    d.batch = group_rows;
    d.work.per_position = true;
    if (group_rows == 1) {
      d.work.each = static_cast<double>(q.shape[1]) * (head + value);
    } else {
      d.rows.at_least = tuning_.attention_few + 1;
    }
  };
  for (const RowSlice& rows :
       row_slices(in(0), {&in(0), &in(3), &in(4), &out(0)})) {
    one(rows, 1);
    // Those of one sequence; the other leaves them alone.
    if (together > 1 && rows.limit > tuning_.attention_few) {
      one(rows, together);
    }
  }
}

}  // namespace rc::gpu
