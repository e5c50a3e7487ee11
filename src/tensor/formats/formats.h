// Every block format that can be decoded: names, sizes and meaning come from
// here wherever blocks are read (src/tensor/decode.cc, the kernels of all
// backends). To add a type is to add its description; to write it too takes an
// encoder, in src/tensor/encode.cc, backends/gpu/kernels/c/encode.cl and
// backends/gpu/kernels/glsl/encode.comp.
//
// The layouts are those of GGUF, of which ggml is the definition:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md for the numbers of
// the types, src/ggml-common.h there for blocks (block_q4_0 and so on).
#pragma once

#include "tensor/formats/block_format.h"

namespace rc {

// What four bits stand for, in the order of ValueTable.
struct NamedValues {
  const char* name;
  int8_t values[16];
};
inline constexpr NamedValues kValueTables[] = {
    // kvalues_iq4nl
    {"iq4",
     {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89,
      113}},
    // E2M1 of OCP Microscaling Formats 1.0, doubled, so that all are integers.
    {"e2m1", {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}},
};
inline constexpr int kValueTableCount =
    sizeof(kValueTables) / sizeof(kValueTables[0]);

// Of a table that is not kNone.
constexpr const int8_t* values_of(ValueTable table) {
  return kValueTables[static_cast<int>(table) - 1].values;
}

// The factors of groups 0 to 3 of Q4_K and Q5_K have bytes 4 to 7 (of the
// scale) and 8 to 11 (of the minimum) to themselves, but for the two highest
// bits: those are the two highest of groups 4 to 7, whose lower four are the
// halves of bytes 12 to 15 (get_scale_min_k4).
inline constexpr BitNumber kSixBitScales = {
    .low = {.at = 4, .width = 4, .stride = 4, .step = 16},
    .high = {.at = 4, .width = 2, .stride = 4, .first = 8}};
inline constexpr BitNumber kSixBitMinima = {
    .low = {.at = 4, .width = 4, .stride = 4, .first = 8, .step = 12},
    .high = {.at = 8, .width = 2, .stride = 4, .first = 8}};

inline constexpr BlockFormat kBlockFormats[] = {
    {.dtype = RC_DTYPE_Q4_0,
     .name = "Q4_0",
     .elements = 32,
     .bytes = 18,
     .quant = {.low = {.at = 2, .width = 4, .stride = 16}, .zero = 8}},

    {.dtype = RC_DTYPE_Q4_1,
     .name = "Q4_1",
     .elements = 32,
     .bytes = 20,
     .quant = {.low = {.at = 4, .width = 4, .stride = 16}},
     .minimum = {Minimum::kAdded, 2}},

    {.dtype = RC_DTYPE_Q5_0,
     .name = "Q5_0",
     .elements = 32,
     .bytes = 22,
     .quant = {.low = {.at = 6, .width = 4, .stride = 16},
               .high = {.at = 2, .width = 1},
               .zero = 16}},

    {.dtype = RC_DTYPE_Q5_1,
     .name = "Q5_1",
     .elements = 32,
     .bytes = 24,
     .quant = {.low = {.at = 8, .width = 4, .stride = 16},
               .high = {.at = 4, .width = 1}},
     .minimum = {Minimum::kAdded, 2}},

    {.dtype = RC_DTYPE_Q8_0,
     .name = "Q8_0",
     .elements = 32,
     .bytes = 34,
     .quant = {.low = {.at = 2, .width = 8, .stride = 32}, .is_signed = true}},

    // Bytes 2 and 3 are the sum of the elements, for products with Q4_1.
    {.dtype = RC_DTYPE_Q8_1,
     .name = "Q8_1",
     .elements = 32,
     .bytes = 36,
     .quant = {.low = {.at = 4, .width = 8, .stride = 32}, .is_signed = true},
     .of_activations = true},

    {.dtype = RC_DTYPE_Q2_K,
     .name = "Q2_K",
     .elements = 256,
     .bytes = 84,
     .quant = {.low = {.at = 16, .width = 2, .stride = 32}},
     .scale = {.at = 80},
     .minimum = {Minimum::kSubtracted, 82},
     .group = 16,
     .scale_factor = {.low = {.at = 0, .width = 4, .stride = 16}},
     .minimum_factor =
         {.low = {.at = 0, .width = 4, .stride = 16, .first = 16}}},

    {.dtype = RC_DTYPE_Q3_K,
     .name = "Q3_K",
     .elements = 256,
     .bytes = 110,
     .quant = {.low = {.at = 32, .width = 2, .stride = 32},
               .high = {.at = 0, .width = 1, .stride = 32},
               .zero = 4},
     .scale = {.at = 108},
     .group = 16,
     .scale_factor = {.low = {.at = 96, .width = 4, .stride = 8},
                      .high = {.at = 104, .width = 2, .stride = 4},
                      .zero = 32}},

    {.dtype = RC_DTYPE_Q4_K,
     .name = "Q4_K",
     .elements = 256,
     .bytes = 144,
     .quant = {.low = {.at = 16, .width = 4, .stride = 32}},
     .minimum = {Minimum::kSubtracted, 2},
     .group = 32,
     .scale_factor = kSixBitScales,
     .minimum_factor = kSixBitMinima},

    {.dtype = RC_DTYPE_Q5_K,
     .name = "Q5_K",
     .elements = 256,
     .bytes = 176,
     .quant = {.low = {.at = 48, .width = 4, .stride = 32},
               .high = {.at = 16, .width = 1, .stride = 32}},
     .minimum = {Minimum::kSubtracted, 2},
     .group = 32,
     .scale_factor = kSixBitScales,
     .minimum_factor = kSixBitMinima},

    {.dtype = RC_DTYPE_Q6_K,
     .name = "Q6_K",
     .elements = 256,
     .bytes = 210,
     .quant = {.low = {.at = 0, .width = 4, .stride = 64},
               .high = {.at = 128, .width = 2, .stride = 32},
               .zero = 32},
     .scale = {.at = 208},
     .group = 16,
     .scale_factor = {.low = {.at = 192, .width = 8, .stride = 16},
                      .is_signed = true}},

    // The last 32 bytes are the sums of sixteen elements each.
    {.dtype = RC_DTYPE_Q8_K,
     .name = "Q8_K",
     .elements = 256,
     .bytes = 292,
     .quant = {.low = {.at = 4, .width = 8, .stride = 32}, .is_signed = true},
     .scale = {.at = 0, .kind = ScaleKind::kF32},
     .of_activations = true},

    {.dtype = RC_DTYPE_IQ4_NL,
     .name = "IQ4_NL",
     .elements = 32,
     .bytes = 18,
     .quant = {.low = {.at = 2, .width = 4, .stride = 16}},
     .table = ValueTable::kIQ4},

    {.dtype = RC_DTYPE_IQ4_XS,
     .name = "IQ4_XS",
     .elements = 256,
     .bytes = 136,
     .quant = {.low = {.at = 8, .width = 4, .stride = 16}},
     .table = ValueTable::kIQ4,
     .group = 32,
     .scale_factor = {.low = {.at = 4, .width = 4},
                      .high = {.at = 2, .width = 2},
                      .zero = 32}},

    // The exponent is that of E8M0, less one as E2M1 is doubled.
    {.dtype = RC_DTYPE_MXFP4,
     .name = "MXFP4",
     .elements = 32,
     .bytes = 17,
     .quant = {.low = {.at = 1, .width = 4, .stride = 16}},
     .table = ValueTable::kE2M1,
     .scale = {.at = 0, .kind = ScaleKind::kPowerOfTwo}},

    // Ternary: of the four values -1 to 2 the last is not used.
    {.dtype = RC_DTYPE_TQ2_0,
     .name = "TQ2_0",
     .elements = 256,
     .bytes = 66,
     .quant = {.low = {.at = 0, .width = 2, .stride = 32}, .zero = 1},
     .scale = {.at = 64}},
};

// Types of which no more is known here than the size of their blocks. Types 4,
// 5, 31 to 33 and 36 to 38 were removed from the format.
struct OpaqueFormat {
  rc_dtype dtype;
  const char* name;
  int elements;
  int bytes;
};
inline constexpr OpaqueFormat kOpaqueFormats[] = {
    {RC_DTYPE_IQ2_XXS, "IQ2_XXS", 256, 66},
    {RC_DTYPE_IQ2_XS, "IQ2_XS", 256, 74},
    {RC_DTYPE_IQ3_XXS, "IQ3_XXS", 256, 98},
    {RC_DTYPE_IQ1_S, "IQ1_S", 256, 50},
    {RC_DTYPE_IQ3_S, "IQ3_S", 256, 110},
    {RC_DTYPE_IQ2_S, "IQ2_S", 256, 82},
    {RC_DTYPE_IQ1_M, "IQ1_M", 256, 56},
    {RC_DTYPE_TQ1_0, "TQ1_0", 256, 54},
    {RC_DTYPE_NVFP4, "NVFP4", 64, 36},
    {RC_DTYPE_Q1_0, "Q1_0", 128, 18},
};

inline constexpr int kBlockFormatCount =
    sizeof(kBlockFormats) / sizeof(kBlockFormats[0]);

// nullptr for a type that has no description.
constexpr const BlockFormat* find_block_format(rc_dtype dtype) {
  for (const BlockFormat& format : kBlockFormats) {
    if (format.dtype == dtype) return &format;
  }
  return nullptr;
}

}  // namespace rc
