// Steps that store keys and values in the paged cache.
#include <algorithm>
#include <cstring>

#include "cpu/chunks.h"
#include "cpu/pages.h"
#include "tensor/dtype.h"

namespace rc::cpu {
namespace {

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
  uint8_t* data = c.cache(cache).memory;
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
            const float* first = from + begin * heads * d;
            const int64_t count = (end - begin) * heads * d;
            if (dtype == RC_DTYPE_F16 && run.kernels.to_f16 != nullptr) {
              run.kernels.to_f16(first, count,
                                 reinterpret_cast<uint16_t*>(own));
            } else {
              encode_row(dtype, first, own, count);
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

}  // namespace

std::span<const OpRow> cache_store_ops() {
  static constexpr OpRow kOps[] = {{.code = RC_OP_CACHE_STORE,
                                    .form = OpRow::kOnRows,
                                    .compile = compile_cache_store}};
  return kOps;
}

}  // namespace rc::cpu
