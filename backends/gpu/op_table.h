// The ops that kernels compute, by number.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "base/error.h"
#include "tensor/op.h"

namespace rc::gpu {

template <class Row>
class OpTable {
 public:
  // The rows outlive the table.
  OpTable(std::initializer_list<std::span<const Row>> files) {
    for (const std::span<const Row> rows : files) {
      for (const Row& row : rows) rows_[static_cast<size_t>(row.code)] = &row;
    }
  }

  // Throws RC_E_UNSUPPORTED if there is no such op.
  const Row& at(int32_t code) const {
    const bool known = code >= 0 && code < kMaxOpCodes;
    const Row* row = known ? rows_[static_cast<size_t>(code)] : nullptr;
    if (row == nullptr) {
      fail(RC_E_UNSUPPORTED, op_name(code), " has no kernel for GPUs");
    }
    return *row;
  }

 private:
  std::array<const Row*, kMaxOpCodes> rows_ = {};
};

}  // namespace rc::gpu
