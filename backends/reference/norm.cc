#include <cmath>

#include "reference/ops.h"

namespace rc::reference {
namespace {

// Vector v has the weights of group v modulo `groups`.
void norm_groups(const Call& call, int64_t groups) {
  const Tensor& x = call.inputs[0];
  const Tensor& weight = call.inputs[1];
  const Tensor& output = call.outputs[0];
  const int64_t d = x.columns();
  for (int64_t v = 0; v < x.vectors(); ++v) {
    call.check_stop();
    const float* from = x.floats() + v * d;
    float* to = output.floats() + v * d;
    const float* weights = weight.floats() + v % groups * d;
    double squares = 0;
    for (int64_t i = 0; i < d; ++i) {
      squares += static_cast<double>(from[i]) * from[i];
    }
    const double factor =
        1 / std::sqrt(squares / static_cast<double>(d) +
                      static_cast<double>(call.op.params.norm.epsilon));
    for (int64_t i = 0; i < d; ++i) {
      to[i] = static_cast<float>(from[i] * factor * weights[i]);
    }
  }
}

void rms_norm(const Call& call) { norm_groups(call, 1); }

void group_norm(const Call& call) {
  norm_groups(call, call.inputs[0].shape[1]);
}

}  // namespace

std::span<const OpRow> norm_ops() {
  static constexpr OpRow kOps[] = {{RC_OP_RMS_NORM, rms_norm},
                                   {RC_OP_GROUP_NORM, group_norm}};
  return kOps;
}

}  // namespace rc::reference
