// The names by which kernels in the C dialect know types: TYPE_<name>.
#pragma once

#include "tensor/dtype.h"
#include "tensor/formats/formats.h"

namespace rc::gpu {

// As formats.cl has it. Static storage, but for types that kernels do not know.
inline const char* type_name(DType dtype) {
  const BlockFormat* const format = find_block_format(dtype);
  return format != nullptr ? format->name : dtype_name(dtype);
}

}  // namespace rc::gpu
