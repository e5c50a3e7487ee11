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
// From so many rows for each thread on, a thread does whole rows.
constexpr int64_t kRowsPerThread = 8;

// A row of pixels of an image, or of a group of one, or a stretch of one at a
// time, all outputs.
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
  const int64_t rows = images * sizes.oh;
  const bool whole_rows = rows >= c.threads() * kRowsPerThread;
  const int64_t units_per_row = whole_rows ? 1 : stretches;
  const Place x = c.place(op.inputs[0]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {padded ? c.own_area(op.inputs[0]) : c.area(op.inputs[0]),
       weights.area()},
      {c.area(op.outputs[0])},
      [=](const Run&) {
        return images * sizes.pixels() * window * (sizes.outputs / 16 + 1);
      },
      [=](const Run&) { return rows * units_per_row; },
      [=](Run& run, const Share& share) {
        const float* all = padded ? padded : run.at<const float>(x);
        const auto stretch = [&](int64_t row_of_all, int64_t number) {
          const int64_t row = row_of_all % sizes.oh;
          const int64_t image = row_of_all / sizes.oh;
          const int64_t group = image % sizes.groups;
          const Part part(vectors, static_cast<int>(number),
                          static_cast<int>(stretches));
          const int64_t end = std::min(part.end * kVector, sizes.ow);
          int64_t begin = part.begin * kVector;
          // The last one of a row is made of whole vectors, too, if what it
          // has in common with the one before is this thread's as well.
          if (whole_rows && number > 0) {
            begin = end - (part.end - part.begin) * kVector;
          }
          WindowTask task;
          task.offsets = offsets;
          task.window = window;
          task.x = all + image * sizes.channels * plane +
                   row * sizes.stride[0] * columns + begin;
          // At least 16: a short row has one stretch.
          task.pixels = end - begin;
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
        };
        run.each_row(share, [&](int64_t unit) {
          if (!whole_rows) {
            return stretch(unit / stretches, unit % stretches);
          }
          for (int64_t i = 0; i < stretches; ++i) stretch(unit, i);
        });
      });
}

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

}  // namespace

std::span<const OpRow> conv2d_ops() {
  static constexpr OpRow kOps[] = {{.code = RC_OP_CONV2D,
                                    .form = OpRow::kOnTensors,
                                    .compile = compile_conv2d,
                                    .scratch = conv2d_scratch}};
  return kOps;
}

}  // namespace rc::cpu
