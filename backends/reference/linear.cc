// Products with weights, whole or by rows.
#include <cstring>

#include "reference/ops.h"
#include "tensor/op.h"

namespace rc::reference {
namespace {

double dot(const float* a, const float* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

void get_rows(const Call& call) {
  const Tensor& table = call.inputs[0];
  const Tensor& ids = call.inputs[1];
  const Tensor& output = call.outputs[0];
  for (int64_t r = 0; r < ids.rows(); ++r) {
    call.check_stop();
    const int32_t id = ids.numbers()[r];
    if (id < 0 || id >= table.rows()) {
      fail(RC_E_INVALID_ARGUMENT, op_name(call.op.code), ": row ", r,
           " asks for number ", id, " of a table of ", table.rows());
    }
    if (output.dtype == RC_DTYPE_F64) {
      std::memcpy(output.vector(r), table.vector(id),
                  *row_bytes(output.dtype, output.columns()));
      continue;
    }
    table.decode(id, output.floats() + r * output.columns());
  }
}

void linear(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Tensor& bias = call.inputs[2];
  const Tensor& residual = call.inputs[3];
  const Tensor& output = call.outputs[0];
  const int64_t k = x.columns();
  const int64_t n = output.columns();
  std::vector<float> w(k);
  for (int64_t j = 0; j < n; ++j) {
    call.check_stop();
    weight.decode(j, w.data());
    for (int64_t r = 0; r < x.rows(); ++r) {
      double sum = dot(x.floats() + r * k, w.data(), k);
      if (bias) sum += bias.floats()[j];
      if (residual) sum += residual.floats()[r * n + j];
      output.floats()[r * n + j] = static_cast<float>(sum);
    }
  }
}

void expert_linear(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Tensor& ids = call.inputs[2];
  const Tensor& bias = call.inputs[3];
  const Tensor& output = call.outputs[0];
  const int64_t d = x.columns();
  const int64_t experts = weight.shape[0];
  const int64_t n = weight.shape[1];
  const int64_t chosen = ids.columns();
  std::vector<float> w(d);
  for (int64_t r = 0; r < ids.rows(); ++r) {
    for (int64_t c = 0; c < chosen; ++c) {
      call.check_stop();
      const int64_t choice = r * chosen + c;
      const int32_t expert = ids.numbers()[choice];
      if (expert < 0 || expert >= experts) {
        fail(RC_E_INVALID_ARGUMENT, "EXPERT_LINEAR: row ", r,
             " asks for expert ", expert, " of ", experts);
      }
      // Either one vector for all the experts of a row, or one for each.
      const float* from = x.floats() + (x.rank == 2 ? r : choice) * d;
      for (int64_t j = 0; j < n; ++j) {
        weight.decode(expert * n + j, w.data());
        double sum = dot(from, w.data(), d);
        if (bias) sum += bias.floats()[expert * n + j];
        output.floats()[choice * n + j] = static_cast<float>(sum);
      }
    }
  }
}

void expert_sum(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& weights = call.inputs[1];
  const Tensor& output = call.outputs[0];
  const int64_t chosen = x.shape[1];
  const int64_t n = x.shape[2];
  for (int64_t r = 0; r < x.rows(); ++r) {
    call.check_stop();
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t c = 0; c < chosen; ++c) {
        sum += static_cast<double>(weights.floats()[r * chosen + c]) *
               x.floats()[(r * chosen + c) * n + j];
      }
      output.floats()[r * n + j] = static_cast<float>(sum);
    }
  }
}

}  // namespace

std::span<const OpRow> linear_ops() {
  static constexpr OpRow kOps[] = {{RC_OP_GET_ROWS, get_rows},
                                   {RC_OP_LINEAR, linear},
                                   {RC_OP_EXPERT_LINEAR, expert_linear},
                                   {RC_OP_EXPERT_SUM, expert_sum}};
  return kOps;
}

}  // namespace rc::reference
