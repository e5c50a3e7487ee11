// The mixes that people know by their names, as data.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace rc::quantize {

// The role of a matrix in its model.
enum class Role : uint8_t {
  kOther,
  kOutput,
  kEmbedding,
  kQuery,
  kKey,
  kValue,
  kFused,  // query, key and value
  kAttentionOutput,
  kDown,
  kUp,
  kGate,
};

// Where in the model a rule holds. Layers are counted among those that have a
// matrix of the role.
enum class When : uint8_t {
  kAlways,
  kFirstTwo,
  kFirstFour,
  kFirstSixteenth,
  kFirstEighth,
  // The first and the last eighth, and every third layer between.
  kSpread,
  // Between the first and the last eighth.
  kMiddle,
  kGroupedHeads,  // four or more heads share keys and values
  kFourExperts,   // or more
  kEightExperts,
  kSpreadOfEightExperts,
  // The first eighth if there is no importance, and if there is.
  kFirstEighthUnweighted,
  kFirstEighthWeighted,
};

struct MixRule {
  Role role;
  When when;
  DType type;
};

struct Mix {
  const char* name;
  uint32_t file_type;
  DType type;  // of matrices that no rule is for
  std::span<const MixRule> rules = {};
};

inline constexpr MixRule kOutputQ6[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K}};
inline constexpr MixRule kQ2K[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kGroupedHeads, RC_DTYPE_Q4_K},
    {Role::kValue, When::kAlways, RC_DTYPE_Q3_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kAttentionOutput, When::kAlways, RC_DTYPE_Q3_K},
    {Role::kDown, When::kAlways, RC_DTYPE_Q3_K}};
inline constexpr MixRule kQ2KS[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kGroupedHeads, RC_DTYPE_Q4_K},
    {Role::kDown, When::kFirstEighth, RC_DTYPE_Q4_K}};
inline constexpr MixRule kQ3KS[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K}};
inline constexpr MixRule kQ3KM[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kFirstTwo, RC_DTYPE_Q5_K},
    {Role::kValue, When::kAlways, RC_DTYPE_Q4_K},
    {Role::kFused, When::kAlways, RC_DTYPE_Q4_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kAttentionOutput, When::kAlways, RC_DTYPE_Q4_K},
    {Role::kDown, When::kFirstSixteenth, RC_DTYPE_Q5_K},
    {Role::kDown, When::kAlways, RC_DTYPE_Q4_K}};
inline constexpr MixRule kQ3KL[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kAlways, RC_DTYPE_Q5_K},
    {Role::kFused, When::kAlways, RC_DTYPE_Q4_K},
    {Role::kAttentionOutput, When::kAlways, RC_DTYPE_Q5_K},
    {Role::kDown, When::kAlways, RC_DTYPE_Q5_K}};
inline constexpr MixRule kQ4KS[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kFirstFour, RC_DTYPE_Q5_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kDown, When::kFirstEighth, RC_DTYPE_Q5_K}};
inline constexpr MixRule kQ4KM[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kSpread, RC_DTYPE_Q6_K},
    {Role::kFused, When::kAlways, RC_DTYPE_Q5_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kDown, When::kSpread, RC_DTYPE_Q6_K}};
inline constexpr MixRule kQ5KS[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0}};
inline constexpr MixRule kQ5KM[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kSpread, RC_DTYPE_Q6_K},
    {Role::kFused, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kDown, When::kSpread, RC_DTYPE_Q6_K}};
inline constexpr MixRule kIQ4[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kGroupedHeads, RC_DTYPE_Q5_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kDown, When::kFirstEighthUnweighted, RC_DTYPE_Q5_K}};
inline constexpr MixRule kIQ1[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q5_K},
    {Role::kEmbedding, When::kAlways, RC_DTYPE_Q2_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q4_K},
    {Role::kValue, When::kGroupedHeads, RC_DTYPE_Q4_K},
    {Role::kValue, When::kFourExperts, RC_DTYPE_Q4_K},
    {Role::kValue, When::kAlways, RC_DTYPE_Q2_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kAttentionOutput, When::kAlways, RC_DTYPE_IQ2_XXS},
    {Role::kDown, When::kFirstEighth, RC_DTYPE_Q2_K}};
inline constexpr MixRule kIQ2X[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q5_K},
    {Role::kEmbedding, When::kAlways, RC_DTYPE_Q2_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q4_K},
    {Role::kValue, When::kGroupedHeads, RC_DTYPE_Q4_K},
    {Role::kValue, When::kFourExperts, RC_DTYPE_Q4_K},
    {Role::kValue, When::kAlways, RC_DTYPE_Q2_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kDown, When::kFirstEighth, RC_DTYPE_Q2_K}};
inline constexpr MixRule kIQ2S[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q5_K},
    {Role::kEmbedding, When::kAlways, RC_DTYPE_IQ3_S},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q4_K},
    {Role::kValue, When::kGroupedHeads, RC_DTYPE_Q4_K},
    {Role::kValue, When::kFourExperts, RC_DTYPE_Q4_K},
    {Role::kValue, When::kAlways, RC_DTYPE_IQ3_S},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kAttentionOutput, When::kAlways, RC_DTYPE_IQ3_S},
    {Role::kDown, When::kFirstEighth, RC_DTYPE_IQ3_S}};
