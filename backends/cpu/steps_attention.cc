// Steps for the paged cache: storing keys and values, attention.
#include <algorithm>
#include <cstring>

#include "cpu/chunks.h"
#include "cpu/kernels.h"
#include "tensor/dtype.h"

namespace rc::cpu {
namespace {

// The page table, and the sequence and position of each row.
struct Pages {
  Place positions, sequences, table;
  Place lengths;  // of ATTENTION
  bool whole;     // rows see all positions of their sequence: there are lengths
  int64_t row_pages;  // entries of a sequence's row
  int64_t page_size;
  int64_t pages;  // in the cache

  // Where row r is. A thread that comes late may read what the next run has
  // put there, so each number is read once and then checked.
  struct At {
    int64_t sequence, position;
  };
  At at(const Run& run, int64_t r) const {
    return {peek(run.at<const int32_t>(sequences) + r),
            peek(run.at<const int32_t>(positions) + r)};
  }
  // Whether it has an entry in the table.
  bool has_entry(const Run& run, const At& at) const {
    return at.sequence >= 0 && at.sequence < run.rows(RC_DIM_SEQUENCES) &&
           at.position >= 0 && at.position / page_size < row_pages;
  }
  static void fail_entry(Run& run, int64_t r, const At& at) {
    run.fail(RC_E_INVALID_ARGUMENT,
             "row %lld: position %lld of sequence %lld has no entry in the "
             "page table",
             static_cast<long long>(r), static_cast<long long>(at.position),
             static_cast<long long>(at.sequence));
  }
  // The last position that a row at a place with an entry sees, or -1 where its
  // sequence has a length for which there are no entries.
  int64_t last(const Run& run, const At& at) const {
    if (!whole) return at.position;
    const int64_t length = peek(run.at<const int32_t>(lengths) + at.sequence);
    return length > 0 && (length - 1) / page_size < row_pages ? length - 1 : -1;
  }
  static void fail_length(Run& run, int64_t r, const At& at) {
    run.fail(RC_E_INVALID_ARGUMENT,
             "row %lld: the length of sequence %lld has no entries in the page "
             "table",
             static_cast<long long>(r), static_cast<long long>(at.sequence));
  }
  int64_t page(const Run& run, int64_t sequence, int64_t index) const {
    return peek(run.at<const int32_t>(table) + sequence * row_pages + index);
  }
  bool has_page(int64_t page) const { return page >= 0 && page < pages; }
  void fail_page(Run& run, int64_t page) const {
    run.fail(RC_E_INVALID_ARGUMENT,
             "the page table names page %lld of a cache of %lld pages",
             static_cast<long long>(page), static_cast<long long>(pages));
  }

 private:
  static int64_t peek(const int32_t* number) {
    return __atomic_load_n(number, __ATOMIC_RELAXED);
  }
};

// Floats of scratch for one task of `group` heads of d elements.
uint64_t task_scratch(int64_t group, int64_t d) {
  const uint64_t rounded = product(static_cast<uint64_t>(d) / 16 + 1, 16);
  return product(product(rounded, 2 * kAttentionChunk) +
                     kAttentionHeads * kAttentionChunk +
                     product(static_cast<uint64_t>(group), 2 * kAttentionRows),
                 sizeof(float));
}

// Rows that go together: their keys and values are made ready once. Fewer where
// threads would be left without work.
int64_t rows_together(int64_t rows, int64_t heads, int threads) {
  return std::clamp<int64_t>(rows * heads / (4 * threads), 1, kAttentionRows);
}

// Units at most, of up to `rows` rows.
int64_t most_units(int64_t rows, int64_t heads, int threads) {
  return 8 * threads + (rows / kAttentionRows + 2) * heads;
}

// What a unit of attention uses of a thread's scratch.
struct UnitScratch {
  float* task;
  float* results;  // [rows, group, d], until they are committed
  int32_t* pages;

