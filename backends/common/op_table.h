// The ops of a backend, by number: rows that its files list, each next to
// the function that it names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "tensor/op.h"

namespace rc::plugin {

// `Row` has a member `code`, RC_OP_*. Rows must outlive the table.
template <class Row>
class OpTable {
 public:
  OpTable() = default;
  OpTable(std::initializer_list<std::span<const Row>> files) {
    for (const std::span<const Row> rows : files) {
      for (const Row& row : rows) add(row);
    }
  }

  void add(const Row& row) { rows_[static_cast<size_t>(row.code)] = &row; }

  // Returns nullptr if there is no such op.
  const Row* find(int32_t code) const {
    const bool known = code >= 0 && code < kMaxOpCodes;
    return known ? rows_[static_cast<size_t>(code)] : nullptr;
  }

 private:
  std::array<const Row*, kMaxOpCodes> rows_ = {};
};

}  // namespace rc::plugin
