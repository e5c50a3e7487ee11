#include "files/folder/tensor_view.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/portable_math.h"
#include "base/quote.h"

namespace rc::folder {
namespace {

// The number of elements that are converted at once.
constexpr uint64_t kChunk = 16384;  // elements
// The bytes that are read at once of a line of which some elements are needed.
constexpr uint64_t kLineBytes = uint64_t{64} << 10;

uint64_t element_bytes(DType dtype) {
  return static_cast<uint64_t>(dtype_info(dtype)->block_bytes);
}

// The same bits on every machine, as what is converted is to have.
float minus_exp(float x) {
  if (std::isnan(x)) return x;
  // Beyond these it is 0 or infinite.
  constexpr double kFar = 200.0;
  return static_cast<float>(-portable_exp(std::clamp(double{x}, -kFar, kFar)));
}

// Copies elements that lie `stride` elements apart.
void copy_elements(const std::byte* source, uint64_t stride, std::byte* target,
                   uint64_t target_stride, uint64_t count, uint64_t size) {
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(target + i * target_stride * size, source + i * stride * size,
                size);
  }
}

}  // namespace

uint64_t TensorView::bytes() const {
  uint64_t bytes = element_bytes(dtype);
  for (const int64_t size : shape) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

void TensorView::read(uint64_t offset, std::span<std::byte> target) const {
  if (slabs.empty()) {
    const auto data = std::as_bytes(std::span(made));
    std::ranges::copy(data.subspan(offset, target.size()), target.begin());
    return;
  }
  const uint64_t size = element_bytes(dtype);
  const bool as_it_is = dtype == folder_dtype && change == Change::kNone;
  std::vector<std::byte> source;
  std::vector<float> values;
  std::vector<std::byte> rounded;
  while (!target.empty()) {
    const uint64_t first = offset / size;
    const uint64_t skipped = offset % size;
    if (as_it_is && skipped == 0 && target.size() >= size) {
      const uint64_t whole = target.size() / size * size;
      gather(first, target.first(whole));
      target = target.subspan(whole);
      offset += whole;
      continue;
    }
    // Of what stays as it is, an element of which a part is wanted.
    const uint64_t count = std::min(
        as_it_is ? 1 : kChunk, (skipped + target.size() + size - 1) / size);
    source.resize(count * element_bytes(folder_dtype));
    gather(first, source);
    std::span<const std::byte> result = source;
    if (!as_it_is) {
      values.resize(count);
      convert(first, source, values);
      result = std::as_bytes(std::span(values));
      if (dtype != RC_DTYPE_F32) {
        rounded.resize(count * size);
        encode_row(dtype, values.data(), rounded.data(),
                   static_cast<int64_t>(count));
        result = rounded;
      }
    }
    result = result.subspan(skipped);
    result = result.first(std::min(result.size(), target.size()));
    std::ranges::copy(result, target.begin());
    target = target.subspan(result.size());
    offset += result.size();
  }
}

void TensorView::convert(uint64_t first, std::span<const std::byte> source,
                         std::span<float> target) const {
  decode_row(folder_dtype, source.data(), target.data(),
             static_cast<int64_t>(target.size()));
  for (float& value : target) {
    if (change == Change::kPlusOne) value += 1.0f;
    if (change == Change::kMinusExp) {
      value = minus_exp(value);
    }
  }
  if (change != Change::kTimes) return;
  for (size_t i = 0; i < target.size(); ++i) {
    target[i] *= slabs[(first + i) / (rows * columns)].factor;
  }
}

uint64_t TensorView::row_in_folder(uint64_t row) const {
  if (heads == 0) return row;
  const uint64_t head_rows = rows / heads;
  const uint64_t in_head = row % head_rows;
  return row - in_head + in_head % 2 * (head_rows / 2) + in_head / 2;
}

uint64_t TensorView::column_in_folder(uint64_t column) const {
  if (pieces.groups == 0) return column;
  const uint64_t piece = column / pieces.size;
  const uint64_t in_folder =
      piece % pieces.groups * pieces.each + piece / pieces.groups;
  return in_folder * pieces.size + column % pieces.size;
}

void TensorView::gather(uint64_t first, std::span<std::byte> target) const {
  const uint64_t size = element_bytes(folder_dtype);
  while (!target.empty()) {
    const uint64_t left = target.size() / size;
    const Slab& slab = slabs[first / (rows * columns)];
    const uint64_t row = first / columns % rows;
    const uint64_t column = first % columns;
    uint64_t count = std::min(columns - column, left);
    if (slab.column_stride > slab.row_stride) {
      uint64_t whole = 1;
      if (column == 0 && left >= columns) {
        const uint64_t most = kLineBytes / (slab.row_stride * size);
        whole =
            std::min({left / columns, rows - row, std::max<uint64_t>(most, 1)});
      }
      gather_columns(slab, row, whole, column, count,
                     target.first(whole * count * size));
      count *= whole;
    } else if (slab.column_stride > 1) {
      pick(slab, row, column, target.first(count * size));
    } else {
      // All rows that follow each other in the folder, too.
      if (pieces.groups != 0) {
        count = std::min(pieces.size - column % pieces.size, left);
      } else if (heads == 0 && slab.row_stride == columns) {
        count = std::min((rows - row) * columns - column, left);
      }
      const uint64_t at = slab.first + row_in_folder(row) * slab.row_stride +
                          column_in_folder(column);
      slab.place.file->read(*slab.place.tensor, at * size,
                            target.first(count * size));
    }
    first += count;
    target = target.subspan(count * size);
  }
}

// Elements of one row, where they lie apart.
void TensorView::pick(const Slab& slab, uint64_t row, uint64_t column,
                      std::span<std::byte> target) const {
  const uint64_t size = element_bytes(folder_dtype);
  const uint64_t stride = slab.column_stride;
  const uint64_t most = std::max<uint64_t>(kLineBytes / (stride * size), 1);
  std::vector<std::byte> line;
  while (!target.empty()) {
    const uint64_t count = std::min(most, target.size() / size);
    line.resize(((count - 1) * stride + 1) * size);
    const uint64_t at =
        slab.first + row_in_folder(row) * slab.row_stride + column * stride;
    slab.place.file->read(*slab.place.tensor, at * size, line);
    copy_elements(line.data(), stride, target.data(), 1, count, size);
    column += count;
    target = target.subspan(count * size);
  }
}

// Some rows of some columns, where the elements of a column lie closest.
void TensorView::gather_columns(const Slab& slab, uint64_t row,
                                uint64_t row_count, uint64_t column,
                                uint64_t column_count,
                                std::span<std::byte> target) const {
  const uint64_t size = element_bytes(folder_dtype);
  std::vector<std::byte> line(((row_count - 1) * slab.row_stride + 1) * size);
  for (uint64_t i = 0; i < column_count; ++i) {
    const uint64_t at =
        slab.first + row * slab.row_stride + (column + i) * slab.column_stride;
    slab.place.file->read(*slab.place.tensor, at * size, line);
    copy_elements(line.data(), slab.row_stride, target.data() + i * size,
                  column_count, row_count, size);
  }
}

DType float_type(const safetensors::Place& place) {
  const std::string_view name = place.tensor->type->name;
  if (name == "F32") return RC_DTYPE_F32;
  if (name == "F16") return RC_DTYPE_F16;
  if (name == "BF16") return RC_DTYPE_BF16;
  if (name == "F64") return RC_DTYPE_F64;
  fail(RC_E_UNSUPPORTED, place.file->name(), ": tensor ",
       quote(place.tensor->name), " is of type ", name,
       "; weights may be F32, F16, BF16 and F64");
}

}  // namespace rc::folder
