// Convolution as a product: the windows of x become the columns of a matrix
// (im2col), of which a thread packs a panel that it then multiplies with all
// rows of the weight. In memory there are never more.
#include <algorithm>
#include <optional>

#include "cpu/conv2d_panels.h"
#include "cpu/conv2d_sizes.h"
#include "cpu/kernels.h"

namespace rc::cpu {
namespace {

// Rows of a panel: it stays in the second-level cache while rows of the weight
// go by.
constexpr int64_t kPanelDepth = 2048;

// The number of parts into which the `tiles` of the weight are divided for each
// of so many panels, so that all threads have some; each part packs the panel
// again.
int64_t shares_of(const Compiler& c, int64_t panels, int64_t tiles) {
  constexpr int64_t kPartsPerThread = 8;
  constexpr int64_t kLeastTiles = 4;
  const int64_t parts = c.threads() == 1 ? 1 : c.threads() * kPartsPerThread;
  return std::clamp<int64_t>((parts + panels - 1) / panels, 1,
                             std::max<int64_t>(tiles / kLeastTiles, 1));
}

}  // namespace

void add_conv2d_product(Compiler& c, const Op& op, const Conv2dSizes& sizes) {
  const Conv2dPanels columns(c, op, sizes);
  const int64_t window = sizes.window();
  // Rows of the weight that are taken at once.
  const int64_t all_tiles = (sizes.outputs + kProductRows - 1) / kProductRows;
  const int64_t images = sizes.batch * sizes.groups;
  const int64_t pixels = sizes.pixels();
  const int64_t panels = (pixels + kProductColumns - 1) / kProductColumns;
  const int64_t shares = shares_of(c, images * panels, all_tiles);
  const ThreadScratch scratch = c.thread_scratch();
  const bool has_bias = op.inputs[2] >= 0;
  const Place weight = c.place(op.inputs[1]);
  const Place bias = has_bias ? c.place(op.inputs[2]) : Place{};
  const Place y = c.place(op.outputs[0]);
  std::vector<Area> reads = {columns.reads(), c.area(op.inputs[1])};
  if (has_bias) reads.push_back(c.area(op.inputs[2]));
  c.add(
      std::move(reads), {c.area(op.outputs[0])},
      [=](const Run&) {
        return images * panels * 3 * window * (sizes.outputs + 4);
      },
      [=](const Run&) { return images * panels * shares; },
      [=](Run& run, const Share& share) {
        auto* to = scratch.of<float>(share.thread);
        for (int64_t unit = share.begin; unit < share.end; ++unit) {
          const int64_t image = unit / shares / panels;
          const int64_t group = image % sizes.groups;
          const int64_t pixel = unit / shares % panels * kProductColumns;
          const Part tiles(all_tiles, static_cast<int>(unit % shares),
                           static_cast<int>(shares));
          const int count = static_cast<int>(
              std::min<int64_t>(kProductColumns, pixels - pixel));
          const bool lie_there = columns.lie_there(count);
          std::optional<Conv2dPanels::Panel> panel;
          if (!lie_there) panel.emplace(columns, run, image, pixel, count, to);
          ProductTask task;
          task.a_step = window;
          task.b_step = lie_there ? pixels : kProductColumns;
          task.y_step = pixels;
          task.columns = count;
          for (int64_t first = 0; first < window; first += kPanelDepth) {
            task.k = std::min(kPanelDepth, window - first);
            task.b = lie_there
                         ? columns.input(run, image) + first * pixels + pixel
                         : to;
            if (panel) panel->make(first, task.k);
            task.more = first > 0;
            for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
              if (run.stopped(share.thread)) return;
              const int64_t row = tile * kProductRows;
              task.a = run.at<const float>(weight) +
                       (group * sizes.outputs + row) * window + first;
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
  if (takes_pixels(c, sizes)) return conv2d_pixels_scratch();
  // The kernel that packs a panel needs room for one more vector.
  const int64_t floats =
      std::min(sizes.window(), kPanelDepth) * kProductColumns + 16;
  return static_cast<uint64_t>(floats) * sizeof(float);
}

}  // namespace rc::cpu
