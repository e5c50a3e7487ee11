// Convolutions as products: of the weights with the windows, which are copied
// side by side for some of the results at a time.
#include <algorithm>

#include "base/error.h"
#include "blas/ops.h"

namespace rc::blas {
namespace {

// Elements of the windows that a thread copies for one product.
constexpr int64_t kElements = int64_t{1} << 18;
constexpr int64_t kLeastPixels = 16;
constexpr int64_t kMostPixels = 1024;
// Fewer results of one group make no product worth the copy of its windows.
constexpr int64_t kLeastOutputs = 4;

struct Sizes {
  int64_t batch, channels, height, width;  // of x
  int64_t outputs, group_channels, kernel_height, kernel_width;
  int64_t out_height, out_width;
  int64_t groups;

  int64_t window() const {
    return group_channels * kernel_height * kernel_width;
  }
  int64_t pixels() const { return out_height * out_width; }
  int64_t group_outputs() const { return outputs / groups; }
  // Results of a product.
  int64_t step() const {
    return std::min(
        pixels(), std::clamp(kElements / window(), kLeastPixels, kMostPixels));
  }
};

template <class Value>
Sizes sizes_of(const Op& op, const Value& x, const Value& weight,
               const Value& output) {
  return {x.shape[0],
          x.shape[1],
          x.shape[2],
          x.shape[3],
          weight.shape[0],
          weight.shape[1],
          weight.shape[2],
          weight.shape[3],
          output.shape[2],
          output.shape[3],
          op.params.conv2d.groups};
}

Sizes sizes_of(const Op& op, std::span<const rc_plugin_value> values) {
  return sizes_of(op, values[static_cast<size_t>(op.inputs[0])],
                  values[static_cast<size_t>(op.inputs[1])],
                  values[static_cast<size_t>(op.outputs[0])]);
}

// Whether a window is one element, and the results lie as x does.
bool reads_in_place(const Op& op, const Sizes& sizes) {
  const auto& p = op.params.conv2d;
  return sizes.kernel_height == 1 && sizes.kernel_width == 1 &&
         p.stride[0] == 1 && p.stride[1] == 1 && p.padding[0] == 0 &&
         p.padding[1] == 0;
}

// Copies what element (u, v) of the window sees of a channel for the results
// `first` to `first + count` - 1.
void copy_line(const Op& op, const Sizes& sizes, const float* channel,
               int64_t u, int64_t v, int64_t first, int64_t count, float* to) {
  const auto& p = op.params.conv2d;
  while (count > 0) {
    const int64_t i = first / sizes.out_width;
    const int64_t j = first % sizes.out_width;
    const int64_t length = std::min(count, sizes.out_width - j);
    const int64_t row = i * p.stride[0] + u * p.dilation[0] - p.padding[0];
    if (row < 0 || row >= sizes.height) {
      std::fill_n(to, length, 0.0f);
    } else {
      const float* const from = channel + row * sizes.width;
      const int64_t begin = v * p.dilation[1] - p.padding[1];
      for (int64_t l = 0; l < length; ++l) {
        const int64_t column = (j + l) * p.stride[1] + begin;
        to[l] = column >= 0 && column < sizes.width ? from[column] : 0.0f;
      }
    }
    to += length;
    first += length;
    count -= length;
  }
}

void copy_windows(const Op& op, const Sizes& sizes, const float* channels,
                  int64_t first, int64_t count, float* to) {
  for (int64_t c = 0; c < sizes.group_channels; ++c) {
    const float* const channel = channels + c * sizes.height * sizes.width;
    for (int64_t u = 0; u < sizes.kernel_height; ++u) {
      for (int64_t v = 0; v < sizes.kernel_width; ++v, to += count) {
        copy_line(op, sizes, channel, u, v, first, count, to);
      }
    }
  }
}

void check_conv2d(const Op& op, std::span<const rc_plugin_value> values) {
  const Sizes sizes = sizes_of(op, values);
  if (sizes.group_outputs() < kLeastOutputs) {
    fail(RC_E_UNSUPPORTED, "CONV2D with ", sizes.group_outputs(),
         " outputs of a group: the product is too thin, from ", kLeastOutputs,
         " on it is computed by BLAS");
  }
  if (std::max(sizes.pixels(), sizes.window()) > cblas().largest()) {
    fail(RC_E_UNSUPPORTED, "CONV2D with images of ", sizes.pixels(),
         " elements; the BLAS library has integers of 32 bits");
  }
}

uint64_t conv2d_scratch(const Op& op, std::span<const rc_plugin_value> values) {
  const Sizes sizes = sizes_of(op, values);
  if (reads_in_place(op, sizes)) return 0;
  return static_cast<uint64_t>(sizes.window() * sizes.step()) * sizeof(float);
}

void run_conv2d(Call& call) {
  const Sizes sizes =
      sizes_of(call.op, call.inputs[0], call.inputs[1], call.output);
  const bool in_place = reads_in_place(call.op, sizes);
  const int64_t step = sizes.step();
  const int64_t steps = (sizes.pixels() + step - 1) / step;
  const int64_t window = sizes.window();
  const int64_t rows = sizes.group_outputs();
  run_tasks(call.machine.team, sizes.batch * sizes.groups * steps,
            [&](int thread, int64_t task) {
              if (call.stops()) return;
              const int64_t first = task % steps * step;
              const int64_t count = std::min(step, sizes.pixels() - first);
              const int64_t group = task / steps % sizes.groups;
              const int64_t image = task / steps / sizes.groups;
              const float* const channels =
                  call.inputs[0].as<float>() +
                  (image * sizes.channels + group * sizes.group_channels) *
                      sizes.height * sizes.width;
              Product<float> product = {};
              product.m = rows;
              product.n = count;
              product.k = window;
              product.a = call.inputs[1].as<float>() + group * rows * window;
              product.a_stride = window;
              product.b = channels + first;
              product.b_stride = sizes.pixels();
              if (!in_place) {
                float* const windows = call.scratch_of<float>(thread);
                copy_windows(call.op, sizes, channels, first, count, windows);
                product.b = windows;
                product.b_stride = count;
              }
              product.c =
                  call.output.as<float>() +
                  (image * sizes.outputs + group * rows) * sizes.pixels() +
                  first;
              product.c_stride = sizes.pixels();
              // The sums begin with the bias.
              if (const float* const bias = call.inputs[2].as<float>()) {
                product.adds = true;
                for (int64_t i = 0; i < rows; ++i) {
                  std::fill_n(product.c + i * product.c_stride, count,
                              bias[group * rows + i]);
                }
              }
              call.machine.library.multiply(product);
            });
}

}  // namespace

std::span<const OpRow> convolution_ops() {
  static constexpr OpRow kOps[] = {
      {RC_OP_CONV2D, check_conv2d, conv2d_scratch, run_conv2d}};
  return kOps;
}

}  // namespace rc::blas
