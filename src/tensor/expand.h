// Blocks of coded types (formats/coded_format.h) as blocks of numbers, without
// loss: what decodes, and what devices hold of weights of these types.
#pragma once

#include <cstdint>
#include <optional>

#include "tensor/dtype.h"

namespace rc {

// Writes blocks of `columns` elements, whole blocks of the coded type, at
// `target` as blocks of the expanded type. Both may be at any address.
using Expander = void (*)(const void* source, void* target,
                          int64_t columns) noexcept;

// nullptr for a type that is not coded.
Expander find_expander(DType dtype);

// The type that `dtype` expands into; itself if it is not coded.
DType expanded_type(DType dtype);

// Bytes of a row of a type that is expanded; as row_bytes.
std::optional<uint64_t> expanded_row_bytes(DType expanded, int64_t columns);

}  // namespace rc
