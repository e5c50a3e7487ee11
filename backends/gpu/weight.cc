#include "gpu/weight.h"

#include <algorithm>

#include "base/error.h"
#include "common/weight_value.h"
#include "tensor/op.h"

namespace rc::gpu {
namespace {

// Beyond any memory; below, sizes with all padding fit 64 bits.
constexpr uint64_t kLargestWeight = uint64_t{1} << 50;
// Tiles are packed and uploaded in parts of about so many bytes.
constexpr uint64_t kPart = uint64_t{4} << 20;

const char* name_of(const rc_plugin_weight_info& info) {
  return info.name != nullptr ? info.name : "(unnamed)";
}

// Of a weight that is read by elements.
void lay_out_elements(const rc_plugin_weight_info& info, uint64_t limit,
                      WeightLayout* layout) {
  if (info.dtype != RC_DTYPE_F32) {
    fail(RC_E_UNSUPPORTED, "weight ", name_of(info), " is read by elements as ",
         dtype_name(info.dtype), "; it must be F32");
  }
  layout->bytes = static_cast<uint64_t>(layout->columns * layout->rows) *
                  layout->matrices * sizeof(float);
  if (layout->bytes > limit) {
    fail(RC_E_UNSUPPORTED, "weight ", name_of(info), " has ", layout->bytes,
         " bytes; the device can bind ", limit);
  }
}

}  // namespace

WeightLayout weight_layout(const Device& device,
                           const rc_plugin_weight_info& info) {
  const rc_plugin_value value = weight_value(info);
  check_value(value);
  if (*value_bytes(value, {}) > kLargestWeight) {
    fail(RC_E_DEVICE_MEMORY, "weight ", name_of(info), ", ", value_text(value),
         ", is larger than any device's memory");
  }
  const Packing& packing = device.packing();
  const char* reason = packing.undecodable(info.dtype);
  if (*reason != '\0') {
    fail(RC_E_UNSUPPORTED, "weight ", name_of(info), " is of type ",
         dtype_name(info.dtype), ": ", reason);
  }
  WeightLayout layout = {};
  layout.columns = info.shape[info.rank - 1];
  layout.matrices = info.rank > 2 ? static_cast<uint64_t>(info.shape[0]) : 1;
  layout.rows = 1;
  for (int i = info.rank > 2 ? 1 : 0; i + 1 < info.rank; ++i) {
    layout.rows *= info.shape[i];
  }
  const uint64_t limit = device.tuning().range;
  constexpr uint32_t kMatrix = RC_USE_ROWS | RC_USE_LINEAR | RC_USE_EXPERTS;
  layout.elements = (info.uses & kMatrix) == 0;
  if (layout.elements) {
    lay_out_elements(info, limit, &layout);
    return layout;
  }
  if ((info.uses & RC_USE_ELEMENTS) != 0) {
    fail(RC_E_UNSUPPORTED, "weight ", name_of(info),
         " is used by elements and as a matrix");
  }
  layout.tile_rows = device.tuning().tile;
  layout.tile_bytes =
      packing.tile_bytes(info.dtype, layout.columns, layout.tile_rows);
  layout.tiles = (static_cast<uint64_t>(layout.rows) + layout.tile_rows - 1) /
                 layout.tile_rows;
  // The last dimension of a work-group's number is small.
  layout.slice_tiles =
      std::min<uint64_t>({limit / layout.tile_bytes, device.most_groups(0),
                          layout.tiles * layout.matrices});
  if (layout.slice_tiles == 0) {
    fail(RC_E_UNSUPPORTED, "weight ", name_of(info), ": ", layout.tile_rows,
         " rows have ", layout.tile_bytes, " bytes; the device can bind ",
         limit);
  }
  layout.bytes = layout.tiles * layout.matrices * layout.tile_bytes;
  return layout;
}

Weight::Weight(Device& device, const rc_plugin_weight_info& info,
               const void* data)
    : name(name_of(info)),
      dtype(info.dtype),
      shape(info.shape, info.shape + info.rank),
      layout(weight_layout(device, info)),
      packing_(device.packing()) {
  if (layout.elements) {
    slices.push_back({device.allocate(layout.bytes, MemoryUse::kDevice), 0, 0});
    slices[0].buffer->write(0, data, layout.bytes);
    return;
  }
  const uint64_t all = layout.tiles * layout.matrices;
  for (uint64_t first = 0; first < all; first += layout.slice_tiles) {
    const uint64_t tiles = std::min(layout.slice_tiles, all - first);
    slices.push_back(
        {device.allocate(tiles * layout.tile_bytes, MemoryUse::kDevice), first,
         tiles});
    upload_tiles(static_cast<const uint8_t*>(data), &slices.back());
  }
}

void Weight::upload_tiles(const uint8_t* source, Slice* slice) const {
  const uint64_t source_bytes = *row_bytes(dtype, layout.columns);
  const uint64_t part = std::max<uint64_t>(kPart / layout.tile_bytes, 1);
  const auto rows = static_cast<uint64_t>(layout.rows);
  std::vector<uint8_t> packed;
  for (uint64_t begin = 0; begin < slice->tiles; begin += part) {
    const uint64_t count = std::min(part, slice->tiles - begin);
    // Packers add bits to words that are zero.
    packed.assign(count * layout.tile_bytes, 0);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t tile = slice->first_tile + begin + i;
      const uint64_t matrix = tile / layout.tiles;
      const uint64_t row = tile % layout.tiles * layout.tile_rows;
      const uint64_t filled = std::min(layout.tile_rows, rows - row);
      uint8_t* const to = packed.data() + i * layout.tile_bytes;
      packing_.pack(dtype, layout.columns, layout.tile_rows, filled,
                    source + (matrix * rows + row) * source_bytes, to);
    }
    slice->buffer->write(begin * layout.tile_bytes, packed.data(),
                         packed.size());
  }
}

}  // namespace rc::gpu