  UnitScratch(float* base, int64_t group, int64_t d)
      : task(base),
        results(base + task_scratch(group, d) / sizeof(float)),
        pages(
            reinterpret_cast<int32_t*>(results + kAttentionRows * group * d)) {}
};

}  // namespace

void compile_cache_store(Compiler& c, const Op& op) {
  const int32_t cache = op.inputs[4];
  const Pages pages = {c.kept(op.inputs[1]),
                       c.kept(op.inputs[2]),
                       c.kept(op.inputs[3]),
                       Place{},
                       false,
                       c.columns(op.inputs[3]),
                       c.value(cache).shape[2],
                       c.value(cache).shape[0]};
  const rc_plugin_value& value = c.value(op.inputs[0]);
  const int64_t dimension = value.shape[0];
  const int64_t heads = value.shape[1];
  const int64_t d = value.shape[2];
  const rc_dtype dtype = c.value(cache).dtype;
  const int64_t bytes = static_cast<int64_t>(*row_bytes(dtype, d));
  uint8_t* data = c.cache(cache).memory.data();
  const Place x = c.place(op.inputs[0]);
  const Chunks chunks = {dimension, heads * d, heads * d, 2};
  const int threads = c.threads();
  const ThreadScratch* results =
      c.result_scratch(product(product(chunks.most_together(), heads), bytes));
  // Puts row r, which is encoded already, where it belongs.
  const auto put = [=](Run& run, int64_t r, const uint8_t* encoded) {
    const Pages::At at = pages.at(run, r);
    if (!pages.has_entry(run, at)) return Pages::fail_entry(run, r, at);
    const int64_t page =
        pages.page(run, at.sequence, at.position / pages.page_size);
    const int64_t slot = at.position % pages.page_size;
    if (!pages.has_page(page)) return pages.fail_page(run, page);
    for (int64_t h = 0; h < heads; ++h) {
      std::memcpy(data + ((page * heads + h) * pages.page_size + slot) * bytes,
                  encoded + h * bytes, bytes);
    }
  };
  std::vector<Area> reads = {c.area(op.inputs[0])};
  for (int i = 1; i <= 3; ++i) reads.push_back(c.kept_area(op.inputs[i]));
  c.add_repeatable(
      std::move(reads), {c.area(cache)},
      [=](const Run& run) { return run.rows(dimension) * heads * d * 2; },
      [=](const Run& run) {
        return chunks.pieces(run.rows(dimension), threads);
      },
      [](const Run&) { return int64_t{1}; },
      chunks.most_pieces(c.max_rows(dimension), threads),
      [=](Run& run, const Share& share) {
        const int64_t rows = run.rows(dimension);
        const int64_t together = chunks.together(rows, threads);
        for (int64_t i = share.begin; i < share.end; ++i) {
          if (share.units == nullptr && run.stopped(share.thread)) return;
          const int64_t begin = i * together;
          const int64_t end = std::min(begin + together, rows);
          const float* from = run.at<const float>(x);
          const auto* encoded =
              reinterpret_cast<const uint8_t*>(from + begin * heads * d);
          if (dtype != RC_DTYPE_F32) {
            auto* own = results->of<uint8_t>(share.thread);
            for (int64_t h = begin * heads; h < end * heads; ++h) {
              encode_row(dtype, from + h * d, own + (h - begin * heads) * bytes,
                         d);
            }
            encoded = own;
          }
          share.commit([&] {
            for (int64_t r = begin; r < end; ++r) {
              put(run, r, encoded + (r - begin) * heads * bytes);
            }
          });
        }
      });
}

uint64_t attention_scratch(const Compiler& c, const Op& op) {
  const int64_t group =
      c.value(op.inputs[0]).shape[1] / c.value(op.inputs[1]).shape[1];
  const int64_t d = c.value(op.inputs[0]).shape[2];
  return task_scratch(group, d) +
         product(product(static_cast<uint64_t>(group), d),
                 kAttentionRows * sizeof(float)) +
         product(static_cast<uint64_t>(c.columns(op.inputs[5])),
                 sizeof(int32_t));
}

namespace {

// The units of an ATTENTION: a key/value head and a block of rows each.
struct AttentionUnits {
  Pages pages;
  AttentionTask base;
  AttentionFunction function;
  ThreadScratch scratch;
  Place x, y;
  int64_t dimension, heads, kv_heads, group, d, window;
  int threads;

  int64_t count(const Run& run) const {
    const int64_t rows = run.rows(dimension);
    const int64_t block = rows_together(rows, kv_heads, threads);
    return (rows + block - 1) / block * kv_heads;
  }
  void work(Run& run, const Share& share) const;

