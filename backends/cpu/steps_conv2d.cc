// Convolution where pixels that lie side by side see numbers that do, and few
// outputs share them.
#include <algorithm>

#include "cpu/conv2d_sizes.h"
#include "cpu/conv2d_weights.h"
#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

// Pixels of a row that are done together.
constexpr int64_t kStretch = 96;
constexpr int64_t kVector = 16;

// A row of pixels of an image, or of a group of one, at a time, all outputs.
void add_direct(Compiler& c, const Op& op, const Conv2dSizes& sizes) {
  const float* padded =
      sizes.needs_copy() ? add_padding(c, op, sizes) : nullptr;
  const Conv2dWeights weights(c, op, sizes, kWindowOutputs);
  const int64_t window = sizes.window();
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
       weights.area()},
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
          for (int64_t block = 0; block < weights.blocks(); ++block) {
            task.weights = weights.weights(group, block);
            task.bias = weights.bias(group, block);
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
  } else if (takes_pixels(c, sizes)) {
    add_conv2d_pixels(c, op, sizes);
  } else {
    add_conv2d_product(c, op, sizes);
  }
}

}  // namespace rc::cpu
