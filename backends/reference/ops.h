// The ops of the reference backend. Values have been checked (tensor/op.h) and
// dimensions resolved before an op is called; what the host gives at each run,
// ids, positions and page tables, is checked by the op itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "common/host_program.h"
#include "runcible/plugin.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

namespace rc::reference {

// A value of a program during one run.
struct Tensor : plugin::HostValue {
  int64_t rows() const { return shape[0]; }
  // The last dimension, and the product of the others.
  int64_t columns() const { return shape[rank - 1]; }
  int64_t vectors() const {
    int64_t count = 1;
    for (int i = 0; i < rank - 1; ++i) count *= shape[i];
    return count;
  }
  // Elements of one index of the first dimension, and of all.
  int64_t row_size() const {
    int64_t count = 1;
    for (int i = 1; i < rank; ++i) count *= shape[i];
    return count;
  }
  int64_t size() const { return vectors() * columns(); }

  // Plain elements, counted from the first.
  float* floats() const { return reinterpret_cast<float*>(data); }
  const int32_t* numbers() const {
    return reinterpret_cast<const int32_t*>(data);
  }
  // An element of T (see plugin_tensor_ops.h), counted from the first.
  double number(int64_t i) const {
    switch (dtype) {
      case RC_DTYPE_F64:
        return reinterpret_cast<const double*>(data)[i];
      case RC_DTYPE_F16:
        return f16_to_f32(reinterpret_cast<const uint16_t*>(data)[i]);
      case RC_DTYPE_BF16:
        return bf16_to_f32(reinterpret_cast<const uint16_t*>(data)[i]);
      default:
        return floats()[i];
    }
  }
  // Rounds to it: halves are what F32 rounds to, rounded once more.
  void put(int64_t i, double number) const {
    switch (dtype) {
      case RC_DTYPE_F64:
        reinterpret_cast<double*>(data)[i] = number;
        return;
      case RC_DTYPE_F16:
        reinterpret_cast<uint16_t*>(data)[i] =
            f32_to_f16(static_cast<float>(number));
        return;
      case RC_DTYPE_BF16:
        reinterpret_cast<uint16_t*>(data)[i] =
            f32_to_bf16(static_cast<float>(number));
        return;
      default:
        floats()[i] = static_cast<float>(number);
    }
  }
  // Vector `index` of the last dimension, whatever the type.
  std::byte* vector(int64_t index) const {
    return data + static_cast<uint64_t>(index) * *row_bytes(dtype, columns());
  }
  void decode(int64_t index, float* target) const {
    decode_row(dtype, vector(index), target, columns());
  }
};

// One op of one run.
struct Call {
  const Op& op;
  std::array<Tensor, kMaxInputs> inputs;  // no data: absent
  std::array<Tensor, kMaxOutputs> outputs;
  int64_t sequences;
  const rc_plugin_run& run;

  // Throws RC_E_CANCELLED if the caller wants the run to stop. Called before
  // each row.
  void check_stop() const {
    if (run.should_stop != nullptr && run.should_stop(run.user) != 0) {
      fail(RC_E_CANCELLED, "the run was cancelled");
    }
  }
};

// An op: its number and the function that computes it.
struct OpRow {
  int32_t code;  // RC_OP_*
  void (*execute)(const Call& call);
};

// The ops of each file.
std::span<const OpRow> linear_ops();
std::span<const OpRow> norm_ops();
std::span<const OpRow> rope_ops();
std::span<const OpRow> attention_ops();
std::span<const OpRow> recurrence_ops();
std::span<const OpRow> elementwise_ops();
std::span<const OpRow> route_ops();
std::span<const OpRow> reshaping_ops();
std::span<const OpRow> ordering_ops();
std::span<const OpRow> reduction_ops();
std::span<const OpRow> product_ops();

double apply(int32_t function, double x);  // RC_FUNCTION_*

}  // namespace rc::reference
