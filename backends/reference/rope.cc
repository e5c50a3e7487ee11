#include <cmath>

#include "reference/ops.h"

namespace rc::reference {
namespace {

void rope(const Call& call) {
  const Tensor& x = call.inputs[0];
  const Tensor& positions = call.inputs[1];
  const Tensor& frequencies = call.inputs[2];
  const Tensor& output = call.outputs[0];
  const int64_t heads = x.shape[1];
  const int64_t d = x.shape[2];
  const int64_t pairs = frequencies.columns();
  const bool halves = call.op.params.rope.style == RC_ROPE_HALVES;
  const double scale = call.op.params.rope.scale;
  for (int64_t r = 0; r < x.rows(); ++r) {
    call.check_stop();
    for (int64_t h = 0; h < heads; ++h) {
      const float* from = x.floats() + (r * heads + h) * d;
      float* to = output.floats() + (r * heads + h) * d;
      for (int64_t i = 0; i < pairs; ++i) {
        const int64_t first = halves ? i : 2 * i;
        const int64_t second = halves ? i + pairs : 2 * i + 1;
        const double angle = static_cast<double>(positions.numbers()[r]) *
                             frequencies.floats()[i];
        const double cosine = std::cos(angle) * scale;
        const double sine = std::sin(angle) * scale;
        // Both are read before either is written: x may be the output.
        const double a = from[first];
        const double b = from[second];
        to[first] = static_cast<float>(a * cosine - b * sine);
        to[second] = static_cast<float>(a * sine + b * cosine);
      }
      for (int64_t i = 2 * pairs; i < d; ++i) to[i] = from[i];
    }
  }
}

}  // namespace

std::span<const OpRow> rope_ops() {
  static constexpr OpRow kOps[] = {{RC_OP_ROPE, rope}};
  return kOps;
}

}  // namespace rc::reference
