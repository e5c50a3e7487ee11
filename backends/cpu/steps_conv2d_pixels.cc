// Convolution where many outputs share what a pixel sees: it is taken from the
// image, or a copy with its padding, number by number, and packed nowhere.
#include <algorithm>

#include "cpu/conv2d_sizes.h"
#include "cpu/conv2d_weights.h"
#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

// Pixels that a thread does at a time, in some short rows or a part of a long
// one.
constexpr int64_t kPixels = 64;

}  // namespace

// Packing the weight pays where many pixels share it. What a window of 1 x 1
// sees lies far apart: with many channels a panel brings it together.
bool takes_pixels(const Compiler& c, const Conv2dSizes& sizes) {
  constexpr int64_t kPixelsOfAnOutput = 6;
  return c.kernels().pixels != nullptr && sizes.ow >= kLeastPixels &&
         sizes.pixels() / kPixelsOfAnOutput >= sizes.outputs &&
         sizes.kh * sizes.kw > 1 && (!sizes.needs_copy() || sizes.can_copy());
}

void add_conv2d_pixels(Compiler& c, const Op& op, const Conv2dSizes& sizes) {
  const float* copy = sizes.needs_copy() ? add_padding(c, op, sizes) : nullptr;
  const Conv2dWeights weights(c, op, sizes, kPixelOutputs);
  const int64_t* offsets = window_offsets(c, sizes);
  const int64_t images = sizes.batch * sizes.groups;
  const int64_t rows = std::max<int64_t>(kPixels / sizes.ow, 1);  // at a time
  const int64_t bands = (sizes.oh + rows - 1) / rows;
  const int64_t stretches = (sizes.ow + kPixels - 1) / kPixels;
  const ThreadScratch scratch = c.thread_scratch();
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {copy ? c.own_area(op.inputs[0]) : c.area(op.inputs[0]), weights.area()},
      {c.area(op.outputs[0])},
      [=](const Run&) {
        return images * sizes.pixels() * sizes.window() * weights.blocks() * 2;
      },
      [=](const Run&) { return images * weights.blocks() * bands * stretches; },
      [=](Run& run, const Share& share) {
        const float* all = copy ? copy : run.at<const float>(x);
        auto* sums = scratch.of<float>(share.thread);
        run.each_row(share, [&](int64_t unit) {
          const Part columns(sizes.ow, static_cast<int>(unit % stretches),
                             static_cast<int>(stretches));
          const int64_t first = unit / stretches % bands * rows;
          const int64_t last = std::min(first + rows, sizes.oh);
          // The rows of a block come one after the other: its weights stay in a
          // cache.
          const int64_t block = unit / stretches / bands % weights.blocks();
          const int64_t image = unit / stretches / bands / weights.blocks();
          const int64_t group = image % sizes.groups;
          PixelTask task;
          task.weights = weights.weights(group, block);
          task.bias = weights.bias(group, block);
          task.offsets = offsets;
          task.window = sizes.window();
          task.pixels = columns.end - columns.begin;
          for (int64_t row = first; row < last; ++row) {
            task.x = all + image * sizes.channels * sizes.plane() +
                     row * sizes.stride[0] * sizes.line() + columns.begin;
            task.sums = sums + (row - first) * sizes.ow * kPixelOutputs;
            run.kernels.pixels(task);
          }
          const int64_t output = block * kPixelOutputs;
          run.kernels.transpose(
              sums, kPixelOutputs, (last - first) * task.pixels,
              std::min<int64_t>(kPixelOutputs, sizes.outputs - output),
              sizes.output(run.at<float>(y), image) + output * sizes.pixels() +
                  first * sizes.ow + columns.begin,
              sizes.pixels());
        });
      });
}

uint64_t conv2d_pixels_scratch() {
  return uint64_t{kPixels} * kPixelOutputs * sizeof(float);
}

}  // namespace rc::cpu
