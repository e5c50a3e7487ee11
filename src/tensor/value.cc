#include "tensor/value.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "tensor/dtype.h"

namespace rc {

std::string value_text(const rc_plugin_value& value) {
  std::string text = cat(dtype_name(value.dtype), " [");
  for (int i = 0; i < value.rank && i < RC_PLUGIN_MAX_RANK; ++i) {
    if (i > 0) text += ", ";
    switch (value.shape[i]) {
      case RC_DIM_ROWS:
        text += "rows";
        break;
      case RC_DIM_OUTPUTS:
        text += "outputs";
        break;
      case RC_DIM_SEQUENCES:
        text += "sequences";
        break;
      default:
        text += cat(value.shape[i]);
    }
  }
  return text + "]";
}

const char* storage_text(int32_t storage) {
  switch (storage) {
    case RC_STORAGE_WEIGHT:
      return "a weight";
    case RC_STORAGE_CACHE:
      return "a cache or tensor";
    case RC_STORAGE_INPUT:
      return "an input";
    case RC_STORAGE_SCRATCH:
      return "scratch";
    case RC_STORAGE_OUTPUT:
      return "an output";
  }
  return "a value of an unknown storage";
}

bool same_shape(const rc_plugin_value& a, const rc_plugin_value& b) {
  return std::equal(a.shape, a.shape + a.rank, b.shape, b.shape + b.rank);
}

int64_t resolve_dimension(int64_t dimension, const Rows& rows) {
  switch (dimension) {
    case RC_DIM_ROWS:
      return rows.rows;
    case RC_DIM_OUTPUTS:
      return rows.outputs;
    case RC_DIM_SEQUENCES:
      return rows.sequences;
  }
  return dimension;
}

std::optional<uint64_t> value_bytes(const rc_plugin_value& value,
                                    const Rows& rows) {
  if (value.rank < 1 || value.rank > RC_PLUGIN_MAX_RANK) return std::nullopt;
  const int last = value.rank - 1;
  const int64_t columns = resolve_dimension(value.shape[last], rows);
  if (columns < 0) return std::nullopt;
  std::optional<uint64_t> bytes = row_bytes(value.dtype, columns);
  for (int i = 0; bytes && i < last; ++i) {
    const int64_t dimension = resolve_dimension(value.shape[i], rows);
    if (dimension < 0) return std::nullopt;
    bytes = checked_mul(*bytes, static_cast<uint64_t>(dimension));
  }
  return bytes;
}

void check_value(const rc_plugin_value& value) {
  if (value.storage < RC_STORAGE_WEIGHT || value.storage > RC_STORAGE_OUTPUT) {
    fail(RC_E_INVALID_ARGUMENT, "a value has storage ", value.storage);
  }
  if (value.rank < 1 || value.rank > RC_PLUGIN_MAX_RANK) {
    fail(RC_E_INVALID_ARGUMENT, "a value has rank ", value.rank, "; 1 to ",
         RC_PLUGIN_MAX_RANK, " are possible");
  }
  const bool fixed =
      value.storage == RC_STORAGE_WEIGHT || value.storage == RC_STORAGE_CACHE;
  for (int i = 0; i < value.rank; ++i) {
    const int64_t dimension = value.shape[i];
    const bool symbol =
        dimension <= RC_DIM_ROWS && dimension >= RC_DIM_SEQUENCES;
    if (dimension < 1 && !(symbol && i == 0 && !fixed)) {
      fail(RC_E_INVALID_ARGUMENT, "a value is ", value_text(value),
           ": dimension ", i, " is impossible");
    }
  }
  // With symbols at one, so that what is left to overflow are the rows.
  if (!value_bytes(value, {1, 1, 1})) {
    fail(RC_E_INVALID_ARGUMENT, "a value is ", value_text(value),
         ": the type is unknown, or the last dimension no multiple of its "
         "block, or it is too large");
  }
}

}  // namespace rc
