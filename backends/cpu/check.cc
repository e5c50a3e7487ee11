#include "cpu/check.h"

#include "base/error.h"
#include "cpu/tiles.h"
#include "tensor/dtype.h"

namespace rc::cpu {

void check_supported(const Op& op, std::span<const rc_plugin_value> values) {
  for (const int32_t input : op.inputs) {
    if (input < 0) continue;
    const rc_plugin_value& value = values[static_cast<size_t>(input)];
    if (value.storage == RC_STORAGE_WEIGHT && tile_dtype(value.dtype) < 0) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), ": a weight has type ",
           dtype_name(value.dtype), ", which cannot be decoded");
    }
  }
}

}  // namespace rc::cpu
