#include "cpu/op_row.h"

#include <array>

#include "common/op_table.h"

namespace rc::cpu {
namespace {

// By form.
using OpTables = std::array<plugin::OpTable<OpRow>, 2>;

OpTables make_op_tables() {
  OpTables tables;
  for (const std::span<const OpRow> rows :
       {arrangement_ops(), attention_ops(), bent_ops(), cache_store_ops(),
        choose_ops(), column_rule_ops(), conv2d_ops(), elementwise_ops(),
        linear_ops(), matmul_ops(), ordering_ops(), recurrence_ops(),
        reduction_ops(), row_ops(), table_ops()}) {
    for (const OpRow& row : rows) tables[row.form].add(row);
  }
  return tables;
}

}  // namespace

const OpRow* find_op_row(int32_t code, OpRow::Form form) {
  static const OpTables kTables = make_op_tables();
  return kTables[form].find(code);
}

}  // namespace rc::cpu
