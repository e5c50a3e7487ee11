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

// The memory that a work-group of ATTENTION shares; see attention_shared.glsl.
uint64_t shared_bytes(uint32_t lanes, uint32_t rows, uint32_t head) {
  const uint64_t queries = uint64_t{32} * divided(head, 8) * rows;
  const uint64_t of_lane = 16 * (2 * divided(rows, 4) + 1) + 12;
  return queries + of_lane * lanes + uint64_t{32} * rows;
}

void append_cache_store(RowAppender& a) {
  const rc_plugin_value& x = a.in(0).value;
  const rc_plugin_value& table = a.in(3).value;
  const Placed& cache = a.in(4);
  const CacheRanges ranges = ranges_of(a.device, cache.value);
  const auto pages = static_cast<uint64_t>(cache.value.shape[0]);
  for (const RowSlice& rows :
       a.row_slices(a.in(0), {&a.in(0), &a.in(1), &a.in(2)})) {
    for (uint64_t first = 0; first < pages; first += ranges.pages) {
      const uint64_t count = std::min(ranges.pages, pages - first);
      Dispatch& d = a.append(
          Kernel::kCacheStore,
          {std::min(32u, a.tuning.plain), type_number(cache.value.dtype)}, rows,
          {narrow(x.shape[1]), narrow(cache.value.shape[2]),
           narrow(cache.value.shape[0]), narrow(table.shape[1]),
           static_cast<uint32_t>(first), static_cast<uint32_t>(count),
           narrow(x.shape[2])});
      a.bind(d, 1, a.in(0), rows);
      a.bind(d, 2, a.in(1), rows);
      a.bind(d, 3, a.in(2), rows);
      d.bindings.push_back({4, a.in(3).region});
      d.bindings.push_back({8, cache.region.part(first * ranges.page_bytes,
                                                 count * ranges.page_bytes)});
      d.x = narrow(x.shape[1]);
      d.work.each = static_cast<double>(width_of(x));
    }
  }
}

uint32_t attention_lanes(const RowAppender& a, uint32_t head, uint32_t value) {
  if (a.tuning.attention_rows == 0) {
    return a.tuning.attention_lanes(std::max(head, value));
  }
  uint32_t lanes = a.tuning.attention;
  while (lanes > 1 && shared_bytes(lanes, 1, head) > a.tuning.shared_bytes) {
    lanes /= 2;
  }
  return lanes;
}

uint32_t attention_rows(const RowAppender& a, uint32_t lanes, uint32_t head,
                        uint32_t value) {
  // Units of eight elements that a lane sums, for each row.
  const uint32_t units = divided(divided(value, 8), lanes);
  uint32_t rows = std::max(a.tuning.attention_rows, 1u);
  while (rows > 1 && (shared_bytes(lanes, rows, head) > a.tuning.shared_bytes ||
                      rows * units > a.tuning.attention_rows)) {
    rows /= 2;
  }
  return rows;
}

