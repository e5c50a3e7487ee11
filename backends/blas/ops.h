// The ops of the backend: products, and nothing else.
#pragma once

#include <cstdint>
#include <span>

#include "blas/run.h"
#include "tensor/op.h"

namespace rc::blas {

struct OpRow {
  int32_t code;  // RC_OP_*
  // Throws RC_E_UNSUPPORTED with the reason if the op is left to the CPU. The
  // op obeys check_op.
  void (*check)(const Op& op, std::span<const rc_plugin_value> values);
  // Bytes of memory that each thread needs.
  uint64_t (*scratch)(const Op& op, std::span<const rc_plugin_value> values);
  void (*run)(Call& call);
};

// Returns the row of an op; nullptr if there is none.
const OpRow* find_row(int32_t code);

// The rows of each file.
std::span<const OpRow> matrix_ops();
std::span<const OpRow> convolution_ops();

// Adds to each of `count` numbers its bias, if there are any, and replaces it
// by its function RC_FUNCTION_*.
void finish(float* numbers, const float* bias, int32_t function, int64_t count);
void finish(double* numbers, const double* bias, int32_t function,
            int64_t count);

}  // namespace rc::blas
