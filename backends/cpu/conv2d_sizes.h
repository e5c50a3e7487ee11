// The sizes of a CONV2D: x [batch, groups * channels, height, width], the
// weight [groups * outputs, channels, kh, kw] and y [batch, groups * outputs,
// oh, ow].
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/compiler.h"

namespace rc::cpu {

struct Conv2dSizes {
  int64_t batch, groups, outputs;  // outputs of a group
  int64_t channels;                // of a group
  int64_t height, width, kh, kw, oh, ow;
  int32_t stride[2], padding[2], dilation[2];

  Conv2dSizes(const Compiler& c, const Op& op) {
    const rc_plugin_value& x = c.value(op.inputs[0]);
    const rc_plugin_value& weight = c.value(op.inputs[1]);
    const rc_plugin_value& y = c.value(op.outputs[0]);
    const auto& params = op.params.conv2d;
    batch = x.shape[0];
    groups = params.groups;
    outputs = y.shape[1] / groups;
    channels = weight.shape[1];
    height = x.shape[2];
    width = x.shape[3];
    kh = weight.shape[2];
    kw = weight.shape[3];
    oh = y.shape[2];
    ow = y.shape[3];
    std::copy_n(params.stride, 2, stride);
    std::copy_n(params.padding, 2, padding);
    std::copy_n(params.dilation, 2, dilation);
    if (kh == 1 && kw == 1 && stride[0] == 1 && stride[1] == 1 && !padded()) {
      // All pixels see numbers that lie as they do: an image is one row.
      width *= height;
      ow *= oh;
      height = oh = 1;
    }
  }

  int64_t window() const { return channels * kh * kw; }
  int64_t pixels() const { return oh * ow; }
  // Channels of one group of one image, and its outputs.
  const float* input(const float* x, int64_t image) const {
    return x + image * channels * height * width;
  }
  float* output(float* y, int64_t image) const {
    return y + image * outputs * pixels();
  }

  // Whether pixels that lie side by side see numbers that do, and are many
  // enough for vectors. With many outputs packing what they see pays, unless
  // rows are long and what a stretch of one sees stays in a cache anyway, where
  // it is seen several times.
  bool direct() const {
    const bool packs =
        outputs >= 64 && (ow < 96 || channels * kh > 128 || kh * kw == 1);
    return stride[1] == 1 && ow >= 16 && !packs && (!padded() || can_copy());
  }

  // A copy of x with the padding around it. Where a window moves on by several
  // columns a line has the columns that one number of it sees first, then those
  // that the next one does: what pixels side by side see lies side by side.
  int64_t padded_height() const { return height + 2 * int64_t{padding[0]}; }
  int64_t padded_width() const { return width + 2 * int64_t{padding[1]}; }
  bool padded() const { return padding[0] > 0 || padding[1] > 0; }
  int64_t phases() const { return ow == 1 ? 1 : stride[1]; }
  int64_t phase_width() const {
    return (padded_width() + phases() - 1) / phases();
  }
  int64_t line() const { return phases() * phase_width(); }
  int64_t plane() const { return padded_height() * line(); }
  // Whether it differs from x, and whether it is not much larger.
  bool needs_copy() const { return padded() || phases() > 1; }
  bool can_copy() const {
    const double copied =
        static_cast<double>(padded_height()) * static_cast<double>(line());
    const double most =
        4.0 * static_cast<double>(height) * static_cast<double>(width) + 4096;
    return copied <= most;
  }
};

// Numbers j * step + from of a line of `width` for `count` numbers j from
// `first` on; 0 beyond its ends.
void pick_stretch(const float* line, int64_t width, int64_t step, int64_t from,
                  int64_t first, int64_t count, float* to);

// Where the numbers of a window lie in the copy, from what a pixel sees first;
// the program's own memory.
int64_t* window_offsets(Compiler& c, const Conv2dSizes& sizes);

// Adds the step that makes the copy: where it lies, which is own_area(x).
float* add_padding(Compiler& c, const Op& op, const Conv2dSizes& sizes);

// Whether those below are the quicker ones; they give the bits of a product.
bool takes_pixels(const Compiler& c, const Conv2dSizes& sizes);
// Adds the steps of a convolution whose vectors are of outputs.
void add_conv2d_pixels(Compiler& c, const Op& op, const Conv2dSizes& sizes);
uint64_t conv2d_pixels_scratch();

// Adds those of a convolution as a product of matrices.
void add_conv2d_product(Compiler& c, const Op& op, const Conv2dSizes& sizes);

}  // namespace rc::cpu
