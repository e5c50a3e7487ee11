// Convolution as a product: the windows of x become the columns of a matrix
// (im2col), a piece of it at a time. For OpenBLAS a piece is a panel of many
// columns; otherwise a tile of 16 for the kernels of LINEAR, with the rows of
// the weight as their activations.
#include <algorithm>

#include "cpu/blas.h"
#include "cpu/compiler.h"
#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

struct Sizes {
  int64_t batch, groups, outputs;  // outputs of a group
  int64_t channels;                // of a group
  int64_t height, width, kh, kw, oh, ow;
  int32_t stride[2], padding[2], dilation[2];

  Sizes(const Compiler& c, const Op& op) {
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

  // Columns first to first + count of the matrix of windows, rows of `row`
  // floats; those beyond the pixels are 0.
  void columns(const float* x, int64_t first, int64_t count, int64_t row,
               float* to) const {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t u = 0; u < kh; ++u) {
        for (int64_t v = 0; v < kw; ++v, to += row) {
          int64_t i = first / ow;
          int64_t j = first % ow;
          for (int64_t p = 0; p < count; ++p) {
            const int64_t at = i * stride[0] + u * dilation[0] - padding[0];
            const int64_t column = j * stride[1] + v * dilation[1] - padding[1];
            const bool inside = i < oh && at >= 0 && at < height &&
                                column >= 0 && column < width;
            to[p] = inside ? x[(c * height + at) * width + column] : 0.0f;
            if (++j == ow) {
              j = 0;
              ++i;
            }
          }
        }
      }
    }
  }
};

void add_bias(Compiler& c, const Op& op, const Sizes& sizes) {
  if (op.inputs[2] < 0) return;
  const Place bias = c.place(op.inputs[2]);
  const Place y = c.place(op.outputs[0]);
  const int64_t outputs = sizes.groups * sizes.outputs;
  const int64_t planes = sizes.batch * outputs;
  const int64_t pixels = sizes.pixels();
  c.add(
      {c.area(op.outputs[0]), c.area(op.inputs[2])}, {c.area(op.outputs[0])},
      [=](const Run&) { return planes * pixels; },
      [=](const Run&) { return planes; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t plane) {
          float* row = run.at<float>(y) + plane * pixels;
          run.kernels.binary(row, 1,
                             run.at<const float>(bias) + plane % outputs, 0,
                             pixels, RC_BINARY_ADD, row);
        });
      });
}

void add_blas(Compiler& c, const Op& op, const Sizes& sizes) {
  const Blas* blas = Blas::find();
  constexpr int64_t kPanelFloats = int64_t{1} << 20;
  const int64_t pixels = sizes.pixels();
  const int64_t panel =
      std::min(pixels, std::max<int64_t>(kPanelFloats / sizes.window(), 256));
  auto* matrix = reinterpret_cast<float*>(c.area_of(product(
      product(static_cast<uint64_t>(panel), sizes.window()), sizeof(float))));
  const Place x = c.place(op.inputs[0]);
  const Place weight = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  const int threads = c.threads();
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run&) { return INT64_MAX / 2; },
      [=](const Run&) { return int64_t{1}; },
      [=](Run& run, const Share& share) {
        for (int64_t image = 0; image < sizes.batch * sizes.groups; ++image) {
          const float* from = sizes.input(run.at<const float>(x), image);
          float* to = sizes.output(run.at<float>(y), image);
          const float* rows =
              run.at<const float>(weight) +
              image % sizes.groups * sizes.outputs * sizes.window();
          for (int64_t first = 0; first < pixels; first += panel) {
            if (run.stopped(share.thread)) return;
            const int64_t count = std::min(panel, pixels - first);
            sizes.columns(from, first, count, count, matrix);
            blas->multiply(rows, matrix, to + first, sizes.outputs, count,
                           sizes.window(), count, pixels, false, threads);
          }
        }
      });
}

void add_tiles(Compiler& c, const Op& op, const Sizes& sizes) {
  const LinearFunction function = c.kernels().linear(RC_DTYPE_F32);
  const ThreadScratch scratch = c.thread_scratch();
  const int64_t pixels = sizes.pixels();
  const int64_t tiles = (pixels + kTileRows - 1) / kTileRows;
  const int64_t images = sizes.batch * sizes.groups;
  const Place x = c.place(op.inputs[0]);
  const Place weight = c.place(op.inputs[1]);
  const Place y = c.place(op.outputs[0]);
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run&) {
        return images * pixels * sizes.window() * (sizes.outputs / 16 + 2);
      },
      [=](const Run&) { return images * tiles; },
      [=](Run& run, const Share& share) {
        auto* tile = scratch.of<float>(share.thread);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
          const int64_t image = unit / tiles;
          const int64_t first = unit % tiles * kTileRows;
          sizes.columns(sizes.input(run.at<const float>(x), image), first,
                        kTileRows, kTileRows, tile);
          const float* rows =
              run.at<const float>(weight) +
              image % sizes.groups * sizes.outputs * sizes.window();
          float* to = sizes.output(run.at<float>(y), image) + first;
          LinearTask task;
          task.tile = reinterpret_cast<const uint8_t*>(tile);
          task.tile_bytes = 0;
          task.tiles = 1;
          task.columns = sizes.window();
          task.residual = nullptr;
          task.bias = nullptr;
          task.lanes =
              static_cast<int>(std::min<int64_t>(kTileRows, pixels - first));
          for (int64_t o = 0; o < sizes.outputs; o += kMaxChunk) {
            if (run.stopped(share.thread)) return;
            const void* xs[kMaxChunk];
            float* ys[kMaxChunk];
            task.rows = static_cast<int>(
                std::min<int64_t>(kMaxChunk, sizes.outputs - o));
            for (int i = 0; i < task.rows; ++i) {
              xs[i] = rows + (o + i) * sizes.window();
              ys[i] = to + (o + i) * pixels;
            }
            task.x = xs;
            task.y = ys;
            function(task);
          }
        }
      });
}

}  // namespace

void compile_conv2d(Compiler& c, const Op& op) {
  const Sizes sizes(c, op);
  const bool large =
      Blas::suits(sizes.outputs, sizes.pixels(), sizes.window()) &&
      Blas::find() != nullptr;
  if (large) {
    add_blas(c, op, sizes);
  } else {
    add_tiles(c, op, sizes);
  }
  add_bias(c, op, sizes);
}

uint64_t conv2d_scratch(const Compiler& c, const Op& op) {
  return product(
      product(static_cast<uint64_t>(c.row_elements(op.inputs[1])), kTileRows),
      sizeof(float));
}

}  // namespace rc::cpu
