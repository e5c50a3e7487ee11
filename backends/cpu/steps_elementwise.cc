// Steps of tensor ops that look at one element at a time.
#include <algorithm>
#include <array>
#include <cmath>

#include "cpu/compiler.h"
#include "cpu/elements.h"
#include "cpu/kernels.h"

namespace rc::cpu {
void compile_elementwise(Compiler& c, const Op& op) {
  const Elements elements(op, c.values());
  const int64_t n = elements.columns();
  const int64_t chunks = n / kChunk + (n % kChunk != 0);
  std::vector<Area> reads;
  std::array<Place, 3> places = {};
  for (int k = 0; k < elements.operands(); ++k) {
    reads.push_back(c.area(op.inputs[k]));
    places[k] = c.place(op.inputs[k]);
  }
  const Place y = c.place(op.outputs[0]);
  c.add(
      std::move(reads), {c.area(op.outputs[0])},
      [=](const Run&) { return elements.cost(); },
      [=](const Run&) { return elements.lines() * chunks; },
      [=](Run& run, const Share& share) {
        const float* from[3];
        for (int k = 0; k < elements.operands(); ++k) {
          from[k] = run.at<const float>(places[k]);
        }
        float* to = run.at<float>(y);
        run.each_row(share, [&](int64_t unit) {
          const int64_t first = unit % chunks * kChunk;
          elements.compute(run.kernels, from, to, unit / chunks, first,
                           std::min(kChunk, n - first));
        });
      });
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
