// Every format of blocks of numbers: names, sizes and meaning come from here
// wherever blocks are read (src/tensor/decode.cc, the kernels of all backends);
// coded_formats.h has the types that expand into them. To add a type is to add
// its description; to write it too takes an encoder, in src/tensor/encode.cc,
// backends/gpu/kernels/c/encode.cl and backends/gpu/kernels/glsl/encode.comp.
//
// The layouts are those of GGUF, of which ggml is the definition:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md for the numbers of
// the types, src/ggml-common.h there for blocks (block_q4_0 and so on).
// Expanded formats are our own.
#pragma once

#include "tensor/formats/block_format.h"

namespace rc {

// The meanings of up to four bits, in the order of ValueTable.
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
    // Digits of codebooks, then the same under a sign.
    {"iq2", {8, 25, 43, 0, -8, -25, -43, 0}},
    // Eight times -1, 0 and 1, with 1 added or, in the second half, subtracted.
    {"iq1", {-7, 1, 9, 0, -9, -1, 7, 0}},
    {"iq3xxs",
     {4, 12, 20, 28, 36, 44, 52, 62, -4, -12, -20, -28, -36, -44, -52, -62}},
    {"iq3s", {1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15}},
    {"signs", {-1, 1}},
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

// The types that coded types expand into are no types of tensors.
enum ExpandedType : rc_dtype {
  kExpandedIQ2 = 1 << 16,
  kExpandedIQ1,
  kExpandedIQ3XXS,
  kExpandedIQ3S,
  kExpandedFP4,
  kExpandedQ1,
};

// A digit of two bits and a sign, factors of four bits.
inline constexpr BitNumber kSignedDigits = {
    .low = {.at = 32, .width = 2, .stride = 32},
    .high = {.at = 0, .width = 1, .stride = 32}};

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

    {.dtype = kExpandedIQ2,
     .name = "expanded_IQ2",
     .elements = 256,
     .bytes = 106,
     .quant = kSignedDigits,
     .table = ValueTable::kIQ2,
     .scale = {.at = 104, .exponent = -3},
     .group = 16,
     .scale_factor = {.low = {.at = 96, .width = 4}, .kind = BitKind::kOdd},
     .is_expanded = true},

    {.dtype = kExpandedIQ1,
     .name = "expanded_IQ1",
     .elements = 256,
     .bytes = 106,
     .quant = kSignedDigits,
     .high_run = 8,
     .table = ValueTable::kIQ1,
     .scale = {.at = 104, .exponent = -3},
     .group = 16,
     .scale_factor = {.low = {.at = 96, .width = 4}, .kind = BitKind::kOdd},
     .is_expanded = true},

    {.dtype = kExpandedIQ3XXS,
     .name = "expanded_IQ3_XXS",
     .elements = 256,
     .bytes = 134,
     .quant = {.low = {.at = 6, .width = 4, .stride = 16}},
     .table = ValueTable::kIQ3XXS,
     .scale = {.at = 0, .exponent = -2},
     .group = 32,
     .scale_factor = {.low = {.at = 2, .width = 4}, .kind = BitKind::kOdd},
     .is_expanded = true},

    {.dtype = kExpandedIQ3S,
     .name = "expanded_IQ3_S",
     .elements = 256,
     .bytes = 134,
     .quant = {.low = {.at = 6, .width = 4, .stride = 16}},
     .table = ValueTable::kIQ3S,
     .scale = {.at = 0},
     .group = 32,
     .scale_factor = {.low = {.at = 2, .width = 4}, .kind = BitKind::kOdd},
     .is_expanded = true},

    // Half of NVFP4's; the exponent is that of E4M3's unit, less one as E2M1 is
    // doubled.
    {.dtype = kExpandedFP4,
     .name = "expanded_FP4",
     .elements = 32,
     .bytes = 18,
     .quant = {.low = {.at = 2, .width = 4, .stride = 16}},
     .table = ValueTable::kE2M1,
     .scale = {.kind = ScaleKind::kOne, .exponent = -10},
     .group = 16,
     .scale_factor = {.low = {.at = 0, .width = 8, .stride = 2},
                      .kind = BitKind::kE4M3},
     .is_expanded = true},

    {.dtype = kExpandedQ1,
     .name = "expanded_Q1",
     .elements = 32,
     .bytes = 6,
     .quant = {.low = {.at = 2, .width = 1}},
     .table = ValueTable::kSigns,
     .scale = {.at = 0},
     .is_expanded = true},
};

inline constexpr int kBlockFormatCount =
    sizeof(kBlockFormats) / sizeof(kBlockFormats[0]);

// nullptr for a type that has no description here.
constexpr const BlockFormat* find_block_format(rc_dtype dtype) {
  for (const BlockFormat& format : kBlockFormats) {
    if (format.dtype == dtype) return &format;
  }
  return nullptr;
}

}  // namespace rc
