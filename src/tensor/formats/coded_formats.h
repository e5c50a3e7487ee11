// Every type that packs several elements into one code, as GGUF has it:
// src/ggml-common.h of ggml defines the blocks (block_iq2_xxs and so on).
#pragma once

#include "tensor/formats/coded_format.h"
#include "tensor/formats/formats.h"

namespace rc {

// The places of entries, digits and signs are in bits.
inline constexpr CodedFormat kCodedFormats[] = {
    // Each 32 elements have eight bytes: four numbers of entries, then four
    // times seven signs and a factor.
    {.dtype = RC_DTYPE_IQ2_XXS,
     .name = "IQ2_XXS",
     .elements = 256,
     .bytes = 66,
     .expanded = kExpandedIQ2,
     .book = Codebook::kIQ2XXS,
     .index = {.at = 16, .width = 8, .step = 8, .run = 4, .run_step = 64},
     .sign = {.at = 48, .width = 7, .step = 7, .run = 4, .run_step = 64},
     .group = 32,
     .factor = {.at = 76, .width = 4, .step = 64}},

    {.dtype = RC_DTYPE_IQ2_XS,
     .name = "IQ2_XS",
     .elements = 256,
     .bytes = 74,
     .expanded = kExpandedIQ2,
     .book = Codebook::kIQ2XS,
     .index = {.at = 16, .width = 9, .step = 16},
     .sign = {.at = 25, .width = 7, .step = 16},
     .group = 16,
     .factor = {.at = 528, .width = 4, .step = 4}},

    {.dtype = RC_DTYPE_IQ3_XXS,
     .name = "IQ3_XXS",
     .elements = 256,
     .bytes = 98,
     .expanded = kExpandedIQ3XXS,
     .book = Codebook::kIQ3XXS,
     .index = {.at = 16, .width = 8, .step = 8},
     .sign = {.at = 528, .width = 7, .step = 7, .run = 4, .run_step = 32},
     .group = 32,
     .factor = {.at = 556, .width = 4, .step = 32}},

    // A sign stands for an eighth that is subtracted rather than added.
    {.dtype = RC_DTYPE_IQ1_S,
     .name = "IQ1_S",
     .elements = 256,
     .bytes = 50,
     .expanded = kExpandedIQ1,
     .book = Codebook::kIQ1S,
     .index = {.at = 16, .width = 8, .step = 8},
     .index_high = {.at = 272, .width = 3, .step = 3, .run = 4, .run_step = 16},
     .sign = {.at = 287, .width = 1, .step = 16},
     .sign_elements = 32,
     .group = 32,
     .factor = {.at = 284, .width = 3, .step = 16}},

    {.dtype = RC_DTYPE_IQ3_S,
     .name = "IQ3_S",
     .elements = 256,
     .bytes = 110,
     .expanded = kExpandedIQ3S,
     .book = Codebook::kIQ3S,
     .index = {.at = 16, .width = 8, .step = 8},
     .index_high = {.at = 528, .width = 1, .step = 1},
     .sign = {.at = 592, .width = 8, .step = 8},
     .group = 32,
     .factor = {.at = 848, .width = 4, .step = 4}},

    {.dtype = RC_DTYPE_IQ2_S,
     .name = "IQ2_S",
     .elements = 256,
     .bytes = 82,
     .expanded = kExpandedIQ2,
     .book = Codebook::kIQ2S,
     .index = {.at = 16, .width = 8, .step = 8},
     .index_high = {.at = 528, .width = 2, .step = 2},
     .sign = {.at = 272, .width = 8, .step = 8},
     .group = 16,
     .factor = {.at = 592, .width = 4, .step = 4}},

    // The scale is in the upper four bits of four 16-bit words, the lower
    // twelve
    // of which are four factors.
    {.dtype = RC_DTYPE_IQ1_M,
     .name = "IQ1_M",
     .elements = 256,
     .bytes = 56,
     .expanded = kExpandedIQ1,
     .book = Codebook::kIQ1S,
     .index = {.at = 0, .width = 8, .step = 8},
     .index_high = {.at = 256, .width = 3, .step = 4},
     .sign = {.at = 259, .width = 1, .step = 4},
     .sign_elements = 8,
     .scale_parts = {.at = 396, .width = 4, .step = 16},
     .group = 16,
     .factor = {.at = 384, .width = 3, .step = 3, .run = 4, .run_step = 16}},

    {.dtype = RC_DTYPE_TQ1_0,
     .name = "TQ1_0",
     .elements = 256,
     .bytes = 54,
     .expanded = RC_DTYPE_TQ2_0,
     .ternary = {{0, 32, 5}, {32, 16, 5}, {48, 4, 4}},
     .scale_at = 52},

    {.dtype = RC_DTYPE_NVFP4,
     .name = "NVFP4",
     .elements = 64,
     .bytes = 36,
     .expanded = kExpandedFP4,
     .plane = {.at = 4, .width = 4, .stride = 8},
     .group = 16,
     .factor = {.at = 0, .width = 8, .step = 8}},

    {.dtype = RC_DTYPE_Q1_0,
     .name = "Q1_0",
     .elements = 128,
     .bytes = 18,
     .expanded = kExpandedQ1,
     .plane = {.at = 2, .width = 1}},
};
inline constexpr int kCodedFormatCount =
    sizeof(kCodedFormats) / sizeof(kCodedFormats[0]);

constexpr bool has_codebook(rc_dtype dtype) {
  for (const CodedFormat& format : kCodedFormats) {
    if (format.dtype == dtype) return format.book != Codebook::kNone;
  }
  return false;
}

}  // namespace rc
