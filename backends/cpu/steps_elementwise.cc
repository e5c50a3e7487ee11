// Steps of tensor ops that look at one element at a time.
#include <algorithm>
#include <cmath>

#include "cpu/compiler.h"
#include "cpu/kernels.h"
#include "cpu/strides.h"

namespace rc::cpu {
namespace {

void add_unary(Compiler& c, const Op& op) {
  const int32_t function = op.params.unary.function;
  const int64_t n =
      c.row_elements(op.inputs[0]) * c.value(op.inputs[0]).shape[0];
  const int64_t chunks = n / kChunk + (n % kChunk != 0);
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.area(op.outputs[0])},
      [=](const Run&) { return n * 2; }, [=](const Run&) { return chunks; },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        float* to = run.at<float>(y);
        run.each_row(share, [&](int64_t chunk) {
          const int64_t first = chunk * kChunk;
          run.kernels.unary(from + first, std::min(kChunk, n - first), function,
                            to + first);
        });
      });
}

void add_binary(Compiler& c, const Op& op) {
  const int32_t function = op.params.binary.function;
  const rc_plugin_value& value = c.value(op.outputs[0]);
  Strided<2> shape(value.rank);
  std::copy_n(value.shape, value.rank, shape.sizes);
  for (int k = 0; k < 2; ++k) {
    const rc_plugin_value& input = c.value(op.inputs[k]);
    int64_t stride = 1;
    for (int i = 1; i <= input.rank; ++i) {
      const int64_t size = input.shape[input.rank - i];
      shape.strides[k][value.rank - i] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }
  shape.merge();
  const int64_t n = shape.columns();
  const int64_t chunks = n / kChunk + (n % kChunk != 0);
  const Place a = c.place(op.inputs[0]);
  const Place b = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run&) { return shape.lines() * (n + 8); },
      [=](const Run&) { return shape.lines() * chunks; },
      [=](Run& run, const Share& share) {
        const float* pa = run.at<const float>(a);
        const float* pb = run.at<const float>(b);
        float* to = run.at<float>(y);
        const int64_t step_a = shape.step(0);
        const int64_t step_b = shape.step(1);
        run.each_row(share, [&](int64_t unit) {
          const int64_t line = unit / chunks;
          const int64_t first = unit % chunks * kChunk;
          run.kernels.binary(pa + shape.offset(0, line) + first * step_a,
                             static_cast<int>(step_a),
                             pb + shape.offset(1, line) + first * step_b,
                             static_cast<int>(step_b),
                             std::min(kChunk, n - first), function,
                             to + line * n + first);
        });
      });
}

}  // namespace

void compile_elementwise(Compiler& c, const Op& op) {
  if (op.code == RC_OP_UNARY) return add_unary(c, op);
  add_binary(c, op);
}

uint64_t tensor_rope_scratch(const Compiler& c, const Op& op) {
  return product(c.columns(op.inputs[2]), 2 * sizeof(float));
}

void compile_tensor_rope(Compiler& c, const Op& op) {
  const rc_plugin_value& value = c.value(op.inputs[0]);
  const int64_t rows = value.shape[0];
  const int64_t heads = value.shape[1];
  const int64_t d = value.shape[2];
  const int64_t pairs = c.columns(op.inputs[2]);
  const int32_t style = op.params.rope.style;
  const float scale = op.params.rope.scale;
  const Place x = c.place(op.inputs[0]);
  const Place positions = c.place(op.inputs[1]);
  const Place frequencies = c.place(op.inputs[2]);
  const Place y = c.place(op.outputs[0]);
  const ThreadScratch scratch = c.thread_scratch();
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1]), c.area(op.inputs[2])},
      {c.area(op.outputs[0])},
      [=](const Run&) { return rows * (heads * d + pairs * 40); },
      [=](const Run&) { return rows; },
      [=](Run& run, const Share& share) {
        const float* from = run.at<const float>(x);
        const auto* position = run.at<const int32_t>(positions);
        const float* frequency = run.at<const float>(frequencies);
        float* to = run.at<float>(y);
        float* cosines = scratch.of<float>(share.thread);
        float* sines = cosines + pairs;
        run.each_row(share, [&](int64_t r) {
          for (int64_t i = 0; i < pairs; ++i) {
            const double angle =
                static_cast<double>(position[r]) * frequency[i];
            cosines[i] = static_cast<float>(std::cos(angle) * scale);
            sines[i] = static_cast<float>(std::sin(angle) * scale);
          }
          for (int64_t h = r * heads; h < (r + 1) * heads; ++h) {
            run.kernels.rope(from + h * d, cosines, sines, pairs, d, style,
                             to + h * d);
          }
        });
      });
}

}  // namespace rc::cpu
