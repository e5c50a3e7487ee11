#include "cpu/op_row.h"

#include <array>

namespace rc::cpu {
namespace {

// By form and number.
using OpTable = std::array<std::array<const OpRow*, kMaxOpCodes>, 2>;

OpTable make_op_table() {
  OpTable table = {};
  for (const std::span<const OpRow> rows :
       {arrangement_ops(), attention_ops(), bent_ops(), cache_store_ops(),
        choose_ops(), column_rule_ops(), conv2d_ops(), elementwise_ops(),
        linear_ops(), matmul_ops(), ordering_ops(), recurrence_ops(),
        reduction_ops(), row_ops(), table_ops()}) {
    for (const OpRow& row : rows) {
      table[row.form][static_cast<size_t>(row.code)] = &row;
    }
  }
  return table;
}

}  // namespace

const OpRow* find_op_row(int32_t code, OpRow::Form form) {
  static const OpTable kTable = make_op_table();
  if (code < 0 || code >= kMaxOpCodes) return nullptr;
  return kTable[form][static_cast<size_t>(code)];
}

}  // namespace rc::cpu
