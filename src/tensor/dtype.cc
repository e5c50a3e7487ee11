#include "tensor/dtype.h"

#include <cstdio>

#include "base/checked.h"
#include "tensor/blocks.h"

namespace rc {
namespace {

struct Row {
  DType dtype;
  DTypeInfo info;
};

// Types 4, 5, 31 to 33 and 36 to 38 were removed from the format.
constexpr Row kTypes[] = {
    {RC_DTYPE_F32, {"F32", 1, 4, true}},
    {RC_DTYPE_F16, {"F16", 1, 2, true}},
    {RC_DTYPE_Q4_0, {"Q4_0", 32, sizeof(BlockQ4_0), true}},
    {RC_DTYPE_Q4_1, {"Q4_1", 32, sizeof(BlockQ4_1), true}},
    {RC_DTYPE_Q5_0, {"Q5_0", 32, sizeof(BlockQ5_0), true}},
    {RC_DTYPE_Q5_1, {"Q5_1", 32, sizeof(BlockQ5_1), true}},
    {RC_DTYPE_Q8_0, {"Q8_0", 32, sizeof(BlockQ8_0), true}},
    {RC_DTYPE_Q8_1, {"Q8_1", 32, sizeof(BlockQ8_1), true}},
    {RC_DTYPE_Q2_K, {"Q2_K", 256, sizeof(BlockQ2_K), true}},
    {RC_DTYPE_Q3_K, {"Q3_K", 256, sizeof(BlockQ3_K), true}},
    {RC_DTYPE_Q4_K, {"Q4_K", 256, sizeof(BlockQ4_K), true}},
    {RC_DTYPE_Q5_K, {"Q5_K", 256, sizeof(BlockQ5_K), true}},
    {RC_DTYPE_Q6_K, {"Q6_K", 256, sizeof(BlockQ6_K), true}},
    {RC_DTYPE_Q8_K, {"Q8_K", 256, sizeof(BlockQ8_K), true}},
    {RC_DTYPE_IQ2_XXS, {"IQ2_XXS", 256, 66, false}},
    {RC_DTYPE_IQ2_XS, {"IQ2_XS", 256, 74, false}},
    {RC_DTYPE_IQ3_XXS, {"IQ3_XXS", 256, 98, false}},
    {RC_DTYPE_IQ1_S, {"IQ1_S", 256, 50, false}},
    {RC_DTYPE_IQ4_NL, {"IQ4_NL", 32, sizeof(BlockIQ4_NL), true}},
    {RC_DTYPE_IQ3_S, {"IQ3_S", 256, 110, false}},
    {RC_DTYPE_IQ2_S, {"IQ2_S", 256, 82, false}},
    {RC_DTYPE_IQ4_XS, {"IQ4_XS", 256, sizeof(BlockIQ4_XS), true}},
    {RC_DTYPE_I8, {"I8", 1, 1, true}},
    {RC_DTYPE_I16, {"I16", 1, 2, true}},
    {RC_DTYPE_I32, {"I32", 1, 4, true}},
    {RC_DTYPE_I64, {"I64", 1, 8, true}},
    {RC_DTYPE_F64, {"F64", 1, 8, true}},
    {RC_DTYPE_IQ1_M, {"IQ1_M", 256, 56, false}},
    {RC_DTYPE_BF16, {"BF16", 1, 2, true}},
    {RC_DTYPE_TQ1_0, {"TQ1_0", 256, 54, false}},
    {RC_DTYPE_TQ2_0, {"TQ2_0", 256, 66, false}},
    {RC_DTYPE_MXFP4, {"MXFP4", 32, sizeof(BlockMXFP4), true}},
    {RC_DTYPE_NVFP4, {"NVFP4", 64, 36, false}},
    {RC_DTYPE_Q1_0, {"Q1_0", 128, 18, false}},
};

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
