// AFFINE and XIELU: what is done to each element of a row.
#include <cmath>

#include "cpu/chunks.h"
#include "cpu/compiler.h"

namespace rc::cpu {
namespace {

// y = f(x, y, first, n), where `first` is the number of x's first element in
// its row. A chunk lies within a row.
template <class Function>
void add_in_rows(Compiler& c, const Op& op, int64_t cost, Function function) {
  const int64_t width = c.row_elements(op.outputs[0]);
  const int64_t dimension = c.value(op.outputs[0]).shape[0];
  const int64_t chunks = (width + kChunk - 1) / kChunk;
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run& run) { return run.rows(dimension) * width * cost; },
      [=](const Run& run) { return run.rows(dimension) * chunks; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t first = unit % chunks * kChunk;
          const int64_t at = unit / chunks * width + first;
          function(run.at<const float>(x) + at, run.at<float>(y) + at, first,
                   std::min(kChunk, width - first));
        });
      });
}

void compile_affine(Compiler& c, const Op& op) {
  const float* weight = op.inputs[1] < 0 ? nullptr : c.elements(op.inputs[1]);
  const float* bias = op.inputs[2] < 0 ? nullptr : c.elements(op.inputs[2]);
  add_in_rows(c, op, 1,
              [=](const float* x, float* y, int64_t first, int64_t n) {
                for (int64_t i = 0; i < n; ++i) {
                  float v = x[i];
                  if (weight != nullptr) v *= weight[first + i];
                  if (bias != nullptr) v += bias[first + i];
                  y[i] = v;
                }
              });
}

void compile_xielu(Compiler& c, const Op& op) {
  const auto params = op.params.xielu;
  add_in_rows(c, op, 8, [=](const float* x, float* y, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const float v = x[i];
      const float low = v < params.epsilon ? v : params.epsilon;
      const float bent = v > 0 ? params.alpha_p * v * v
                               : params.alpha_n * (std::expm1(low) - v);
      y[i] = bent + params.beta * v;
    }
  });
}

}  // namespace

std::span<const OpRow> bent_ops() {
  static constexpr OpRow kOps[] = {
      {.code = RC_OP_AFFINE, .form = OpRow::kOnRows, .compile = compile_affine},
      {.code = RC_OP_XIELU, .form = OpRow::kOnRows, .compile = compile_xielu}};
  return kOps;
}

}  // namespace rc::cpu
