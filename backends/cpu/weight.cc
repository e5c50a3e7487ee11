#include "cpu/weight.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include "base/compute_thread.h"
#include "base/error.h"
#include "cpu/kernels.h"
#include "cpu/tiles.h"
#include "tensor/dtype.h"

namespace rc::cpu {
namespace {

const char* name_of(const rc_plugin_weight_info& info) {
  return info.name != nullptr ? info.name : "(unnamed)";
}

uint64_t product(const rc_plugin_weight_info& info, uint64_t a, uint64_t b) {
  uint64_t result;
  if (__builtin_mul_overflow(a, b, &result) || result > INT64_MAX) {
    fail(RC_E_INVALID_ARGUMENT, "weight ", name_of(info), " is too large");
  }
  return result;
}

// Calls work(thread, begin, end) for parts of 0 to `count` that together are
// all of it, on up to `threads` threads: the caller's, which is thread 0, and
// new ones, as the device's own may be busy with a program. What the system
// refuses the caller does itself. `work` must not throw.
template <class Work>
void share_out(int64_t count, int threads, const Work& work) {
  std::vector<std::thread> team;
  team.reserve(static_cast<size_t>(threads));
  int64_t done = 0;
  for (int i = 1; i < threads; ++i) {
    const int64_t end = count / threads * i;
    try {
      team.emplace_back([&work, i, done, end] {
        become_compute_thread();
        work(i, done, end);
      });
    } catch (const std::exception&) {
      break;
    }
    done = end;
  }
  work(0, done, count);
  for (std::thread& thread : team) thread.join();
}

}  // namespace

WeightLayout weight_layout(const rc_plugin_weight_info& info) {
  const char* name = name_of(info);
  if (info.rank < 1 || info.rank > RC_PLUGIN_MAX_RANK) {
    fail(RC_E_INVALID_ARGUMENT, "weight ", name, " has rank ", info.rank,
         "; 1 to ", RC_PLUGIN_MAX_RANK, " are possible");
  }
  uint64_t rows = 1;
  for (int i = 0; i < info.rank; ++i) {
    if (info.shape[i] < 1) {
      fail(RC_E_INVALID_ARGUMENT, "weight ", name, ": dimension ", i, " is ",
           info.shape[i]);
    }
    if (i + 1 < info.rank) {
      rows = product(info, rows, static_cast<uint64_t>(info.shape[i]));
    }
  }
  WeightLayout layout{};
  layout.columns = info.shape[info.rank - 1];
  layout.matrices = 1;
  layout.rows = static_cast<int64_t>(rows);
  // Rows that are read one by one are what the weight's are.
  const rc_dtype tile = (info.uses & RC_USE_ROWS) != 0
                            ? tile_dtype(info.dtype)
                            : product_tile_dtype(info.dtype, layout.columns);
  if (tile < 0) {
    fail(RC_E_UNSUPPORTED, "weight ", name, " has type ",
         dtype_name(info.dtype), ", which cannot be decoded");
  }
  const auto source_bytes = row_bytes(info.dtype, layout.columns);
  if (!source_bytes) {
    fail(RC_E_INVALID_ARGUMENT, "weight ", name, ": rows of ", layout.columns,
         " elements are no whole blocks of type ", dtype_name(info.dtype));
  }
  layout.source_row_bytes = *source_bytes;

  constexpr uint32_t matrix_uses = RC_USE_ROWS | RC_USE_LINEAR | RC_USE_EXPERTS;
  layout.tiles = (info.uses & matrix_uses) != 0;
  if (layout.tiles && (info.uses & RC_USE_ELEMENTS) != 0) {
    fail(RC_E_UNSUPPORTED, "weight ", name,
         " is used as elements and as a matrix");
  }
  if (!layout.tiles) {
    layout.dtype = RC_DTYPE_F32;
    layout.bytes =
        product(info, product(info, rows, layout.columns), sizeof(float));
    return layout;
  }
  layout.dtype = tile;
  if (info.rank > 2) {
    layout.matrices = info.shape[0];
    layout.rows /= layout.matrices;
  }
  layout.tiles_per_matrix =
      layout.rows / kTileRows + (layout.rows % kTileRows != 0);
  const auto stored_bytes = tile_bytes(tile, layout.columns);
  if (!stored_bytes) {
    fail(RC_E_INVALID_ARGUMENT, "weight ", name, " is too large");
  }
  layout.tile_bytes = *stored_bytes;
  layout.bytes =
      product(info, product(info, layout.matrices, layout.tiles_per_matrix),
              layout.tile_bytes);
  return layout;
}

}  // namespace rc::cpu

using rc::cpu::kTileRows;

rc_plugin_weight::rc_plugin_weight(const rc_plugin_weight_info& info,
                                   const void* source,
                                   const rc::cpu::Kernels& kernels, int threads,
                                   const rc::cpu::Nodes& nodes)
    : layout(rc::cpu::weight_layout(info)),
      dtype(info.dtype),
      rank(info.rank),
      data(nodes.allocate(layout.bytes, layout.matrices)) {
  std::copy_n(info.shape, RC_PLUGIN_MAX_RANK, shape);
  const auto* from = static_cast<const uint8_t*>(source);
  // With less to do a thread takes longer to start than to work.
  constexpr uint64_t kLeastBytes = 1 << 20;
  const int team = static_cast<int>(std::clamp<uint64_t>(
      layout.bytes / kLeastBytes, 1, static_cast<uint64_t>(threads)));
  if (!layout.tiles) {
    const rc::Decoder decode = rc::find_decoder(dtype);
    rc::cpu::share_out(layout.rows, team, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        decode(from + i * layout.source_row_bytes,
               reinterpret_cast<float*>(data.get()) + i * layout.columns,
               layout.columns);
      }
    });
    return;
  }
  std::vector<float> decoded(rc::cpu::is_decoded(dtype)
                                 ? static_cast<size_t>(team * layout.columns)
                                 : 0);
  rc::cpu::share_out(
      layout.matrices * layout.tiles_per_matrix, team,
      [&](int thread, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          pack(kernels, from, i / layout.tiles_per_matrix,
               i % layout.tiles_per_matrix, data.get() + i * layout.tile_bytes,
               decoded.empty() ? nullptr
                               : decoded.data() + thread * layout.columns);
        }
      });
}

