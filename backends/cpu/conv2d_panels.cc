#include "cpu/conv2d_panels.h"

#include <algorithm>

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
    std::fill(to + count, to + (count + 15) / 16 * 16, 0.0f);
  }
}

// The elements of row i that pixels begin to end see, from x itself: it lies
// `down` and `across` from them.
TapLoad load_of(const Conv2dSizes& sizes, int64_t begin, int64_t end, int64_t i,
                int64_t down, int64_t across) {
  const int64_t at = i * sizes.stride[0] + down;
  if (at < 0 || at >= sizes.height) return {0, 0};
  const int64_t row = i * sizes.ow;  // its first pixel
  const int64_t first = std::max(begin, row + std::max<int64_t>(-across, 0));
  const int64_t last =
      std::min(end, row + std::min(sizes.ow, sizes.width - across));
  if (first >= last) return {0, 0};
  const uint32_t lanes = ((uint32_t{1} << (last - first)) - 1)
                         << (first - begin);
  return {at * sizes.width + begin - row + across, lanes};
}

}  // namespace

Conv2dPanels::Conv2dPanels(Compiler& c, const Op& op, const Conv2dSizes& sizes)
    : sizes_(sizes),
      way_(Way::kPieces),
      x_(c.place(op.inputs[0])),
      reads_(c.area(op.inputs[0])) {
  if (c.kernels().taps != nullptr && sizes.phases() == 1 &&
      sizes.kh * sizes.kw <= kMostTaps && sizes.ow >= kLeastWidth) {
    way_ = Way::kTaps;
    return;
  }
  if (sizes.needs_copy() && !sizes.can_copy()) {
    way_ = Way::kPick;
    return;
  }
  if (sizes.needs_copy()) {
    copy_ = add_padding(c, op, sizes);
    reads_ = c.own_area(op.inputs[0]);
  }
  offsets_ = window_offsets(c, sizes);
}

Conv2dPanels::Panel::Panel(const Conv2dPanels& of, const Run& run,
                           int64_t image, int64_t pixel, int columns, float* to)
    : of_(of),
      kernels_(run.kernels),
      x_(of.input(run, image)),
      to_(to),
      pixel_(pixel),
      columns_(columns) {
  if (of.way_ == Way::kTaps) find_loads();
  if (of.way_ == Way::kPieces) {
    const int64_t images = of.sizes_.batch * of.sizes_.groups;
    panel_.end = x_ + (images - image) * of.sizes_.channels * of.plane();
    find_pieces();
  }
}

void Conv2dPanels::Panel::find_loads() {
  const Conv2dSizes& sizes = of_.sizes_;
  const auto end_of = [&](int64_t begin) {
    return std::min<int64_t>(begin + kLanes, pixel_ + columns_);
  };
  taps_.x = x_;
  taps_.plane = of_.plane();
  taps_.taps = static_cast<int>(sizes.kh * sizes.kw);
  taps_.vectors = (columns_ + kLanes - 1) / kLanes;
  taps_.loads = 0;
  for (int v = 0; v < taps_.vectors; ++v) {
    const int64_t begin = pixel_ + v * kLanes;
    const int64_t rows = (end_of(begin) - 1) / sizes.ow - begin / sizes.ow + 1;
    taps_.loads = std::max(taps_.loads, static_cast<int>(rows));
  }
  taps_.which = loads_;
  taps_.panel = to_;
  TapLoad* next = loads_;
  for (int64_t tap = 0; tap < taps_.taps; ++tap) {
    const int64_t down = tap / sizes.kw * sizes.dilation[0] - sizes.padding[0];
    const int64_t across =
        tap % sizes.kw * sizes.dilation[1] - sizes.padding[1];
    for (int v = 0; v < taps_.vectors; ++v) {
      const int64_t begin = pixel_ + v * kLanes;
      for (int l = 0; l < taps_.loads; ++l) {
        *next++ = load_of(sizes, begin, end_of(begin), begin / sizes.ow + l,
                          down, across);
      }
    }
  }
}

void Conv2dPanels::Panel::find_pieces() {
  const Conv2dSizes& sizes = of_.sizes_;
  int number = 0;
  int64_t i = pixel_ / sizes.ow;
  int64_t j = pixel_ % sizes.ow;
  for (int p = 0; p < columns_;) {
    const int some = static_cast<int>(
        std::min({sizes.ow - j, int64_t{columns_ - p}, int64_t{kLanes}}));
    pieces_[number++] = {i * sizes.stride[0] * sizes.line() + j, p, some};
    p += some;
    j += some;
    if (j == sizes.ow) {
      ++i;
      j = 0;
    }
  }
  panel_.x = x_;
  panel_.pieces = pieces_;
  panel_.count = number;
  panel_.columns = columns_;
  panel_.panel = to_;
}

void Conv2dPanels::Panel::make(int64_t first, int64_t rows) {
  switch (of_.way_) {
    case Way::kTaps:
      taps_.first = first;
      taps_.k = rows;
      return kernels_.taps(taps_);
    case Way::kPieces:
      panel_.offsets = of_.offsets_ + first;
      panel_.k = rows;
      return kernels_.panel(panel_);
    case Way::kPick:
      return pick_columns(of_.sizes_, x_, pixel_, columns_, first, first + rows,
                          to_);
  }
}

}  // namespace rc::cpu
