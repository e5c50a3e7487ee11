// Ops of tensors whose numbers are F64, F16 or BF16 (see "of T" in
// plugin_tensor_ops.h).
//
// F64 is computed by plain loops, the same at all levels. F16 and BF16 are
// decoded block by block, computed by the kernels of F32, and rounded as they
// are written: no copy of them in F32 is ever in memory.
#pragma once

#include <cstdint>
#include <span>

#include "cpu/elements.h"
#include "cpu/kernels.h"

namespace rc::cpu {
class Compiler;
}

namespace rc::cpu::numbers {

// Gives `count` elements of a line, from `first` on, of UNARY, BINARY or WHERE
// with numbers of this type; operands and the result lie at their first ones.
void compute_elements(const Kernels& kernels, const Elements& elements,
                      rc_dtype type, const uint8_t* const* from, uint8_t* to,
                      int64_t line, int64_t first, int64_t count);
// RC_FUNCTION_* or RC_UNARY_*, of doubles; y may be x.
void compute_unary(const double* x, int64_t n, int32_t function, double* y);

// Those of compiler.h, for these types; the first input has one.
void compile_elementwise(Compiler& compiler, const Op& op);
void compile_reduction(Compiler& compiler, const Op& op);
void compile_order(Compiler& compiler, const Op& op);
void compile_matmul(Compiler& compiler, const Op& op);
// Bytes of a thread for each element of a line that ORDER sorts.
inline constexpr uint64_t kKeyBytes = 16;
uint64_t matmul_scratch(const Compiler& compiler, const Op& op);

}  // namespace rc::cpu::numbers