 private:
  // Takes as many rows from `r` on as are of one sequence, and the pages that
  // they see. False: the unit is at its end, by a failure or because what was
  // read is no longer there.
  bool take_rows(Run& run, const Share& share, int64_t r, int64_t end,
                 int32_t* page_list, AttentionTask& task) const;
};

bool AttentionUnits::take_rows(Run& run, const Share& share, int64_t r,
                               int64_t end, int32_t* page_list,
                               AttentionTask& task) const {
  const int64_t sequence = pages.at(run, r).sequence;
  int64_t first_page = INT64_MAX;
  int64_t last_page = 0;
  for (task.rows = 0; r + task.rows < end; ++task.rows) {
    const Pages::At at = pages.at(run, r + task.rows);
    if (!pages.has_entry(run, at)) {
      share.commit([&] { Pages::fail_entry(run, r + task.rows, at); });
      return false;
    }
    if (at.sequence != sequence) break;
    int64_t& first = task.first[task.rows];
    first = window > 0 ? std::max<int64_t>(0, at.position - window + 1) : 0;
    int64_t last = pages.last(run, at);
    if (last < 0) {
      share.commit([&] { Pages::fail_length(run, r + task.rows, at); });
      return false;
    }
    if (pages.whole && window > 0) {
      last = std::min(last, at.position + window - 1);
    }
    task.last[task.rows] = last;
    first_page = std::min(first_page, first / pages.page_size);
    last_page = std::max(last_page, last / pages.page_size);
  }
  if (task.rows == 0) return false;
  for (int64_t p = first_page; p <= last_page; ++p) {
    const int64_t page = pages.page(run, sequence, p);
    if (!pages.has_page(page)) {
      share.commit([&] { pages.fail_page(run, page); });
      return false;
    }
    page_list[p] = static_cast<int32_t>(page);
  }
  return true;
}

void AttentionUnits::work(Run& run, const Share& share) const {
  const int64_t rows = run.rows(dimension);
  const int64_t block = rows_together(rows, kv_heads, threads);
  const UnitScratch own(scratch.of<float>(share.thread), group, d);
  for (int64_t unit = share.begin; unit < share.end; ++unit) {
    if (share.thread == 0) run.stopped(0);
    if (share.units == nullptr && run.stopped()) return;
    const int64_t h = unit % kv_heads;
    const int64_t begin = unit / kv_heads * block;
    const int64_t end = std::min(rows, begin + block);
    const auto result = [&](int64_t r) {
      return run.at<float>(y) + (r * heads + h * group) * d;
    };
    AttentionTask task = base;
    task.keys += h * pages.page_size * task.key_bytes;
    task.values += h * pages.page_size * task.value_bytes;
    if (task.sinks != nullptr) task.sinks += h * group;
    task.scratch = own.task;
    task.pages = own.pages;
    task.y_stride = share.units != nullptr ? group * d : task.q_stride;
    for (int64_t r = begin; r < end; r += task.rows) {
      if (!take_rows(run, share, r, end, own.pages, task)) return;
      task.q = run.at<const float>(x) + (r * heads + h * group) * d;
      task.y = share.units != nullptr
                   ? own.results + (r - begin) * task.y_stride
                   : result(r);
      if (!share.wanted()) return;
      function(task);
    }
    share.commit([&] {
      if (share.units == nullptr) return;
      for (int64_t r = begin; r < end; ++r) {
        std::copy_n(own.results + (r - begin) * task.y_stride, group * d,
                    result(r));
      }
    });
  }
}

}  // namespace

void compile_attention(Compiler& c, const Op& op) {
  const rc_plugin_value& keys = c.value(op.inputs[1]);
  const rc_plugin_value& values = c.value(op.inputs[2]);
  const rc_plugin_value& q = c.value(op.inputs[0]);
  const bool whole = op.inputs[7] >= 0;
  const Pages pages = {c.kept(op.inputs[3]),
                       c.kept(op.inputs[4]),
                       c.kept(op.inputs[5]),
                       whole ? c.kept(op.inputs[7]) : Place{},
                       whole,
                       c.columns(op.inputs[5]),
                       keys.shape[2],
                       keys.shape[0]};
  const int64_t dimension = q.shape[0];
  const int64_t heads = q.shape[1];
  const int64_t d = q.shape[2];
  const int64_t kv_heads = keys.shape[1];
  AttentionTask base{};
  base.q_stride = heads * d;
  base.group = static_cast<int>(heads / kv_heads);
  base.d = d;
  base.scale = op.params.attention.scale;
  base.softcap = op.params.attention.softcap;
  base.sinks = op.inputs[6] < 0 ? nullptr : c.elements(op.inputs[6]);
  base.page_size = pages.page_size;
  base.keys = c.cache(op.inputs[1]).memory.data();
  base.values = c.cache(op.inputs[2]).memory.data();
  base.key_bytes = static_cast<int64_t>(*row_bytes(keys.dtype, d));
  base.value_bytes = static_cast<int64_t>(*row_bytes(values.dtype, d));
  base.key_page_bytes = kv_heads * pages.page_size * base.key_bytes;
  base.value_page_bytes = kv_heads * pages.page_size * base.value_bytes;
  const AttentionUnits units = {pages,
                                base,
                                c.kernels().attention(keys.dtype, values.dtype),
                                c.thread_scratch(),
                                c.place(op.inputs[0]),
                                c.place(op.outputs[0]),
                                dimension,
                                heads,
                                kv_heads,
                                heads / kv_heads,
                                d,
                                op.params.attention.window,
                                c.threads()};
  std::vector<Area> reads;
  for (int i = 0; i <= 2; ++i) reads.push_back(c.area(op.inputs[i]));
  for (int i = 3; i <= 5; ++i) reads.push_back(c.kept_area(op.inputs[i]));
  if (whole) reads.push_back(c.kept_area(op.inputs[7]));
  c.add_repeatable(
      std::move(reads), {c.area(op.outputs[0])},
      // How far back rows look is data; enough to be shared in any case.
      [=](const Run& run) { return run.rows(dimension) * heads * d * 16; },
      [=](const Run& run) { return units.count(run); },
      [](const Run&) { return int64_t{1}; },
      most_units(c.max_rows(dimension), kv_heads, c.threads()),
      [=](Run& run, const Share& share) { units.work(run, share); });
}

uint64_t attend_scratch(const Compiler& c, const Op& op) {
  return task_scratch(
      c.value(op.inputs[0]).shape[2] / c.value(op.inputs[1]).shape[2],
      c.value(op.inputs[0]).shape[3]);
}

// The tensors are caches of one page per batch that holds all positions.
void compile_attend(Compiler& c, const Op& op) {
  const auto params = op.params.attend;
  const rc_plugin_value& q = c.value(op.inputs[0]);
  const rc_plugin_value& k = c.value(op.inputs[1]);
  const int64_t batch = q.shape[0];
  const int64_t rows = q.shape[1];
  const int64_t heads = q.shape[2];
  const int64_t d = q.shape[3];
  const int64_t positions = k.shape[1];
  const int64_t kv_heads = k.shape[2];
  const int64_t group = heads / kv_heads;
  const AttentionFunction function =
      c.kernels().attention(RC_DTYPE_F32, RC_DTYPE_F32);
  const ThreadScratch scratch = c.thread_scratch();
  const Place queries = c.place(op.inputs[0]);
  const Place keys = c.place(op.inputs[1]);
  const Place values = c.place(op.inputs[2]);
  const Place y = c.place(op.outputs[0]);
  const int64_t block = rows_together(rows, batch * kv_heads, c.threads());
  const int64_t blocks = (rows + block - 1) / block;
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1]), c.area(op.inputs[2])},
      {c.area(op.outputs[0])},
      [=](const Run&) {
        return batch * rows * heads * d * (positions / 8 + 2);
      },
      [=](const Run&) { return batch * blocks * kv_heads; },
      [=](Run& run, const Share& share) {
        static constexpr int32_t kOnlyPage = 0;
        AttentionTask task{};
        task.q_stride = task.y_stride = heads * d;
        task.group = static_cast<int>(group);
        task.d = d;
        task.scale = params.scale;
        task.softcap = params.softcap;
        task.page_size = positions;
        task.pages = &kOnlyPage;
        task.key_bytes = task.value_bytes =
            kv_heads * d * static_cast<int64_t>(sizeof(float));
        task.scratch = scratch.of<float>(share.thread);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
          if (run.stopped(share.thread)) return;
          const int64_t h = unit % kv_heads;
          const int64_t r = unit / kv_heads % blocks * block;
          const int64_t b = unit / kv_heads / blocks;
          task.rows = static_cast<int>(std::min(block, rows - r));
          for (int i = 0; i < task.rows; ++i) {
            task.last[i] =
                params.causal != 0 ? positions - rows + r + i : positions - 1;
          }
          const int64_t at = ((b * rows + r) * heads + h * group) * d;
          const int64_t from = (b * positions * kv_heads + h) * d;
          task.q = run.at<const float>(queries) + at;
          task.y = run.at<float>(y) + at;
          task.keys = reinterpret_cast<const uint8_t*>(
              run.at<const float>(keys) + from);
          task.values = reinterpret_cast<const uint8_t*>(
              run.at<const float>(values) + from);
          function(task);
        }
      });
}

}  // namespace rc::cpu
