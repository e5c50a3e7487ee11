// Convolution as a product: the windows of x become the columns of a matrix
// (im2col), of which a thread packs a panel that it then multiplies with all
// rows of the weight. In memory there are never more.
#include <algorithm>

#include "cpu/conv2d_sizes.h"
#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

// Rows of a panel: it stays in the second-level cache while rows of the weight
// go by.
constexpr int64_t kPanelDepth = 2048;

// The weight, packed: rows of the groups' matrices, kProductRows at a time.
struct PackedWeight {
  int64_t groups, rows, k;

  int64_t tiles() const { return (rows + kProductRows - 1) / kProductRows; }
  int64_t tile_floats() const { return k * kProductRows; }
  uint64_t bytes() const {
    return product(product(static_cast<uint64_t>(groups * tiles()),
                           static_cast<uint64_t>(tile_floats())),
                   sizeof(float));
  }
};

// Adds the step that packs it: where it lies, which is own_area(weight), as
// [groups, tiles, k, kProductRows].
const float* add_packing(Compiler& c, const Op& op,
                         const PackedWeight& packed) {
  auto* to = reinterpret_cast<float*>(c.area_of(packed.bytes()));
  const int64_t tiles = packed.tiles();
  const int64_t k = packed.k;
  // Long rows are cut.
  const int64_t parts = (k + kChunk - 1) / kChunk;
  const Place weight = c.place(op.inputs[1]);
  c.add(
      {c.area(op.inputs[1])}, {c.own_area(op.inputs[1])},
      [=](const Run&) { return packed.groups * packed.rows * k; },
      [=](const Run&) { return packed.groups * tiles * parts; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t column = unit % parts * kChunk;
          const int64_t tile = unit / parts % tiles;
          const int64_t group = unit / parts / tiles;
          const int64_t row = tile * kProductRows;
          run.kernels.transpose(
              run.at<const float>(weight) + (group * packed.rows + row) * k +
                  column,
              k, std::min<int64_t>(kProductRows, packed.rows - row),
              std::min(kChunk, k - column),
              to + (group * tiles + tile) * packed.tile_floats() +
                  column * kProductRows,
              kProductRows);
        });
      });
  return to;
}

// Into how many parts the `tiles` of the weight are divided for each of so many
// panels, so that all threads have some; each part packs the panel anew.
int64_t shares_of(const Compiler& c, int64_t panels, int64_t tiles) {
  constexpr int64_t kPartsPerThread = 8;
  constexpr int64_t kLeastTiles = 4;
  const int64_t parts = c.threads() == 1 ? 1 : c.threads() * kPartsPerThread;
  return std::clamp<int64_t>((parts + panels - 1) / panels, 1,
                             std::max<int64_t>(tiles / kLeastTiles, 1));
}

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
    std::fill(to + count, to + (count + 15) / 16 * 16, 0.0f);
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
  const PackedWeight packed = {sizes.groups, sizes.outputs, window};
  const float* weights = add_packing(c, op, packed);

  const int64_t* offsets = picked ? nullptr : window_offsets(c, sizes);
  const int64_t images = sizes.batch * sizes.groups;
  const int64_t pixels = sizes.pixels();
  const int64_t panels = (pixels + kProductColumns - 1) / kProductColumns;
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
          for (int64_t first = 0; first < window; first += kPanelDepth) {
            task.k = std::min(kPanelDepth, window - first);
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
  if (sizes.direct()) return 0;
  // The kernel that packs a panel needs room for one more vector.
  const int64_t floats =
      std::min(sizes.window(), kPanelDepth) * kProductColumns + 16;
  return static_cast<uint64_t>(floats) * sizeof(float);
}

}  // namespace rc::cpu
