/* Runcible: types of numbers, and kinds of functions and rotary embedding,
 * which tensors, models and plugins have in common. */
#ifndef RUNCIBLE_TYPES_H
#define RUNCIBLE_TYPES_H

#include <stdint.h>

/* Types of tensor elements. The numbers are those of the GGUF file format; the
 * types from Q4_0 on store blocks of elements with shared scales. */
typedef int32_t rc_dtype;
enum {
  RC_DTYPE_F32 = 0,
  RC_DTYPE_F16 = 1,
  RC_DTYPE_Q4_0 = 2,
  RC_DTYPE_Q4_1 = 3,
  RC_DTYPE_Q5_0 = 6,
  RC_DTYPE_Q5_1 = 7,
  RC_DTYPE_Q8_0 = 8,
  RC_DTYPE_Q8_1 = 9,
  RC_DTYPE_Q2_K = 10,
  RC_DTYPE_Q3_K = 11,
  RC_DTYPE_Q4_K = 12,
  RC_DTYPE_Q5_K = 13,
  RC_DTYPE_Q6_K = 14,
  RC_DTYPE_Q8_K = 15,
  RC_DTYPE_IQ2_XXS = 16,
  RC_DTYPE_IQ2_XS = 17,
  RC_DTYPE_IQ3_XXS = 18,
  RC_DTYPE_IQ1_S = 19,
  RC_DTYPE_IQ4_NL = 20,
  RC_DTYPE_IQ3_S = 21,
  RC_DTYPE_IQ2_S = 22,
  RC_DTYPE_IQ4_XS = 23,
  RC_DTYPE_I8 = 24,
  RC_DTYPE_I16 = 25,
  RC_DTYPE_I32 = 26,
  RC_DTYPE_I64 = 27,
  RC_DTYPE_F64 = 28,
  RC_DTYPE_IQ1_M = 29,
  RC_DTYPE_BF16 = 30,
  RC_DTYPE_TQ1_0 = 34,
  RC_DTYPE_TQ2_0 = 35,
  RC_DTYPE_MXFP4 = 39,
  RC_DTYPE_NVFP4 = 40,
  RC_DTYPE_Q1_0 = 41
};

/* Functions of one number that ops apply. */
typedef int32_t rc_function;
enum {
  RC_FUNCTION_NONE = 0,    /* x itself */
  RC_FUNCTION_RELU = 1,    /* x, or 0 where x is below */
  RC_FUNCTION_SIGMOID = 2, /* 1 / (1 + exp(-x)) */
  RC_FUNCTION_TANH = 3,    /* the hyperbolic tangent of x */
  RC_FUNCTION_SILU = 4,    /* x / (1 + exp(-x)) */
  RC_FUNCTION_GELU = 5,    /* 0.5 x (1 + erf(x / sqrt(2))) */
  /* 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
  RC_FUNCTION_GELU_TANH = 6,
  RC_FUNCTION_GELU_QUICK = 7 /* x / (1 + exp(-1.702 x)) */
};

/* How rotary embedding pairs the elements of a head. */
typedef int32_t rc_rope_style;
enum {
  RC_ROPE_ADJACENT = 0, /* 2i with 2i + 1 */
  RC_ROPE_HALVES = 1    /* i with i + pairs */
};

#endif /* RUNCIBLE_TYPES_H */