rc_plugin_weight::rc_plugin_weight(const rc_plugin_weight_info& info,
                                   const void* source, int64_t copies,
                                   const rc::cpu::Nodes& nodes)
    : layout(rc::cpu::weight_layout(info)),
      dtype(info.dtype),
      rank(info.rank),
      mapped(static_cast<const uint8_t*>(source)) {
  std::copy_n(info.shape, RC_PLUGIN_MAX_RANK, shape);
  if (!layout.tiles) {
    rc::fail(RC_E_UNSUPPORTED, "weight ", rc::cpu::name_of(info),
             " is used as elements, of a copy");
  }
  if (copies == 0) return;
  if (copies < 0 || copies > layout.matrices) {
    rc::fail(RC_E_INVALID_ARGUMENT, "weight ", rc::cpu::name_of(info), " has ",
             layout.matrices, " experts; copies of ", copies, " are asked for");
  }
  hot = std::make_unique<rc::cpu::HotExperts>(
      layout.matrices, copies,
      static_cast<uint64_t>(layout.tiles_per_matrix) * layout.tile_bytes,
      nodes);
}

void rc_plugin_weight::pack(const rc::cpu::Kernels& kernels,
                            const uint8_t* source, int64_t matrix,
                            int64_t index, uint8_t* tile, float* row) const {
  const int64_t first = index * kTileRows;
  rc::cpu::pack_tile(
      kernels, dtype, layout.dtype,
      source + (matrix * layout.rows + first) * layout.source_row_bytes,
      layout.source_row_bytes,
      static_cast<int>(std::min<int64_t>(kTileRows, layout.rows - first)),
      layout.columns, tile, row);
}

uint64_t rc_plugin_weight::scratch_bytes(int64_t count) const {
  if (mapped == nullptr) return 0;
  const uint64_t row =
      rc::cpu::is_decoded(dtype) ? layout.columns * sizeof(float) : 0;
  return static_cast<uint64_t>(count) * layout.tile_bytes + row;
}

const uint8_t* rc_plugin_weight::tiles(const rc::cpu::Kernels& kernels,
                                       int64_t matrix, int64_t first,
                                       int64_t count, uint8_t* scratch) const {
  if (mapped == nullptr) {
    return data.get() +
           (matrix * layout.tiles_per_matrix + first) * layout.tile_bytes;
  }
  if (const uint8_t* copy = hot ? hot->copy_of(matrix) : nullptr) {
    return copy + first * layout.tile_bytes;
  }
  auto* row = reinterpret_cast<float*>(scratch + count * layout.tile_bytes);
  for (int64_t i = 0; i < count; ++i) {
    pack(kernels, mapped, matrix, first + i, scratch + i * layout.tile_bytes,
         row);
  }
  return scratch;
}

void rc_plugin_weight::fill(const rc::cpu::Kernels& kernels, int64_t matrix,
                            int64_t index, uint8_t* scratch) const {
  pack(kernels, mapped, matrix, index,
       hot->copy_of(matrix) + index * layout.tile_bytes,
       reinterpret_cast<float*>(scratch));
}

rc_plugin_weight::Products rc_plugin_weight::products(
    const rc::cpu::Kernels& kernels) const {
  const bool by_rows = mapped != nullptr && layout.dtype == rc::cpu::kQuants16;
  return {kernels.linear(layout.dtype),
          by_rows ? kernels.linear_of_rows(dtype) : nullptr};
}

void rc_plugin_weight::multiply(const rc::cpu::Kernels& kernels,
                                const Products& products, int64_t matrix,
                                int64_t first, rc::cpu::LinearTask& task,
                                uint8_t* scratch) const {
  task.prefetch_offset = 0;
  if (mapped != nullptr &&
      (hot == nullptr || hot->copy_of(matrix) == nullptr)) {
    const uint8_t* rows = mapped + (matrix * layout.rows + first * kTileRows) *
                                       layout.source_row_bytes;
    if (products.of_rows != nullptr && task.rows < rc::cpu::kRowsForTiles) {
      task.tile = rows;
      task.weight_step = static_cast<int64_t>(layout.source_row_bytes);
      return products.of_rows(task);
    }
    // The memory that is read after the tiles. They are parts of different
    // objects.
    task.prefetch_offset =
        reinterpret_cast<intptr_t>(rows + task.tiles * kTileRows *
                                              layout.source_row_bytes) -
        reinterpret_cast<intptr_t>(scratch);
  }
  task.tile = tiles(kernels, matrix, first, task.tiles, scratch);
  products.of_tiles(task);
}

const uint8_t* rc_plugin_weight::tile_of_row(const rc::cpu::Kernels& kernels,
                                             int64_t row, uint8_t* scratch,
                                             int* lane) const {
  if (mapped == nullptr) {
    *lane = static_cast<int>(row % kTileRows);
    return tiles(kernels, 0, row / kTileRows, 1, scratch);
  }
  // The other rows are not even read.
  *lane = 0;
  rc::cpu::pack_tile(kernels, dtype, layout.dtype,
                     mapped + row * layout.source_row_bytes,
                     layout.source_row_bytes, 1, layout.columns, scratch,
                     reinterpret_cast<float*>(scratch + layout.tile_bytes));
  return scratch;
}
