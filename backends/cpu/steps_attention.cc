// Steps of attention, over the paged cache and over tensors.
#include <algorithm>
#include <cmath>
#include <optional>

#include "cpu/kernels.h"
#include "cpu/pages.h"
#include "cpu/tiles.h"
#include "tensor/dtype.h"

namespace rc::cpu {
namespace {

// Bytes of scratch for one task of `group` heads of keys of d and values of v
// elements.
uint64_t task_scratch(int64_t group, int64_t d, int64_t v) {
  const uint64_t rounded = product(static_cast<uint64_t>(d) / 16 + 1, 16) +
                           product(static_cast<uint64_t>(v) / 16 + 1, 16);
  return product(product(rounded, kAttentionChunk) +
                     kAttentionHeads * kAttentionChunk +
                     product(static_cast<uint64_t>(group), 2 * kAttentionRows),
                 sizeof(float));
}

// Whether turning keys takes less time than sums across lanes. It has to be
// seen from the op alone, so that results stay the same whatever the rows are;
// where sequences are seen as a whole there are hardly ever few rows.
bool turns_keys(int64_t group, bool whole) { return group >= 4 || whole; }

// Rows that go together: their keys and values are made ready once. Fewer where
// threads would be left without work.
int64_t rows_together(int64_t rows, int64_t heads, int threads) {
  return std::clamp<int64_t>(rows * heads / (4 * threads), 1, kAttentionRows);
}

// Units at most, of up to `rows` rows.
int64_t most_units(int64_t rows, int64_t heads, int threads) {
  return 8 * threads + (rows / kAttentionRows + 2) * heads;
}

// The scratch of a thread that a unit of attention uses.
struct UnitScratch {
  float* task;
  float* results;  // [rows, group, v], until they are committed
  int32_t* pages;

  UnitScratch(float* base, int64_t group, int64_t d, int64_t v)
      : task(base),
        results(base + task_scratch(group, d, v) / sizeof(float)),
        pages(
            reinterpret_cast<int32_t*>(results + kAttentionRows * group * v)) {}
};

uint64_t attention_scratch(const Compiler& c, const Op& op) {
  const int64_t group =
      c.value(op.inputs[0]).shape[1] / c.value(op.inputs[1]).shape[1];
  const int64_t d = c.value(op.inputs[0]).shape[2];
  const int64_t v = c.value(op.outputs[0]).shape[2];
  return task_scratch(group, d, v) +
         product(product(static_cast<uint64_t>(group), v),
                 kAttentionRows * sizeof(float)) +
         product(static_cast<uint64_t>(c.columns(op.inputs[5])),
                 sizeof(int32_t));
}

// The parameters of GENERAL_ATTENTION beyond those of ATTENTION.
struct More {
  int64_t chunk = 0;
  float temperature = 0;
  int64_t temperature_length = 1;
  std::optional<AttentionTerms> terms;
};

// The units of an ATTENTION: a key/value head and a block of rows each.
struct AttentionUnits {
  Pages pages;
  AttentionTask base;
  AttentionFunction function;
  ThreadScratch scratch;
  Place x, y;
  int64_t dimension, heads, kv_heads, group, d, v, window;
  int threads;
  More more;

  int64_t count(const Run& run) const {
    const int64_t rows = run.rows(dimension);
    const int64_t block = rows_together(rows, kv_heads, threads);
    return (rows + block - 1) / block * kv_heads;
  }
  void work(Run& run, const Share& share) const;

