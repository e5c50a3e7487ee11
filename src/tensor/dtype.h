// Types of tensor elements and their block layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "runcible/types.h"
#include "tensor/half.h"

namespace rc {

// Numbered as rc_dtype in types.h, which follows the GGUF tensor types.
using DType = rc_dtype;

struct DTypeInfo {
  const char* name;    // "Q4_K"
  int64_t block_size;  // elements per block; 1 for plain types
  int64_t block_bytes;
  bool decodable;  // decode_row works for it
};

// Of every type that GGUF has assigned; nullptr for a number that is none
// (never assigned, or removed from the format).
const DTypeInfo* dtype_info(DType dtype);

// "Q4_K", or "type 31" for an unknown one. Static or thread-local storage.
const char* dtype_name(DType dtype);

// Bytes of one row of `columns` elements; nullopt if the type is unknown, if
// columns is no multiple of the block size, or on overflow.
std::optional<uint64_t> row_bytes(DType dtype, int64_t columns);

// Decodes `columns` elements, a multiple of the block size, from `source`, at
// any address, to `target`. Never throws.
using Decoder = void (*)(const void* source, float* target,
                         int64_t columns) noexcept;

// nullptr if the type is unknown or has no decoder.
Decoder find_decoder(DType dtype);

// Decodes `columns` elements to f32, bit for bit as the format defines it.
// `source` holds exactly row_bytes(dtype, columns), at any address. Throws
// RC_E_UNSUPPORTED for a type that has no decoder and RC_E_INVALID_ARGUMENT if
// columns is no multiple of the block size.
void decode_row(DType dtype, const void* source, float* target,
                int64_t columns);

// Encodes f32 values; for the types that a writer of files and caches needs:
// F32 F16 BF16 F64 I8..I64 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q4_K Q5_K Q6_K IQ4_NL
// TQ2_0. Simple rounding to the nearest representable value per block. In types
// with scales NaN becomes 0 and infinity the largest value that the block can
// hold; integers saturate. Throws as decode_row does.
void encode_row(DType dtype, const float* source, void* target,
                int64_t columns);
bool encodable(DType dtype);

}  // namespace rc