inline constexpr MixRule kIQ3XXS[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q5_K},
    {Role::kEmbedding, When::kAlways, RC_DTYPE_IQ3_S},
    {Role::kQuery, When::kAlways, RC_DTYPE_IQ2_S},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kKey, When::kAlways, RC_DTYPE_IQ2_S},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kGroupedHeads, RC_DTYPE_Q4_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kAttentionOutput, When::kAlways, RC_DTYPE_IQ3_S}};
inline constexpr MixRule kIQ3XS[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kQuery, When::kAlways, RC_DTYPE_IQ3_XXS},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kKey, When::kAlways, RC_DTYPE_IQ3_XXS},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kGroupedHeads, RC_DTYPE_Q4_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kGate, When::kMiddle, RC_DTYPE_IQ3_XXS},
    {Role::kUp, When::kMiddle, RC_DTYPE_IQ3_XXS}};
inline constexpr MixRule kIQ3S[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kGroupedHeads, RC_DTYPE_Q4_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K}};
inline constexpr MixRule kIQ3M[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kKey, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kEightExperts, RC_DTYPE_Q8_0},
    {Role::kValue, When::kAlways, RC_DTYPE_Q4_K},
    {Role::kFused, When::kAlways, RC_DTYPE_Q4_K},
    {Role::kAttentionOutput, When::kEightExperts, RC_DTYPE_Q5_K},
    {Role::kAttentionOutput, When::kAlways, RC_DTYPE_Q4_K},
    {Role::kDown, When::kFirstEighth, RC_DTYPE_Q4_K},
    {Role::kDown, When::kSpreadOfEightExperts, RC_DTYPE_Q4_K}};
inline constexpr MixRule kQ40[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kDown, When::kFirstEighthWeighted, RC_DTYPE_Q4_1}};
inline constexpr MixRule kQ50[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kDown, When::kFirstEighthWeighted, RC_DTYPE_Q5_1}};
inline constexpr MixRule kTernary[] = {
    {Role::kOutput, When::kAlways, RC_DTYPE_Q6_K},
    {Role::kEmbedding, When::kAlways, RC_DTYPE_Q4_K}};

// Numbers of general.file_type: docs/gguf.md of ggml, and the enumeration
// LlamaFileType of the package gguf.
inline constexpr Mix kMixes[] = {
    {"F32", 0, RC_DTYPE_F32},
    {"F16", 1, RC_DTYPE_F16},
    {"BF16", 32, RC_DTYPE_BF16},
    {"Q8_0", 7, RC_DTYPE_Q8_0},
    {"Q6_K", 18, RC_DTYPE_Q6_K},
    {"Q5_K_M", 17, RC_DTYPE_Q5_K, kQ5KM},
    {"Q5_K_S", 16, RC_DTYPE_Q5_K, kQ5KS},
    {"Q5_K", 16, RC_DTYPE_Q5_K},
    {"Q5_1", 9, RC_DTYPE_Q5_1, kOutputQ6},
    {"Q5_0", 8, RC_DTYPE_Q5_0, kQ50},
    {"Q4_K_M", 15, RC_DTYPE_Q4_K, kQ4KM},
    {"Q4_K_S", 14, RC_DTYPE_Q4_K, kQ4KS},
    {"Q4_K", 14, RC_DTYPE_Q4_K},
    {"Q4_1", 3, RC_DTYPE_Q4_1, kOutputQ6},
    {"Q4_0", 2, RC_DTYPE_Q4_0, kQ40},
    {"IQ4_NL", 25, RC_DTYPE_IQ4_NL, kIQ4},
    {"IQ4_XS", 30, RC_DTYPE_IQ4_XS, kIQ4},
    {"MXFP4", 38, RC_DTYPE_MXFP4},
    {"NVFP4", 39, RC_DTYPE_NVFP4, kOutputQ6},
    {"Q3_K_L", 13, RC_DTYPE_Q3_K, kQ3KL},
    {"Q3_K_M", 12, RC_DTYPE_Q3_K, kQ3KM},
    {"Q3_K_S", 11, RC_DTYPE_Q3_K, kQ3KS},
    {"Q3_K", 11, RC_DTYPE_Q3_K},
    {"IQ3_M", 27, RC_DTYPE_IQ3_S, kIQ3M},
    {"IQ3_S", 26, RC_DTYPE_IQ3_S, kIQ3S},
    {"IQ3_XS", 22, RC_DTYPE_IQ3_S, kIQ3XS},
    {"IQ3_XXS", 23, RC_DTYPE_IQ3_XXS, kIQ3XXS},
    {"Q2_K", 10, RC_DTYPE_Q2_K, kQ2K},
    {"Q2_K_S", 21, RC_DTYPE_Q2_K, kQ2KS},
    {"IQ2_M", 29, RC_DTYPE_IQ2_S, kIQ2S},
    {"IQ2_S", 28, RC_DTYPE_IQ2_XS, kIQ2S},
    {"IQ2_XS", 20, RC_DTYPE_IQ2_XS, kIQ2X},
    {"IQ2_XXS", 19, RC_DTYPE_IQ2_XXS, kIQ2X},
    {"TQ2_0", 37, RC_DTYPE_TQ2_0, kTernary},
    {"IQ1_M", 31, RC_DTYPE_IQ1_M, kIQ1},
    {"TQ1_0", 36, RC_DTYPE_TQ1_0, kTernary},
    {"IQ1_S", 24, RC_DTYPE_IQ1_S, kIQ1},
};

}  // namespace rc::quantize
