#include "mix.h"

namespace rc::bench {
namespace {

constexpr Mix kMixes[] = {
    {"F32", 0, RC_DTYPE_F32},          {"F16", 1, RC_DTYPE_F16},
    {"BF16", 32, RC_DTYPE_BF16},       {"Q8_0", 7, RC_DTYPE_Q8_0},
    {"Q4_0", 2, RC_DTYPE_Q4_0},        {"IQ4_NL", 25, RC_DTYPE_IQ4_NL},
    {"Q4_K_S", 14, RC_DTYPE_Q4_K},     {"Q4_K_M", 15, RC_DTYPE_Q4_K},
    {"Q5_K_M", 17, RC_DTYPE_Q5_K},     {"Q6_K", 18, RC_DTYPE_Q6_K},
    {"MXFP4", 38, RC_DTYPE_MXFP4},     {"IQ2_XXS", 19, RC_DTYPE_IQ2_XXS},
    {"IQ2_XS", 20, RC_DTYPE_IQ2_XS},   {"IQ2_S", 28, RC_DTYPE_IQ2_S},
    {"IQ3_XXS", 23, RC_DTYPE_IQ3_XXS}, {"IQ3_S", 26, RC_DTYPE_IQ3_S},
    {"IQ1_S", 24, RC_DTYPE_IQ1_S},     {"IQ1_M", 31, RC_DTYPE_IQ1_M},
    {"TQ1_0", 36, RC_DTYPE_TQ1_0},     {"NVFP4", 39, RC_DTYPE_NVFP4},
    {"Q1_0", 40, RC_DTYPE_Q1_0},       {"TQ2_0", 37, RC_DTYPE_TQ2_0},
    {"Q2_K_S", 21, RC_DTYPE_Q2_K},     {"Q3_K_S", 11, RC_DTYPE_Q3_K},
    {"Q4_1", 3, RC_DTYPE_Q4_1},        {"Q5_0", 8, RC_DTYPE_Q5_0},
    {"Q5_1", 9, RC_DTYPE_Q5_1},        {"Q5_K_S", 16, RC_DTYPE_Q5_K},
    {"IQ4_XS", 30, RC_DTYPE_IQ4_XS},
};

// The layers that the "M" mixes give more bits.
bool more_bits(int64_t layer, int64_t layers) {
  const int64_t eighth = layers / 8;
  return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

DType wanted_type(const Mix& mix, const Shape& shape, Role role,
                  int64_t layer) {
  const std::string_view name = mix.name;
  const bool medium = name == "Q4_K_M" || name == "Q5_K_M";
  const bool small = name == "Q4_K_S" || name == "IQ4_NL";
  const bool plain = mix.base == RC_DTYPE_F32 || mix.base == RC_DTYPE_F16 ||
                     mix.base == RC_DTYPE_BF16;
  if (plain || mix.base == RC_DTYPE_Q8_0) return mix.base;
  // MXFP4 is published for matrices of the layers only.
  const bool outer = role == Role::kOutput || role == Role::kEmbedding;
  if (mix.base == RC_DTYPE_MXFP4 && outer) return RC_DTYPE_Q8_0;
  if (role == Role::kOutput || (role == Role::kEmbedding && shape.tied)) {
    return RC_DTYPE_Q6_K;
  }
  if (mix.base == RC_DTYPE_MXFP4 || mix.base == RC_DTYPE_Q6_K) {
    return mix.base;
  }
  switch (role) {
    case Role::kKey:
      if (shape.experts == 8) return RC_DTYPE_Q8_0;
      break;
    case Role::kValue:
      if (shape.experts == 8) return RC_DTYPE_Q8_0;
      if (medium && more_bits(layer, shape.layers)) return RC_DTYPE_Q6_K;
      if (name == "Q4_K_S" && layer < 4) return RC_DTYPE_Q5_K;
      if (name == "IQ4_NL" && shape.heads / shape.kv_heads >= 4) {
        return RC_DTYPE_Q5_K;
      }
      break;
    case Role::kAttentionOutput:
      if (shape.experts == 8 && (small || name == "Q4_K_M")) {
        return RC_DTYPE_Q5_K;
      }
      break;
    case Role::kDown:
      if (medium && more_bits(layer, shape.layers)) return RC_DTYPE_Q6_K;
      if (small && layer < shape.layers / 8) return RC_DTYPE_Q5_K;
      break;
    default:
      break;
  }
  return mix.base;
}

bool fits(DType dtype, int64_t columns) {
  return columns % dtype_info(dtype)->block_size == 0;
}

}  // namespace

std::span<const Mix> mixes() { return kMixes; }

const Mix* find_mix(std::string_view name) {
  for (const Mix& mix : kMixes) {
    if (name == mix.name) return &mix;
  }
  return nullptr;
}

DType matrix_type(const Mix& mix, const Shape& shape, Role role, int64_t layer,
                  int64_t columns) {
  DType dtype = wanted_type(mix, shape, role, layer);
  if (!fits(dtype, columns)) {
    switch (dtype) {
      case RC_DTYPE_Q4_K:
        dtype = RC_DTYPE_Q5_0;
        break;
      case RC_DTYPE_Q5_K:
        dtype = RC_DTYPE_Q5_1;
        break;
      case RC_DTYPE_Q6_K:
        dtype = RC_DTYPE_Q8_0;
        break;
      default:
        break;
    }
  }
  return fits(dtype, columns) ? dtype : RC_DTYPE_F16;
}

}  // namespace rc::bench
