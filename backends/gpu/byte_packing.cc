#include "gpu/byte_packing.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "tensor/expand.h"
#include "tensor/value.h"

namespace rc::gpu {
namespace {

// `count` of `rows` rows of `row_size` bytes each, in units of kUnit bytes.
template <size_t kUnit>
void interleave(uint64_t row_size, uint64_t rows, uint64_t count,
                const uint8_t* source, uint8_t* tile) {
  const uint64_t units = row_size / kUnit;
  // As many units at a time as share a cache line with their neighbours.
  constexpr uint64_t kRun = 64 / kUnit;
  for (uint64_t begin = 0; begin < units; begin += kRun) {
    const uint64_t end = std::min(begin + kRun, units);
    for (uint64_t row = 0; row < count; ++row) {
      const uint8_t* in = source + row * row_size;
      for (uint64_t unit = begin; unit < end; ++unit) {
        std::memcpy(tile + (unit * rows + row) * kUnit, in + unit * kUnit,
                    kUnit);
      }
    }
  }
}

}  // namespace

const char* BytePacking::undecodable(DType dtype) const {
  const DTypeInfo* type = dtype_info(dtype);
  if (type == nullptr || !type->decodable) return "there is no decoder for it";
  if (dtype == RC_DTYPE_F64 && !doubles_) {
    return "the device has no double precision";
  }
  return "";
}

uint64_t BytePacking::tile_bytes(DType dtype, int64_t columns,
                                 uint64_t rows) const {
  return *expanded_row_bytes(expanded_type(dtype), columns) * rows;
}

void BytePacking::pack(DType dtype, int64_t columns, uint64_t rows,
                       uint64_t count, const uint8_t* source,
                       uint8_t* tile) const {
  const DTypeInfo& type = *dtype_info(dtype);
  const uint64_t row_size = *expanded_row_bytes(expanded_type(dtype), columns);
  std::vector<uint8_t> expanded;
  if (const Expander expand = find_expander(dtype)) {
    const uint64_t coded_size = *row_bytes(dtype, columns);
    expanded.resize(count * row_size);
    for (uint64_t row = 0; row < count; ++row) {
      expand(source + row * coded_size, expanded.data() + row * row_size,
             columns);
    }
    source = expanded.data();
  }
  switch (type.block_size == 1 ? type.block_bytes : 1) {
    case 1:
      return interleave<1>(row_size, rows, count, source, tile);
    case 2:
      return interleave<2>(row_size, rows, count, source, tile);
    case 4:
      return interleave<4>(row_size, rows, count, source, tile);
    default:
      return interleave<8>(row_size, rows, count, source, tile);
  }
}

std::vector<uint32_t> BytePacking::constants(DType dtype) const {
  return {static_cast<uint32_t>(expanded_type(dtype))};
}

void BytePacking::check_decodable(
    const Op& op, std::span<const rc_plugin_value> values) const {
  const auto decodable = [&](int32_t number) {
    if (number < 0) return;
    const rc_plugin_value& value = values[static_cast<size_t>(number)];
    const char* const reason = undecodable(value.dtype);
    if (*reason != '\0') {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " of ", value_text(value), ": ",
           reason);
    }
  };
  if (op.code == RC_OP_COPY) return;
  for (const int32_t input : op.inputs) decodable(input);
  for (const int32_t output : op.outputs) decodable(output);
}

}  // namespace rc::gpu
