// Steps for the paged cache: storing keys and values, attention.
#include <algorithm>
#include <cstring>

#include "cpu/check.h"
#include "cpu/compiler.h"
#include "cpu/kernels.h"
#include "tensor/dtype.h"

namespace rc::cpu {
namespace {

// The page table and who is where in it.
struct Pages {
  Place positions, sequences, table;
  int64_t row_pages;  // entries of a sequence's row
  int64_t page_size;
  int64_t pages;  // in the cache

  // Checks row r, whose position must be in the table; NULL after a failure.
  const int32_t* row(Run& run, int64_t r) const {
    const int64_t position = run.at<const int32_t>(positions)[r];
    const int64_t sequence = run.at<const int32_t>(sequences)[r];
    if (sequence < 0 || sequence >= run.rows(RC_DIM_SEQUENCES) ||
        position < 0 || position / page_size >= row_pages) {
      run.fail(RC_E_INVALID_ARGUMENT,
               "row %lld: position %lld of sequence %lld has no entry in the "
               "page table",
               static_cast<long long>(r), static_cast<long long>(position),
               static_cast<long long>(sequence));
      return nullptr;
    }
    return run.at<const int32_t>(table) + sequence * row_pages;
  }
  bool has_page(Run& run, int64_t page) const {
    if (page >= 0 && page < pages) return true;
    run.fail(RC_E_INVALID_ARGUMENT,
             "the page table names page %lld of a cache of %lld pages",
             static_cast<long long>(page), static_cast<long long>(pages));
    return false;
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

Pages pages_of(const Compiler& c, int32_t positions, int32_t sequences,
               int32_t table, int32_t cache) {
  return {c.place(positions), c.place(sequences),      c.place(table),
          c.columns(table),   c.value(cache).shape[2], c.value(cache).shape[0]};
}

}  // namespace

void compile_cache_store(Compiler& c, const rc_plugin_op& op) {
  const int32_t cache = op.inputs[4];
  const Pages pages =
      pages_of(c, op.inputs[1], op.inputs[2], op.inputs[3], cache);
  const rc_plugin_value& value = c.value(op.inputs[0]);
  const int64_t dimension = value.shape[0];
  const int64_t heads = value.shape[1];
  const int64_t d = value.shape[2];
  const rc_dtype dtype = c.value(cache).dtype;
  const int64_t bytes = static_cast<int64_t>(cache_row_bytes(dtype, d));
  uint8_t* data = c.cache(cache).memory.data();
  const Place x = c.place(op.inputs[0]);
  std::vector<Area> reads = {c.area(op.inputs[0])};
  for (int i = 1; i <= 3; ++i) reads.push_back(c.area(op.inputs[i]));
  c.add(
      std::move(reads), {c.area(cache)},
      [=](const Run& run) { return run.rows(dimension) * heads * d * 2; },
      [=](Run& run, int thread, int threads) {
        const float* from = run.at<const float>(x);
        const Part part(run.rows(dimension), thread, threads);
        run.each_row(part, thread, [&](int64_t r) {
          const int32_t* row = pages.row(run, r);
          if (row == nullptr) return;
          const int64_t position = run.at<const int32_t>(pages.positions)[r];
          const int64_t page = row[position / pages.page_size];
          const int64_t slot = position % pages.page_size;
          if (!pages.has_page(run, page)) return;
          for (int64_t h = 0; h < heads; ++h) {
            const float* head = from + (r * heads + h) * d;
            uint8_t* to =
                data + ((page * heads + h) * pages.page_size + slot) * bytes;
            if (dtype == RC_DTYPE_F32) {
              std::memcpy(to, head, bytes);
            } else {
              encode_row(dtype, head, to, d);
            }
          }
        });
      });
}

uint64_t attention_scratch(const Compiler& c, const rc_plugin_op& op) {
  return task_scratch(
      c.value(op.inputs[0]).shape[1] / c.value(op.inputs[1]).shape[1],
      c.value(op.inputs[0]).shape[2]);
}

void compile_attention(Compiler& c, const rc_plugin_op& op) {
  const int32_t keys = op.inputs[1];
  const int32_t values = op.inputs[2];
  const Pages pages =
      pages_of(c, op.inputs[3], op.inputs[4], op.inputs[5], keys);
  const rc_plugin_value& q = c.value(op.inputs[0]);
  const int64_t dimension = q.shape[0];
  const int64_t heads = q.shape[1];
  const int64_t d = q.shape[2];
  const int64_t kv_heads = c.value(keys).shape[1];
  const AttentionFunction function =
      c.kernels().attention(c.value(keys).dtype, c.value(values).dtype);
  AttentionTask base{};
  base.row_stride = heads * d;
  base.group = static_cast<int>(heads / kv_heads);
  base.d = d;
  base.scale = op.params.attention.scale;
  base.softcap = op.params.attention.softcap;
  base.page_size = pages.page_size;
  base.keys = c.cache(keys).memory.data();
  base.values = c.cache(values).memory.data();
  base.key_bytes =
      static_cast<int64_t>(cache_row_bytes(c.value(keys).dtype, d));
  base.value_bytes =
      static_cast<int64_t>(cache_row_bytes(c.value(values).dtype, d));
  base.key_page_bytes = kv_heads * pages.page_size * base.key_bytes;
  base.value_page_bytes = kv_heads * pages.page_size * base.value_bytes;
  const int64_t window = op.params.attention.window;
  const Compiler::ThreadScratch scratch = c.thread_scratch();
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  std::vector<Area> reads;
  for (int i = 0; i <= 5; ++i) reads.push_back(c.area(op.inputs[i]));
  c.add(
      std::move(reads), {c.area(op.outputs[0])},
      // How far back rows look is data; enough to be shared in any case.
      [=](const Run& run) { return run.rows(dimension) * heads * d * 16; },
      [=](Run& run, int thread, int threads) {
        const float* from = run.at<const float>(x);
        float* to = run.at<float>(y);
        const int32_t* positions = run.at<const int32_t>(pages.positions);
        const int32_t* sequences = run.at<const int32_t>(pages.sequences);
        const int64_t rows = run.rows(dimension);
        const int64_t block = rows_together(rows, kv_heads, threads);
        // Later rows see more: threads take turns.
        for (int64_t unit = thread;
             unit < (rows + block - 1) / block * kv_heads; unit += threads) {
          const int64_t h = unit % kv_heads;
          const int64_t end = std::min(rows, (unit / kv_heads + 1) * block);
          AttentionTask task = base;
          task.keys += h * pages.page_size * task.key_bytes;
          task.values += h * pages.page_size * task.value_bytes;
          task.scratch = scratch.of<float>(thread);
          for (int64_t r = unit / kv_heads * block; r < end; r += task.rows) {
            if (run.stopped(thread)) return;
            task.pages = pages.row(run, r);
            // As many as are of the same sequence.
            for (task.rows = 0; r + task.rows < end; ++task.rows) {
              const int64_t at = r + task.rows;
              if (sequences[at] != sequences[r]) break;
              if (pages.row(run, at) == nullptr) return;
              int64_t& first = task.first[task.rows];
              int64_t& last = task.last[task.rows];
              last = positions[at];
              first = window > 0 ? std::max<int64_t>(0, last - window + 1) : 0;
              for (int64_t p = first / pages.page_size;
                   p <= last / pages.page_size; ++p) {
                if (!pages.has_page(run, task.pages[p])) return;
              }
            }
            task.q = from + (r * heads + h * base.group) * d;
            task.y = to + (r * heads + h * base.group) * d;
            function(task);
          }
        }
      });
}

uint64_t attend_scratch(const Compiler& c, const rc_plugin_op& op) {
  return task_scratch(
      c.value(op.inputs[0]).shape[2] / c.value(op.inputs[1]).shape[2],
      c.value(op.inputs[0]).shape[3]);
}

// The tensors are caches of one page per batch that holds all positions.
void compile_attend(Compiler& c, const rc_plugin_op& op) {
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
  const Compiler::ThreadScratch scratch = c.thread_scratch();
  const Place queries = c.place(op.inputs[0]);
  const Place keys = c.place(op.inputs[1]);
  const Place values = c.place(op.inputs[2]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1]), c.area(op.inputs[2])},
      {c.area(op.outputs[0])},
      [=](const Run&) {
        return batch * rows * heads * d * (positions / 8 + 2);
      },
      [=](Run& run, int thread, int threads) {
        static constexpr int32_t kOnlyPage = 0;
        AttentionTask task{};
        task.row_stride = heads * d;
        task.group = static_cast<int>(group);
        task.d = d;
        task.scale = params.scale;
        task.softcap = params.softcap;
        task.page_size = positions;
        task.pages = &kOnlyPage;
        task.key_bytes = task.value_bytes =
            kv_heads * d * static_cast<int64_t>(sizeof(float));
        task.scratch = scratch.of<float>(thread);
        const int64_t block = rows_together(rows, batch * kv_heads, threads);
        const int64_t blocks = (rows + block - 1) / block;
        // Later rows see more: threads take turns.
        for (int64_t unit = thread; unit < batch * blocks * kv_heads;
             unit += threads) {
          if (run.stopped(thread)) return;
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
