// Convolution where pixels that lie side by side see numbers that do, and few
// outputs share them.
#include <algorithm>

#include "cpu/conv2d_sizes.h"
#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

// Pixels of a row that are done together.
constexpr int64_t kStretch = 96;
constexpr int64_t kVector = 16;

int64_t blocks_of(const Conv2dSizes& sizes) {
  return (sizes.outputs + kWindowOutputs - 1) / kWindowOutputs;
}

// The weight as [blocks of outputs][window][kWindowOutputs], and the bias as
// [blocks of outputs][kWindowOutputs] behind it.
float* add_packed_weight(Compiler& c, const Op& op, const Conv2dSizes& sizes) {
  const int64_t window = sizes.window();
  const int64_t blocks = blocks_of(sizes);
  auto* to = reinterpret_cast<float*>(c.area_of(product(
      product(product(static_cast<uint64_t>(sizes.groups * blocks), window + 1),
              kWindowOutputs),
      sizeof(float))));
  float* biases = to + sizes.groups * blocks * window * kWindowOutputs;
  const bool has_bias = op.inputs[2] >= 0;
  const Place weight = c.place(op.inputs[1]);
  const Place bias = has_bias ? c.place(op.inputs[2]) : Place{};
  std::vector<Area> reads = {c.area(op.inputs[1])};
  if (has_bias) reads.push_back(c.area(op.inputs[2]));
  c.add(
      std::move(reads), {c.own_area(op.inputs[1])},
      [=](const Run&) { return sizes.groups * sizes.outputs * window * 2; },
      [=](const Run&) { return sizes.groups * blocks; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t group = unit / blocks;
          const int64_t first = unit % blocks * kWindowOutputs;
          float* block = to + unit * window * kWindowOutputs;
          for (int o = 0; o < kWindowOutputs; ++o) {
            const bool there = first + o < sizes.outputs;
            const int64_t output = group * sizes.outputs + first + o;
            biases[unit * kWindowOutputs + o] =
                there && has_bias ? run.at<const float>(bias)[output] : 0.0f;
            const float* from = run.at<const float>(weight) + output * window;
            for (int64_t k = 0; k < window; ++k) {
              block[k * kWindowOutputs + o] = there ? from[k] : 0.0f;
            }
          }
        });
      });
  return to;
}

// A row of pixels of an image, or of a group of one, at a time, all outputs.
void add_direct(Compiler& c, const Op& op, const Conv2dSizes& sizes) {
  const float* padded =
      sizes.needs_copy() ? add_padding(c, op, sizes) : nullptr;
  const float* weights = add_packed_weight(c, op, sizes);
  const int64_t window = sizes.window();
  const int64_t blocks = blocks_of(sizes);
  const float* biases =
      weights + sizes.groups * blocks * window * kWindowOutputs;
  const int64_t columns = sizes.line();
  const int64_t plane = sizes.plane();
  const int64_t* offsets = window_offsets(c, sizes);
  const int64_t images = sizes.batch * sizes.groups;
  // Stretches whose numbers stay in the first-level cache meanwhile.
  const int64_t stretches = sizes.ow / kStretch + (sizes.ow % kStretch != 0);
  const int64_t vectors = (sizes.ow + kVector - 1) / kVector;
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {padded ? c.own_area(op.inputs[0]) : c.area(op.inputs[0]),
       c.own_area(op.inputs[1])},
      {c.area(op.outputs[0])},
      [=](const Run&) {
        return images * sizes.pixels() * window * (sizes.outputs / 16 + 1);
      },
      [=](const Run&) { return images * sizes.oh * stretches; },
      [=](Run& run, const Share& share) {
        const float* all = padded ? padded : run.at<const float>(x);
        run.each_row(share, [&](int64_t unit) {
          const int64_t row = unit / stretches % sizes.oh;
          const int64_t image = unit / stretches / sizes.oh;
          const int64_t group = image % sizes.groups;
          const Part part(vectors, static_cast<int>(unit % stretches),
                          static_cast<int>(stretches));
          const int64_t begin = part.begin * kVector;
          WindowTask task;
          task.offsets = offsets;
          task.window = window;
          task.x = all + image * sizes.channels * plane +
                   row * sizes.stride[0] * columns + begin;
          // At least 16: a short row has one stretch.
          task.pixels = std::min(part.end * kVector, sizes.ow) - begin;
          task.plane = sizes.pixels();
          for (int64_t block = 0; block < blocks; ++block) {
            const int64_t at = group * blocks + block;
            task.weights = weights + at * window * kWindowOutputs;
            task.bias = biases + at * kWindowOutputs;
            task.outputs = static_cast<int>(std::min<int64_t>(
                kWindowOutputs, sizes.outputs - block * kWindowOutputs));
            task.y = sizes.output(run.at<float>(y), image) +
                     block * kWindowOutputs * sizes.pixels() + row * sizes.ow +
                     begin;
            run.kernels.windows(task);
          }
        });
      });
}

}  // namespace

void compile_conv2d(Compiler& c, const Op& op) {
  const Conv2dSizes sizes(c, op);
  if (sizes.direct()) {
    add_direct(c, op, sizes);
  } else {
    add_conv2d_product(c, op, sizes);
  }
}

}  // namespace rc::cpu
