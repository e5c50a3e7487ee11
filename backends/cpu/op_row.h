// The ops of this backend: each has a row in the file that adds its steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/op.h"

namespace rc::cpu {

class Compiler;

struct OpRow {
  // The form of the op that the row is for; see is_tensor_op.
  enum Form : uint8_t { kOnRows, kOnTensors };

  int32_t code;  // RC_OP_*
  Form form;
  // Adds the steps of an op that has been checked.
  void (*compile)(Compiler& compiler, const Op& op) = nullptr;
  // In place of `compile`: adds the steps of op `first` of the program and of
  // those after it that are computed together with it. Returns the number of
  // these ops, at least 1.
  size_t (*compile_several)(Compiler& compiler, size_t first) = nullptr;
  // Bytes of a thread's scratch that these steps use; nullptr: 0.
  uint64_t (*scratch)(const Compiler& compiler, const Op& op) = nullptr;
};

// Returns the row of an op in its form, nullptr if there is none.
const OpRow* find_op_row(int32_t code, OpRow::Form form);

// The rows of each file.
std::span<const OpRow> arrangement_ops();
std::span<const OpRow> attention_ops();
std::span<const OpRow> bent_ops();
std::span<const OpRow> cache_store_ops();
std::span<const OpRow> choose_ops();
std::span<const OpRow> column_rule_ops();
std::span<const OpRow> conv2d_ops();
std::span<const OpRow> elementwise_ops();
std::span<const OpRow> linear_ops();
std::span<const OpRow> matmul_ops();
std::span<const OpRow> ordering_ops();
std::span<const OpRow> recurrence_ops();
std::span<const OpRow> reduction_ops();
std::span<const OpRow> row_ops();
std::span<const OpRow> table_ops();

}  // namespace rc::cpu
