// UNARY of tensors, BINARY and WHERE: functions of one element of each operand,
// where operands may be broadcast.
#pragma once

#include <cstdint>
#include <span>

#include "cpu/kernels.h"
#include "cpu/strides.h"
#include "tensor/op.h"

namespace rc::cpu {

class Elements {
 public:
  static bool has(int32_t code) {
    return code == RC_OP_UNARY || code == RC_OP_BINARY || code == RC_OP_WHERE;
  }
  Elements(const Op& op, std::span<const rc_plugin_value> values);

  int32_t code() const { return code_; }
  int32_t function() const { return function_; }
  int operands() const { return operands_; }
  // Lines along which every operand has a step of 1 or 0.
  int64_t lines() const { return shape_.lines(); }
  int64_t columns() const { return shape_.columns(); }
  int64_t cost() const { return lines() * (columns() * element_cost_ + 8); }

  static constexpr int kMost = 3;  // operands

  // Where a line of an operand begins, and the distance of its elements.
  int64_t offset(int operand, int64_t line) const {
    return shape_.offset(operand, line);
  }
  int64_t step(int operand) const { return shape_.step(operand); }

  // Gives `count` elements of a line from `first` on.
  void compute(const Kernels& kernels, const float* const* from, float* to,
               int64_t line, int64_t first, int64_t count) const;
  // The same of operands that are at at[k], to be written to `to`.
  void compute_at(const Kernels& kernels, const float* const* at, int64_t count,
                  float* to) const;

 private:
  int32_t code_;
  int32_t function_;
  int operands_;
  int64_t element_cost_;
  Strided<kMost> shape_;
};

}  // namespace rc::cpu
