// Functions that the ops on rows share.
#include "gpu/row_appender.h"

#include <algorithm>
#include <numeric>

#include "gpu/words.h"

namespace rc::gpu {

int64_t width_of(const rc_plugin_value& value) {
  int64_t width = 1;
  for (int i = 1; i < value.rank; ++i) width *= value.shape[i];
  return width;
}

uint64_t row_bytes_of(const rc_plugin_value& value) {
  return static_cast<uint64_t>(width_of(value)) * 4;
}

CacheRanges ranges_of(const Device& device, const rc_plugin_value& cache) {
  CacheRanges ranges = {};
  ranges.page_bytes = *row_bytes(cache.dtype, cache.shape[3]) *
                      static_cast<uint64_t>(cache.shape[1] * cache.shape[2]);
  const auto all = static_cast<uint64_t>(cache.shape[0]);
  const uint64_t limit = device.tuning().range;
  ranges.pages = std::min(limit / ranges.page_bytes, all);
  if (ranges.pages < all) {
    const uint64_t step =
        device.alignment() / std::gcd(device.alignment(), ranges.page_bytes);
    ranges.pages = ranges.pages / step * step;
  }
  ranges.count =
      ranges.pages == 0 ? UINT64_MAX : (all + ranges.pages - 1) / ranges.pages;
  return ranges;
}

std::vector<RowSlice> RowAppender::row_slices(
    const Placed& like, std::initializer_list<const Placed*> values) const {
  return row_slices(like, values, device.most_groups(1));
}

std::vector<RowSlice> RowAppender::row_slices(
    const Placed& like, std::initializer_list<const Placed*> values,
    uint64_t most) const {
  const int64_t symbol = like.value.shape[0];
  const auto all = static_cast<uint64_t>(resolve_dimension(symbol, limits_));
  uint64_t rows = std::min(all, most);
  uint64_t step = 1;
  for (const Placed* placed : values) {
    const uint64_t bytes = row_bytes_of(placed->value);
    rows = std::min(rows, tuning.range / bytes);
    // Powers of two all, so that the largest is a multiple of the others.
    step = std::max(step,
                    device.alignment() / std::gcd(device.alignment(), bytes));
  }
  if (rows < all) rows = rows / step * step;
  if (rows == 0 && all > 0) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), ": ", step,
         " rows of its values cannot be bound; the device allows ",
         tuning.range, " bytes");
  }
  std::vector<RowSlice> found;
  for (uint64_t first = 0; first < all; first += rows) {
    found.push_back({symbol == RC_DIM_OUTPUTS ? 1u : 0u,
                     static_cast<uint32_t>(first),
                     static_cast<uint32_t>(std::min(rows, all - first))});
  }
  return found;
}

Region RowAppender::part(const Placed& placed, const RowSlice& rows) const {
  const uint64_t bytes = row_bytes_of(placed.value);
  return placed.region.part(rows.first * bytes, rows.limit * bytes);
}

Dispatch& RowAppender::append(Kernel kernel, std::vector<uint32_t> constants,
                              const RowSlice& rows,
                              std::vector<uint32_t> parameters) {
  Dispatch dispatch = {};
  dispatch.op = number_;
  dispatch.kernel = kernel;
  dispatch.constants = std::move(constants);
  dispatch.parameters = {rows.symbol, rows.first, rows.limit};
  dispatch.parameters.insert(dispatch.parameters.end(), parameters.begin(),
                             parameters.end());
  dispatch.rows.symbol = rows.symbol;
  dispatch.rows.first = rows.first;
  dispatch.rows.limit = rows.limit;
  dispatches_->push_back(std::move(dispatch));
  return dispatches_->back();
}

void RowAppender::bind(Dispatch& dispatch, uint32_t slot, const Placed& placed,
                       const RowSlice& rows, bool quads) const {
  if (placed.weight != nullptr) {
    const Buffer* buffer = placed.weight->slices[0].buffer.get();
    dispatch.bindings.push_back({slot, {buffer, 0, buffer->bytes()}, quads});
  } else {
    dispatch.bindings.push_back({slot, part(placed, rows), quads});
  }
}

void RowAppender::bind_weight(Dispatch& dispatch,
                              const Weight::Slice& slice) const {
  const Region region = {slice.buffer.get(), 0, slice.buffer->bytes()};
  dispatch.bindings.push_back({3, region, false});
  dispatch.bindings.push_back({4, region, true});
}

void RowAppender::spread(Dispatch& dispatch, uint32_t groups) const {
  dispatch.z = divided(groups, device.most_groups(0));
  dispatch.x = divided(groups, dispatch.z);
}

std::vector<uint32_t> RowAppender::weight_constants(const Weight& weight,
                                                    uint32_t lanes) const {
  std::vector<uint32_t> constants = {
      lanes, static_cast<uint32_t>(weight.layout.tile_rows)};
  const std::vector<uint32_t> of_type =
      device.packing().constants(weight.dtype);
  constants.insert(constants.end(), of_type.begin(), of_type.end());
  return constants;
}

}  // namespace rc::gpu
