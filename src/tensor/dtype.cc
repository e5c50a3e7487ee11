#include "tensor/dtype.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "base/checked.h"
#include "tensor/formats/coded_formats.h"

namespace rc {
namespace {

struct Row {
  DType dtype;
  DTypeInfo info;
};

constexpr Row kPlainTypes[] = {
    {RC_DTYPE_F32, {"F32", 1, 4, true}},   {RC_DTYPE_F16, {"F16", 1, 2, true}},
    {RC_DTYPE_BF16, {"BF16", 1, 2, true}}, {RC_DTYPE_F64, {"F64", 1, 8, true}},
    {RC_DTYPE_I8, {"I8", 1, 1, true}},     {RC_DTYPE_I16, {"I16", 1, 2, true}},
    {RC_DTYPE_I32, {"I32", 1, 4, true}},   {RC_DTYPE_I64, {"I64", 1, 8, true}},
};

constexpr int kExpandedFormats = [] {
  int count = 0;
  for (const BlockFormat& format : kBlockFormats) count += format.is_expanded;
  return count;
}();

constexpr auto kTypes = [] {
  std::array<Row, std::size(kPlainTypes) + kBlockFormatCount -
                      kExpandedFormats + kCodedFormatCount>
      rows{};
  Row* to =
      std::copy(std::begin(kPlainTypes), std::end(kPlainTypes), rows.data());
  for (const BlockFormat& format : kBlockFormats) {
    if (format.is_expanded) continue;
    *to++ = {format.dtype, {format.name, format.elements, format.bytes, true}};
  }
  for (const CodedFormat& format : kCodedFormats) {
    *to++ = {format.dtype, {format.name, format.elements, format.bytes, true}};
  }
  return rows;
}();

}  // namespace

const DTypeInfo* dtype_info(DType dtype) {
  for (const Row& row : kTypes) {
    if (row.dtype == dtype) return &row.info;
  }
  return nullptr;
}

const char* dtype_name(DType dtype) {
  const DTypeInfo* info = dtype_info(dtype);
  if (info != nullptr) return info->name;
  thread_local char text[24];
  std::snprintf(text, sizeof(text), "type %d", static_cast<int>(dtype));
  return text;
}

std::optional<uint64_t> row_bytes(DType dtype, int64_t columns) {
  const DTypeInfo* info = dtype_info(dtype);
  if (info == nullptr || columns < 0 || columns % info->block_size != 0) {
    return std::nullopt;
  }
  return checked_mul(static_cast<uint64_t>(columns / info->block_size),
                     static_cast<uint64_t>(info->block_bytes));
}

}  // namespace rc
