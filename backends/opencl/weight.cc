#include "opencl/weight.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::opencl {
namespace {

// Host memory for what is on its way to the device, in whole tiles.
constexpr uint64_t kStagingBytes = 8u << 20;

rc_plugin_value value_of(const rc_plugin_weight_info& info) {
  rc_plugin_value value{};
  value.dtype = info.dtype;
  value.rank = info.rank;
  std::copy(std::begin(info.shape), std::end(info.shape), value.shape);
  value.storage = RC_STORAGE_WEIGHT;
  return value;
}

// The rows from `row` on, as many as there are, to one tile; see blocks.cl.
// kUnit is the number of bytes that stay together.
template <int kUnit>
void interleave(const WeightLayout& layout, int tile, const uint8_t* source,
                int64_t row, uint8_t* target) {
  const int64_t count = std::min<int64_t>(tile, layout.rows - row);
  const auto units = static_cast<int64_t>(layout.row_bytes / kUnit);
  const uint8_t* const from = source + row * layout.row_bytes;
  // As many units at a time as share a cache line with their neighbours.
  constexpr int64_t kRun = 64 / kUnit;
  for (int64_t begin = 0; begin < units; begin += kRun) {
    const int64_t end = std::min(begin + kRun, units);
    for (int64_t lane = 0; lane < count; ++lane) {
      const uint8_t* in = from + lane * layout.row_bytes;
      for (int64_t unit = begin; unit < end; ++unit) {
        std::memcpy(target + (unit * tile + lane) * kUnit, in + unit * kUnit,
                    kUnit);
      }
    }
  }
}

void interleave(const WeightLayout& layout, int tile, const uint8_t* source,
                int64_t row, uint8_t* target) {
  switch (layout.unit_bytes) {
    case 1:
      return interleave<1>(layout, tile, source, row, target);
    case 2:
      return interleave<2>(layout, tile, source, row, target);
    case 4:
      return interleave<4>(layout, tile, source, row, target);
    default:
      return interleave<8>(layout, tile, source, row, target);
  }
}

void upload_tiles(const Device& device, const WeightLayout& layout,
                  const uint8_t* source, cl_mem memory) {
  const int tile = device.tuning().tile;
  const uint64_t at_once = std::clamp<uint64_t>(
      kStagingBytes / layout.tile_bytes, 1, layout.bytes / layout.tile_bytes);
  std::vector<uint8_t> staging(at_once * layout.tile_bytes);
  uint64_t filled = 0;
  uint64_t written = 0;
  const auto flush = [&] {
    device.write(memory, written, staging.data(), filled);
    written += filled;
    filled = 0;
  };
  for (int64_t matrix = 0; matrix < layout.matrices; ++matrix) {
    const uint8_t* rows = source + matrix * layout.rows * layout.row_bytes;
    for (int64_t row = 0; row < layout.rows; row += tile) {
      uint8_t* target = staging.data() + filled;
      if (layout.rows - row < tile) {
        std::memset(target, 0, layout.tile_bytes);
      }
      interleave(layout, tile, rows, row, target);
      filled += layout.tile_bytes;
      if (filled == staging.size()) flush();
    }
  }
  flush();
}

}  // namespace

const char* undecodable(const Device& device, rc_dtype dtype) {
  const DTypeInfo* type = dtype_info(dtype);
  if (type == nullptr || !type->decodable) return "there is no decoder for it";
  if (dtype == RC_DTYPE_F64 && !device.doubles()) {
    return "the device has no double precision (cl_khr_fp64)";
  }
  return "";
}

WeightLayout weight_layout(const Device& device,
                           const rc_plugin_weight_info& info) {
  const char* name = info.name != nullptr ? info.name : "(unnamed)";
  const rc_plugin_value value = value_of(info);
  check_value(value);
  const char* reason = undecodable(device, info.dtype);
  if (*reason != '\0') {
    fail(RC_E_UNSUPPORTED, "weight ", name, " is of type ",
         dtype_name(info.dtype), ": ", reason);
  }
  const DTypeInfo& type = *dtype_info(info.dtype);
  const uint64_t plain = value_bytes(value, {}).value();
  constexpr uint32_t kMatrix = RC_USE_ROWS | RC_USE_LINEAR | RC_USE_EXPERTS;
  const bool matrix = (info.uses & kMatrix) != 0;
  if ((info.uses & RC_USE_ELEMENTS) != 0 &&
      (matrix || info.dtype != RC_DTYPE_F32)) {
    fail(RC_E_UNSUPPORTED, "weight ", name, " of type ", type.name,
         " is read by elements", matrix ? " and as a matrix" : "",
         "; it must be F32 and nothing else");
  }
  WeightLayout layout{};
  layout.bytes = plain;
  if (!matrix) return layout;
  if (info.rank < 2) {
    fail(RC_E_INVALID_ARGUMENT, "weight ", name, " is a matrix of rank ",
         info.rank);
  }
  layout.rows = info.shape[info.rank - 2];
  layout.matrices = 1;
  for (int i = 0; i + 2 < info.rank; ++i) layout.matrices *= info.shape[i];
  layout.row_bytes = row_bytes(info.dtype, info.shape[info.rank - 1]).value();
  layout.unit_bytes =
      type.block_size == 1 ? static_cast<uint64_t>(type.block_bytes) : 1;
  const int tile = device.tuning().tile;
  const uint64_t tiles = (static_cast<uint64_t>(layout.rows) + tile - 1) / tile;
  const auto tile_bytes =
      checked_mul(layout.row_bytes, static_cast<uint64_t>(tile));
  const auto matrix_bytes =
      tile_bytes ? checked_mul(*tile_bytes, tiles) : std::nullopt;
  const auto bytes =
      matrix_bytes
          ? checked_mul(*matrix_bytes, static_cast<uint64_t>(layout.matrices))
          : std::nullopt;
  if (!bytes) {
    fail(RC_E_INVALID_ARGUMENT, "weight ", name, ", ", value_text(value),
         ", is too large");
  }
  layout.tile_bytes = *tile_bytes;
  layout.matrix_bytes = *matrix_bytes;
  layout.bytes = *bytes;
  return layout;
}

}  // namespace rc::opencl

rc_plugin_weight::rc_plugin_weight(rc::opencl::Device& device,
                                   const rc_plugin_weight_info& info,
                                   const void* data)
    : layout(rc::opencl::weight_layout(device, info)),
      dtype(info.dtype),
      shape(info.shape, info.shape + info.rank),
      memory(device.allocate(layout.bytes, false)) {
  if (layout.tile_bytes == 0) {
    device.write(memory.get(), 0, data, layout.bytes);
  } else {
    rc::opencl::upload_tiles(device, layout, static_cast<const uint8_t*>(data),
                             memory.get());
  }
}