 private:
  int64_t first_of(int64_t position) const {
    if (more.chunk > 0) return position / more.chunk * more.chunk;
    return window > 0 ? std::max<int64_t>(0, position - window + 1) : 0;
  }
  // Returns the number of temperature lengths before the end of a position;
  // rows of one task have the same.
  int64_t lengths_before(int64_t position) const {
    return more.temperature > 0 ? (position + 1) / more.temperature_length : 0;
  }
  // Takes as many rows from `r` on as are of one sequence and scale, and the
  // pages that they see. False: the unit is at its end, by a failure or because
  // what was read is no longer there.
  bool take_rows(Run& run, const Share& share, int64_t r, int64_t end,
                 int32_t* page_list, AttentionTask& task) const;
};

bool AttentionUnits::take_rows(Run& run, const Share& share, int64_t r,
                               int64_t end, int32_t* page_list,
                               AttentionTask& task) const {
  const int64_t sequence = pages.at(run, r).sequence;
  int64_t first_page = INT64_MAX;
  int64_t last_page = 0;
  int64_t before = 0;
  for (task.rows = 0; r + task.rows < end; ++task.rows) {
    const Pages::At at = pages.at(run, r + task.rows);
    if (!pages.has_entry(run, at)) {
      share.commit([&] { Pages::fail_entry(run, r + task.rows, at); });
      return false;
    }
    if (at.sequence != sequence) break;
    if (task.rows == 0) {
      before = lengths_before(at.position);
    } else if (lengths_before(at.position) != before) {
      break;
    }
    task.at[task.rows] = at.position;
    int64_t& first = task.first[task.rows];
    first = first_of(at.position);
    int64_t last = pages.last(run, at);
    if (last < 0) {  // of the first row: all of a sequence have its length
      share.commit([&] { Pages::fail_length(run, r, at); });
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
  if (more.temperature > 0) {
    const double raised =
        1 + more.temperature * std::log1p(static_cast<double>(before));
    task.scale = static_cast<float>(base.scale * raised);
  }
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
  const UnitScratch own(scratch.of<float>(share.thread), group, d, v);
  for (int64_t unit = share.begin; unit < share.end; ++unit) {
    if (share.thread == 0) run.stopped(0);
    if (share.units == nullptr && run.stopped()) return;
    const int64_t h = unit % kv_heads;
    const int64_t begin = unit / kv_heads * block;
    const int64_t end = std::min(rows, begin + block);
    const auto result = [&](int64_t r) {
      return run.at<float>(y) + (r * heads + h * group) * v;
    };
    AttentionTask task = base;
    task.keys += h * pages.page_size * task.key_bytes;
    task.values += h * pages.page_size * task.value_bytes;
    if (task.sinks != nullptr) task.sinks += h * group;
    task.scratch = own.task;
    task.pages = own.pages;
    task.y_stride = share.units != nullptr ? group * v : heads * v;
    AttentionTerms terms = more.terms.value_or(AttentionTerms{});
    if (terms.slopes != nullptr) terms.slopes += h * group;
    if (terms.distances != nullptr) terms.distances += h * group * terms.span;
    if (more.terms) task.terms = &terms;
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
        copy_lanes(own.results + (r - begin) * task.y_stride, group * v,
                   result(r));
      }
    });
  }
}

// Returns the number of the input with the values: that of the keys, if the op
// has no separate input for values.
int32_t input_of_values(const Op& op) {
  return op.inputs[op.inputs[2] < 0 ? 1 : 2];
}

void add_attention(Compiler& c, const Op& op, float scale, float softcap,
                   int64_t window, const More& more) {
  const rc_plugin_value& keys = c.value(op.inputs[1]);
  const rc_plugin_value& values = c.value(input_of_values(op));
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
  const int64_t v = c.value(op.outputs[0]).shape[2];
  const int64_t kv_heads = keys.shape[1];
  AttentionTask base{};
  base.q_stride = heads * d;
  base.group = static_cast<int>(heads / kv_heads);
  base.turns_keys = turns_keys(heads / kv_heads, whole);
  base.d = d;
  base.v = v;
  base.scale = scale;
  base.softcap = softcap;
  base.sinks = op.inputs[6] < 0 ? nullptr : c.elements(op.inputs[6]);
  base.page_size = pages.page_size;
  base.keys = c.cache(op.inputs[1]).memory;
  base.values = c.cache(input_of_values(op)).memory;
  base.key_bytes = static_cast<int64_t>(*row_bytes(keys.dtype, d));
  base.value_bytes =
      static_cast<int64_t>(*row_bytes(values.dtype, values.shape[3]));
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
                                v,
                                window,
                                c.threads(),
                                more};
  std::vector<Area> reads;
  for (int i = 0; i <= 2; ++i) {
    if (op.inputs[i] >= 0) reads.push_back(c.area(op.inputs[i]));
  }
  for (int i = 3; i <= 5; ++i) reads.push_back(c.kept_area(op.inputs[i]));
  if (whole) reads.push_back(c.kept_area(op.inputs[7]));
  c.add_repeatable(
      std::move(reads), {c.area(op.outputs[0])},
      // The length that rows look back is data; the work is worth sharing in
      // any case.
      [=](const Run& run) { return run.rows(dimension) * heads * d * 16; },
      [=](const Run& run) { return units.count(run); },
      [](const Run&) { return int64_t{1}; },
      most_units(c.max_rows(dimension), kv_heads, c.threads()),
      [=](Run& run, const Share& share) { units.work(run, share); });
}

void compile_attention(Compiler& c, const Op& op) {
  const auto& params = op.params.attention;
  add_attention(c, op, params.scale, params.softcap, params.window, {});
}

void compile_general_attention(Compiler& c, const Op& op) {
  const auto& params = op.params.general_attention;
  More more = {params.chunk, params.temperature, params.temperature_length, {}};
  const bool slopes = op.inputs[8] >= 0;
  const bool distances = op.inputs[9] >= 0;
  if (slopes || distances) {
    more.terms = AttentionTerms{slopes ? c.elements(op.inputs[8]) : nullptr,
                                distances ? c.elements(op.inputs[9]) : nullptr,
                                distances ? c.columns(op.inputs[9]) : 1};
  }
  add_attention(c, op, params.scale, params.softcap, params.window, more);
}

uint64_t attend_scratch(const Compiler& c, const Op& op) {
  return task_scratch(
      c.value(op.inputs[0]).shape[2] / c.value(op.inputs[1]).shape[2],
      c.value(op.inputs[0]).shape[3], c.value(op.inputs[0]).shape[3]);
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
        task.turns_keys = turns_keys(group, false);
        task.d = task.v = d;
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

}  // namespace

std::span<const OpRow> attention_ops() {
  static constexpr OpRow kOps[] = {{.code = RC_OP_ATTENTION,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_attention,
                                    .scratch = attention_scratch},
                                   {.code = RC_OP_GENERAL_ATTENTION,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_general_attention,
                                    .scratch = attention_scratch},
                                   {.code = RC_OP_ATTEND,
                                    .form = OpRow::kOnTensors,
                                    .compile = compile_attend,
                                    .scratch = attend_scratch}};
  return kOps;
}

}  // namespace rc::cpu
