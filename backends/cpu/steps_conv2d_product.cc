// Convolution as a product: the windows of x become the columns of a matrix
// (im2col), of which a thread packs a panel that it then multiplies with all
// rows of the weight. In memory there are never more.
#include <algorithm>

#include "cpu/conv2d_sizes.h"
#include "cpu/kernels.h"
#include "cpu/packed_rows.h"
#include "cpu/panels.h"

namespace rc::cpu {
namespace {

// Rows `first` to `last` of the columns of pixels from `pixel` on, of x itself.
void pick_columns(const Conv2dSizes& sizes, const float* x, int64_t pixel,
                  int count, int64_t first, int64_t last, float* to) {
  for (int64_t k = first; k < last; ++k, to += kProductColumns) {
    const int64_t channel = k / sizes.kw / sizes.kh;
    const int64_t u = k / sizes.kw % sizes.kh;
    const int64_t v = k % sizes.kw;
    int64_t i = pixel / sizes.ow;
    int64_t j = pixel % sizes.ow;
    for (int64_t p = 0; p < count; ++i, j = 0) {
      const int64_t some = std::min(sizes.ow - j, count - p);
      const int64_t at =
          i * sizes.stride[0] + u * sizes.dilation[0] - sizes.padding[0];
      if (at < 0 || at >= sizes.height) {
        std::fill_n(to + p, some, 0.0f);
      } else {
        pick_stretch(x + (channel * sizes.height + at) * sizes.width,
                     sizes.width, sizes.stride[1],
                     v * sizes.dilation[1] - sizes.padding[1], j, some, to + p);
      }
      p += some;
    }
    std::fill(to + count, to + whole_vectors(count), 0.0f);
  }
}

// The pieces of a panel of `count` pixels from `pixel` on.
int pieces_of(const Conv2dSizes& sizes, int64_t pixel, int count,
              PanelPiece* pieces) {
  int number = 0;
  int64_t i = pixel / sizes.ow;
  int64_t j = pixel % sizes.ow;
  for (int p = 0; p < count;) {
    const int some = static_cast<int>(
        std::min({sizes.ow - j, int64_t{count - p}, int64_t{16}}));
    pieces[number++] = {i * sizes.stride[0] * sizes.line() + j, p, some};
    p += some;
    j += some;
    if (j == sizes.ow) {
      ++i;
      j = 0;
    }
  }
  return number;
}

}  // namespace

void add_conv2d_product(Compiler& c, const Op& op, const Conv2dSizes& sizes) {
  const bool copied = sizes.needs_copy() && sizes.can_copy();
  const bool picked = sizes.needs_copy() && !copied;
  const float* copy = copied ? add_padding(c, op, sizes) : nullptr;
  const int64_t window = sizes.window();
  const PackedRows packed = {sizes.groups, sizes.outputs, window};
  auto* weights = reinterpret_cast<float*>(c.area_of(packed.bytes()));
  add_packed_rows(c, op.inputs[1], 0, sizes.outputs * window, packed, weights);

  const int64_t* offsets = picked ? nullptr : window_offsets(c, sizes);
  const int64_t images = sizes.batch * sizes.groups;
  const int64_t pixels = sizes.pixels();
  const int64_t panels = panels_of(pixels);
  const int64_t shares = shares_of(c, images * panels, packed.tiles());
  const ThreadScratch scratch = c.thread_scratch();
  const bool has_bias = op.inputs[2] >= 0;
  const Place x = c.place(op.inputs[0]);
  const Place bias = has_bias ? c.place(op.inputs[2]) : Place{};
  const Place y = c.place(op.outputs[0]);
  std::vector<Area> reads = {
      copied ? c.own_area(op.inputs[0]) : c.area(op.inputs[0]),
      c.own_area(op.inputs[1])};
  if (has_bias) reads.push_back(c.area(op.inputs[2]));
  c.add(
      std::move(reads), {c.area(op.outputs[0])},
      [=](const Run&) {
        return images * panels * 3 * window * (sizes.outputs + 4);
      },
      [=](const Run&) { return images * panels * shares; },
      [=](Run& run, const Share& share) {
        auto* panel = scratch.of<float>(share.thread);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
          const int64_t image = unit / shares / panels;
          const int64_t group = image % sizes.groups;
          const int64_t pixel = unit / shares % panels * kProductColumns;
          const Part tiles(packed.tiles(), static_cast<int>(unit % shares),
                           static_cast<int>(shares));
          PanelPiece pieces[kProductColumns];
          PanelTask pack;
          pack.x = copied ? copy : run.at<const float>(x);
          const int64_t plane =
              picked ? sizes.height * sizes.width : sizes.plane();
          pack.end = pack.x + images * sizes.channels * plane;
          pack.x += image * sizes.channels * plane;
          pack.pieces = pieces;
          pack.columns = static_cast<int>(
              std::min<int64_t>(kProductColumns, pixels - pixel));
          pack.count =
              picked ? 0 : pieces_of(sizes, pixel, pack.columns, pieces);
          pack.panel = panel;
          ProductTask task;
          task.b = panel;
          task.y_step = pixels;
          task.columns = pack.columns;
          for (int64_t first = 0; first < window; first += kProductDepth) {
            task.k = std::min(kProductDepth, window - first);
            if (picked) {
              pick_columns(sizes, pack.x, pixel, pack.columns, first,
                           first + task.k, panel);
            } else {
              pack.offsets = offsets + first;
              pack.k = task.k;
              run.kernels.panel(pack);
            }
            task.more = first > 0;
            for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
              if (run.stopped(share.thread)) return;
              const int64_t row = tile * kProductRows;
              task.a = weights +
                       (group * packed.tiles() + tile) * packed.tile_floats() +
                       first * kProductRows;
              task.rows = static_cast<int>(
                  std::min<int64_t>(kProductRows, sizes.outputs - row));
              task.bias = has_bias ? run.at<const float>(bias) +
                                         group * sizes.outputs + row
                                   : nullptr;
              task.y =
                  sizes.output(run.at<float>(y), image) + row * pixels + pixel;
              run.kernels.product(task);
            }
          }
        }
      });
}

uint64_t conv2d_scratch(const Compiler& c, const Op& op) {
  const Conv2dSizes sizes(c, op);
  return sizes.direct() ? 0 : panel_bytes(sizes.window());
}

}  // namespace rc::cpu
