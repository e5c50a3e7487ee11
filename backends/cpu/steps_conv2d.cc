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

// Pixels of a row that are done together.
constexpr int64_t kStretch = 96;

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
  int64_t blocks() const {
    return (outputs + kWindowOutputs - 1) / kWindowOutputs;
  }
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
          int64_t p = 0;
          for (int64_t i = first / ow, j = first % ow; p < count && i < oh;
               ++i, j = 0) {
            const int64_t some = std::min(ow - j, count - p);
            const int64_t at = i * stride[0] + u * dilation[0] - padding[0];
            if (at < 0 || at >= height) {
              std::fill_n(to + p, some, 0.0f);
            } else {
              stretch(x + (c * height + at) * width, j, some,
                      v * dilation[1] - padding[1], to + p);
            }
            p += some;
          }
          std::fill(to + p, to + count, 0.0f);
        }
      }
    }
  }

  // Elements j * stride + from of a line of x, for `count` numbers from j on;
  // 0 beyond its ends.
  void stretch(const float* line, int64_t j, int64_t count, int64_t from,
               float* to) const {
    const int64_t step = stride[1];
    const auto reaching = [&](int64_t place) {  // the first j that gets there
      return place <= from ? 0 : (place - from + step - 1) / step;
    };
    const int64_t begin = std::clamp(reaching(0), j, j + count);
    const int64_t end = std::clamp(reaching(width), begin, j + count);
    std::fill_n(to, begin - j, 0.0f);
    if (step == 1) {
      std::copy_n(line + begin + from, end - begin, to + (begin - j));
    } else {
      for (int64_t k = begin; k < end; ++k) to[k - j] = line[k * step + from];
    }
    std::fill_n(to + (end - j), j + count - end, 0.0f);
  }

  // Whether pixels that lie side by side see numbers that do, and are many
  // enough for vectors; and a copy with the padding around it, if there is one,
  // is not much larger.
  bool direct() const {
    const double copied = static_cast<double>(padded_height()) *
                          static_cast<double>(padded_width());
    const double most =
        4.0 * static_cast<double>(height) * static_cast<double>(width) + 4096;
    return stride[1] == 1 && ow >= 16 && (!padded() || copied <= most);
  }
  int64_t padded_height() const { return height + 2 * int64_t{padding[0]}; }
  int64_t padded_width() const { return width + 2 * int64_t{padding[1]}; }
  bool padded() const { return padding[0] > 0 || padding[1] > 0; }
};

// x with its padding around it: where it lies.
float* add_padding(Compiler& c, const Op& op, const Sizes& sizes) {
  const int64_t rows = sizes.padded_height();
  const int64_t columns = sizes.padded_width();
  const int64_t planes = sizes.batch * sizes.groups * sizes.channels;
  auto* to = reinterpret_cast<float*>(c.area_of(
      product(product(product(static_cast<uint64_t>(planes), rows), columns),
              sizeof(float))));
  const Place x = c.place(op.inputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.own_area(op.inputs[0])},
      [=](const Run&) { return planes * rows * columns; },
      [=](const Run&) { return planes * rows; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t plane = unit / rows;
          const int64_t row = unit % rows - sizes.padding[0];
          float* line = to + unit * columns;
          if (row < 0 || row >= sizes.height) {
            std::fill_n(line, columns, 0.0f);
            return;
          }
          const float* from = run.at<const float>(x) +
                              (plane * sizes.height + row) * sizes.width;
          std::fill_n(line, sizes.padding[1], 0.0f);
          std::copy_n(from, sizes.width, line + sizes.padding[1]);
          std::fill_n(line + sizes.padding[1] + sizes.width, sizes.padding[1],
                      0.0f);
        });
      });
  return to;
}

// The weight as [blocks of outputs][window][kWindowOutputs], and the bias as
// [blocks of outputs][kWindowOutputs] behind it.
float* add_packed_weight(Compiler& c, const Op& op, const Sizes& sizes) {
  const int64_t window = sizes.window();
  const int64_t blocks = sizes.blocks();
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
void add_direct(Compiler& c, const Op& op, const Sizes& sizes) {
  const float* padded = sizes.padded() ? add_padding(c, op, sizes) : nullptr;
  const float* weights = add_packed_weight(c, op, sizes);
  const int64_t window = sizes.window();
  const int64_t blocks = sizes.blocks();
  const float* biases =
      weights + sizes.groups * blocks * window * kWindowOutputs;
  const int64_t columns = sizes.padded_width();
  const int64_t plane = sizes.padded_height() * columns;
  auto* offsets = reinterpret_cast<int64_t*>(
      c.area_of(product(static_cast<uint64_t>(window), sizeof(int64_t))));
  int64_t* next = offsets;
  for (int64_t channel = 0; channel < sizes.channels; ++channel) {
    for (int64_t u = 0; u < sizes.kh; ++u) {
      for (int64_t v = 0; v < sizes.kw; ++v) {
        *next++ = channel * plane + u * sizes.dilation[0] * columns +
                  v * sizes.dilation[1];
      }
    }
  }
  const int64_t images = sizes.batch * sizes.groups;
  // Stretches whose numbers stay in the first-level cache meanwhile.
  const int64_t stretches = sizes.ow / kStretch + (sizes.ow % kStretch != 0);
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
          const Part part(sizes.ow, static_cast<int>(unit % stretches),
                          static_cast<int>(stretches));
          // A stretch has a whole vector at least, which may be part of others.
          const int64_t begin = std::min(part.begin, sizes.ow - 16);
          WindowTask task;
          task.offsets = offsets;
          task.window = window;
          task.x = all + image * sizes.channels * plane +
                   row * sizes.stride[0] * columns + begin;
          task.pixels = std::max<int64_t>(part.end - begin, 16);
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
  Pool* const pool = &c.pool();
  c.add(
      {c.area(op.inputs[0]), c.area(op.inputs[1])}, {c.area(op.outputs[0])},
      [=](const Run&) { return INT64_MAX / 2; },
      [=](const Run&) { return int64_t{1}; },
      [=](Run& run, const Share& share) {
        pool->rest();
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
  if (sizes.direct()) return add_direct(c, op, sizes);
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
  if (Sizes(c, op).direct()) return 0;
  return product(
      product(static_cast<uint64_t>(c.row_elements(op.inputs[1])), kTileRows),
      sizeof(float));
}

}  // namespace rc::cpu