// ATTENTION and GENERAL_ATTENTION.
void append_attention(RowAppender& a) {
  const bool general = a.op.code == RC_OP_GENERAL_ATTENTION;
  const auto& plain = a.op.params.attention;
  const auto& more = a.op.params.general_attention;
  const rc_plugin_value& q = a.in(0).value;
  const rc_plugin_value& cache = a.in(1).value;
  const int slot_of_values = a.has(2) ? 2 : 1;
  const rc_plugin_value& values = a.in(slot_of_values).value;
  // Of keys and values alike, so that a page of both is in the same.
  const CacheRanges of_keys = ranges_of(a.device, cache);
  const CacheRanges of_values = ranges_of(a.device, values);
  const auto pages = static_cast<uint64_t>(cache.shape[0]);
  const uint64_t range_pages = std::min(of_keys.pages, of_values.pages);
  const uint64_t range_count = std::max(of_keys.count, of_values.count);
  const uint32_t head = narrow(q.shape[2]);
  const uint32_t value = narrow(a.out(0).value.shape[2]);
  const bool slopes = general && a.has(8);
  const bool distances = general && a.has(9);
  const bool changes = slopes || distances ||
                       (general && (more.chunk > 0 || more.temperature > 0));
  // Positions are below 2^31: what is longer sees as much.
  const auto length = [](int64_t positions) {
    return static_cast<uint32_t>(std::min<int64_t>(positions, INT32_MAX));
  };
  const uint32_t lanes = attention_lanes(a, head, value);
  const uint32_t together = attention_rows(a, lanes, head, value);
  const auto one = [&](const RowSlice& rows, uint32_t group_rows) {
    Dispatch& d = a.append(
        Kernel::kAttention,
        {lanes, type_number(cache.dtype), head,
         static_cast<uint32_t>(range_count), value, narrow(values.shape[3]),
         changes, group_rows, together, a.tuning.attention_few},
        rows,
        {narrow(cache.shape[1]), narrow(cache.shape[2]), narrow(cache.shape[0]),
         narrow(a.in(5).value.shape[1]), static_cast<uint32_t>(range_pages),
         narrow(q.shape[1]), length(general ? more.window : plain.window),
         word(general ? more.scale : plain.scale),
         word(general ? more.softcap : plain.softcap), a.has(6), a.has(7),
         general ? length(more.chunk) : 0,
         word(general ? more.temperature : 0.0f),
         general ? length(more.temperature_length) : 0, slopes,
         distances ? narrow(a.in(9).value.shape[1]) : 0});
    a.bind(d, 1, a.in(0), rows);
    if (a.has(7)) {
      d.bindings.push_back({2, a.in(7).region});
    } else {
      a.bind(d, 2, a.in(3), rows);
    }
    a.bind(d, 3, a.in(4), rows);
    d.bindings.push_back({4, a.in(5).region});
    // An absent input is bound to another, as a kernel names it.
    a.bind(d, 5, a.has(6) ? a.in(6) : a.in(4), rows);
    a.bind(d, 6, slopes ? a.in(8) : a.in(4), rows);
    a.bind(d, 7, distances ? a.in(9) : a.in(4), rows);
    a.bind(d, 8, a.out(0), rows);
    a.bind(d, 9, a.in(3), rows);
    for (uint32_t i = 0; i < kCacheRanges; ++i) {
      const uint64_t first =
          std::min<uint64_t>(i, range_count - 1) * range_pages;
      const uint64_t count = std::min(range_pages, pages - first);
      const auto bind_range = [&](uint32_t slot, const Region& all,
                                  uint64_t page_bytes) {
        d.bindings.push_back(
            {slot + i, all.part(first * page_bytes, count * page_bytes)});
      };
      bind_range(10, a.in(1).region, of_keys.page_bytes);
      bind_range(14, a.in(slot_of_values).region, of_values.page_bytes);
    }
    d.x = narrow(q.shape[1]);
    d.batch = group_rows;
    d.work.per_position = true;
    if (group_rows == 1) {
      d.work.each = static_cast<double>(q.shape[1]) * (head + value);
    } else {
      d.rows.at_least = a.tuning.attention_few + 1;
    }
  };
  for (const RowSlice& rows :
       a.row_slices(a.in(0), {&a.in(0), &a.in(3), &a.in(4), &a.out(0)})) {
    one(rows, 1);
    // Those of one sequence; the other leaves them alone.
    if (together > 1 && rows.limit > a.tuning.attention_few) {
      one(rows, together);
    }
  }
}

}  // namespace

std::span<const RowOp> attention_ops() {
  static constexpr RowOp kOps[] = {{RC_OP_CACHE_STORE, append_cache_store},
                                   {RC_OP_ATTENTION, append_attention},
                                   {RC_OP_GENERAL_ATTENTION, append_attention}};
  return kOps;
}

}  // namespace rc::gpu
