// Which type each tensor of a file has: published files mix several.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "shapes.h"
#include "tensor/dtype.h"

namespace rc::bench {

struct Mix {
  const char* name;    // "Q4_K_M"
  uint32_t file_type;  // general.file_type
  DType base;          // of most matrices
};

std::span<const Mix> mixes();
const Mix* find_mix(std::string_view name);  // nullptr if there is none

// What a matrix is for.
enum class Role {
  kEmbedding,
  kOutput,
  kQuery,
  kKey,
  kValue,
  kAttentionOutput,
  kGate,
  kUp,
  kDown,
};

// The type of a matrix with rows of `columns` elements. Follows llama.cpp's
// quantize without an importance matrix, which made nearly all files that are
// in use: more bits for attention values and the down projection in the first
// and the last eighth of the layers and in every third between, and for the
// output. Types whose blocks do not divide the columns fall back to the next
// larger.
DType matrix_type(const Mix& mix, const Shape& shape, Role role, int64_t layer,
                  int64_t columns);

}  // namespace rc::bench
