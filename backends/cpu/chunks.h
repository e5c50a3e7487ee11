// Steps that make a value chunk by chunk, each from what lies in the same place
// of other values.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu/compiler.h"

namespace rc::cpu {

// The chunks of the elements of rows.
struct Chunks {
  int64_t dimension;  // of the rows
  int64_t row;        // elements of a row
  int64_t chunk;      // of a chunk; the last one of a row may have fewer
  int64_t cost;       // of an element

  int64_t per_row() const { return row / chunk + (row % chunk != 0); }
  // The first element of chunk i, and how many it has.
  int64_t begin(int64_t i) const {
    return i / per_row() * row + i % per_row() * chunk;
  }
  int64_t size(int64_t i) const {
    return std::min(chunk, row - i % per_row() * chunk);
  }
  // Those of all rows that go together, so that threads have several pieces
  // each, but not more than taking one costs; and the most of them.
  int64_t together(int64_t all, int threads) const {
    return std::clamp<int64_t>(all / (4 * threads), 1, most_together());
  }
  int64_t most_together() const {
    return std::max<int64_t>(1, kCost / std::min(kCost, chunk) / cost);
  }
  int64_t pieces(int64_t rows, int threads) const {
    const int64_t all = rows * per_row();
    const int64_t each = together(all, threads);
    return (all + each - 1) / each;
  }
  // Of up to `rows` rows.
  int64_t most_pieces(int64_t rows, int threads) const {
    return 8 * threads + rows * per_row() / most_together() + 1;
  }

  static constexpr int64_t kCost = 16384;  // of a piece
};

// Adds a step that makes value `y` as `form` says. It calls
// function(run, thread, at, count, floats, blocks) for each chunk, of `count`
// elements from `at`, to put the results there; NULL: they are not wanted so.
template <class Function>
void add_chunks(Compiler& c, std::vector<Area> reads, int32_t y,
                const Compiler::OutputForm& form, const Chunks& chunks,
                Function function) {
  std::vector<Area> writes;
  if (form.blocks) writes.push_back(c.activations_area());
  if (form.floats) writes.push_back(c.area(y));
  const uint64_t elements = product(chunks.most_together(), chunks.chunk);
  const uint64_t float_bytes =
      form.floats ? product(elements, sizeof(float)) / 64 * 64 + 64 : 0;
  // Of so many elements, which are whole blocks.
  const auto bytes_of = [form = form.form](int64_t count) {
    return activation_bytes(form, count);
  };
  const uint64_t block_bytes =
      form.blocks
          ? static_cast<uint64_t>(bytes_of(static_cast<int64_t>(elements)))
          : 0;
  const ThreadScratch* results = c.result_scratch(float_bytes + block_bytes);
  // Tensors may be gone before a thread that comes late.
  const bool of_tensors =
      std::any_of(reads.begin(), reads.end(),
                  [](const Area& area) { return area.kind == Area::kCache; });
  const Place place = c.place(y);
  const int threads = c.threads();
  c.add_repeatable(
      std::move(reads), std::move(writes),
      [=](const Run& run) {
        return run.rows(chunks.dimension) * chunks.row * chunks.cost;
      },
      [=](const Run& run) {
        return chunks.pieces(run.rows(chunks.dimension), threads);
      },
      [](const Run&) { return int64_t{1}; },
      of_tensors ? 0
                 : chunks.most_pieces(c.max_rows(chunks.dimension), threads),
      [=](Run& run, const Share& share) {
        const int64_t all = run.rows(chunks.dimension) * chunks.per_row();
        const int64_t together = chunks.together(all, threads);
        for (int64_t i = share.begin; i < share.end; ++i) {
          if (share.units == nullptr && (i - share.begin) % 4 == 0 &&
              run.stopped(share.thread)) {
            return;
          }
          const int64_t first = i * together;
          const int64_t end = std::min(first + together, all);
          // Of a run that is over.
          if (first >= end) return;
          const int64_t begin = chunks.begin(first);
          float* floats = nullptr;
          uint8_t* blocks = nullptr;
          if (share.units != nullptr) {
            auto* own = results->of<uint8_t>(share.thread);
            if (form.floats) floats = reinterpret_cast<float*>(own);
            if (form.blocks) blocks = own + float_bytes;
          } else {
            if (form.floats) floats = run.at<float>(place) + begin;
            if (form.blocks) blocks = form.blocks + bytes_of(begin);
          }
          for (int64_t k = first; k < end; ++k) {
            const int64_t at = chunks.begin(k);
            function(run, share.thread, at, chunks.size(k),
                     floats ? floats + (at - begin) : nullptr,
                     blocks ? blocks + bytes_of(at - begin) : nullptr);
          }
          share.commit([&] {
            if (share.units == nullptr) return;
            const int64_t count = chunks.begin(end) - begin;
            if (floats)
              std::copy_n(floats, count, run.at<float>(place) + begin);
            if (blocks) {
              std::copy_n(blocks, bytes_of(count),
                          form.blocks + bytes_of(begin));
            }
          });
        }
      });
}

}  // namespace rc::cpu
