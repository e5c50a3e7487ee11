// Plain types from and to f64.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace rc {

// As decode_row and encode_row of dtype.h, for types without blocks: I64 beyond
// 2^53 is rounded to nearest, and what is encoded is rounded once, to nearest
// even; integers saturate, and NaN becomes 0.
void decode_row(DType dtype, const void* source, double* target,
                int64_t columns);
void encode_row(DType dtype, const double* source, void* target,
                int64_t columns);

}  // namespace rc
