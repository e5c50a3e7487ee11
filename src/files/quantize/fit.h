// Weighted least squares of groups against a grid. For fixed quants the best
// scale follows from the sums of weighted products; for a fixed scale the best
// quants are the nearest ones. Searches begin with several scales, improve each
// by the former and go on by turns.
#pragma once

#include <cstddef>

#include "files/quantize/grids.h"

namespace rc::quantize {

// Of sums over a group with weights w: of x q and of q q.
struct ScaleSums {
  Lanes xq;
  Lanes qq;

  RC_LANES_INLINE Lanes scale() const { return xq * inverse(qq); }
  // By how much the error is below that of zeros.
  RC_LANES_INLINE Lanes gain() const { return xq * scale(); }
  // The same with another scale.
  RC_LANES_INLINE Lanes gain_at(Lanes s) const {
    return s * (2.0f * xq - s * qq);
  }
};

// Of kCount scales at once, whose inverses are `by`: no sum waits for another.
template <class Grid, int kGroup, int kCount>
RC_LANES_INLINE void scale_sums(const LaneGroups<kGroup>& groups,
                                const Lanes (&by)[kCount],
                                ScaleSums (&sums)[kCount]) {
  ScaleSums totals[kCount] = {};
  for (int i = 0; i < kGroup; ++i) {
    const Lanes x = groups.x(i), w = groups.w(i);
#pragma GCC unroll 2
    for (int k = 0; k < kCount; ++k) {
      const Lanes q = Grid::nearest(x * by[k]);
      const Lanes wq = w * q;
      totals[k].xq += wq * x;
      totals[k].qq += wq * q;
    }
  }
  for (int k = 0; k < kCount; ++k) sums[k] = totals[k];
}
template <class Grid, int kGroup>
RC_LANES_INLINE ScaleSums scale_sums(const LaneGroups<kGroup>& groups,
                                     Lanes by) {
  ScaleSums sums[1];
  scale_sums<Grid>(groups, {by}, sums);
  return sums[0];
}

// The error of a scale with the nearest quants.
template <class Grid, int kGroup>
RC_LANES_INLINE Lanes scale_error(const LaneGroups<kGroup>& groups,
                                  Lanes scale) {
  const Lanes by = inverse(scale);
  Lanes error = {};
  for (int i = 0; i < kGroup; ++i) {
    const Lanes x = groups.x(i);
    const Lanes rest = x - scale * Grid::nearest(x * by);
    error += groups.w(i) * rest * rest;
  }
  return error;
}

// The first element of largest magnitude, of `count` that x(i) gives. Only
// where the least and the greatest element have the same magnitude does it
// matter which comes first.
template <class Elements>
RC_LANES_INLINE Lanes extreme(const Elements& elements, int count) {
  Lanes low = elements.x(0), high = low;
  for (int i = 1; i < count; ++i) {
    low = lesser(low, elements.x(i));
    high = greater(high, elements.x(i));
  }
  Lanes far = select(high > -low, high, low);
  const LaneMask both = high == -low;
  if (any(both)) {
    for (int i = count - 1; i >= 0; --i) {
      const Lanes x = elements.x(i);
      far = select(both & (magnitude(x) == high), x, far);
    }
  }
  return far;
}

// The scale of least error among those that put the extreme at each of
// `places`, after `turns` turns.
template <class Grid, int kGroup, class Places>
RC_LANES_INLINE Lanes best_scale(const LaneGroups<kGroup>& groups,
                                 const Places& places, int turns) {
  const Lanes far = inverse(extreme(groups, kGroup));
  Lanes scale = {};
  Lanes gain = {};
  const auto take = [&](const ScaleSums& sums) {
    const Lanes g = sums.gain();
    const LaneMask better = g > gain;
    gain = select(better, g, gain);
    scale = select(better, sums.scale(), scale);
  };
  size_t i = 0;
  for (; i + 2 <= places.size(); i += 2) {
    ScaleSums two[2];
    scale_sums<Grid>(groups, {places[i] * far, places[i + 1] * far}, two);
    take(two[0]);
    take(two[1]);
  }
  if (i < places.size()) take(scale_sums<Grid>(groups, places[i] * far));
  for (int turn = 0; turn < turns; ++turn) {
    take(scale_sums<Grid>(groups, inverse(scale)));
  }
  return scale;
}

// A line: x is about scale * q + offset.
struct Line {
  Lanes scale;
  Lanes offset;
  Lanes error;  // up to what is the same for every line of the group

  // The other one in the lanes where it is better.
  RC_LANES_INLINE void take(const Line& other) {
    const LaneMask better = other.error < error;
    scale = select(better, other.scale, scale);
    offset = select(better, other.offset, offset);
    error = select(better, other.error, error);
  }
};

// Of sums over a group with weights w.
struct LineSums {
  Lanes q;
  Lanes qq;
  Lanes xq;

  // The best one with these quants, of an offset of 0 or less unless kAnySign.
  // `w` and `x`: the sums of weights and of weighted elements.
  template <bool kAnySign>
  RC_LANES_INLINE Line line(Lanes w, Lanes x) const {
    const Lanes determinant = w * qq - q * q;
    const Lanes by = inverse(select(determinant > 0.0f, determinant, Lanes{}));
    const LaneMask flat = by == 0.0f;
    Line line;
    line.scale = (w * xq - x * q) * by;
    line.offset = select(flat, x * inverse(w), (qq * x - q * xq) * by);
    if constexpr (!kAnySign) {
      const LaneMask above = line.offset > 0.0f;
      line.scale = select(above, xq * inverse(qq), line.scale);
      line.offset = select(above, Lanes{}, line.offset);
    }
    const Lanes s = line.scale, m = line.offset;
    line.error =
        s * (s * qq - 2.0f * xq) + m * (m * w - 2.0f * x) + 2.0f * s * m * q;
    return line;
  }
};

template <int kLevels, int kGroup>
RC_LANES_INLINE LineSums line_sums(const LaneGroups<kGroup>& groups,
                                   Lanes inverse_scale, Lanes offset) {
  LineSums sums = {};
  for (int i = 0; i < kGroup; ++i) {
    const Lanes x = groups.x(i);
    const Lanes q = rounded_within((x - offset) * inverse_scale, 0, kLevels);
    const Lanes wq = groups.w(i) * q;
    sums.q += wq;
    sums.qq += wq * q;
    sums.xq += wq * x;
  }
  return sums;
}

// The error of a line with the nearest quants from 0 to kLevels.
template <int kLevels, int kGroup>
RC_LANES_INLINE Lanes line_error(const LaneGroups<kGroup>& groups, Lanes scale,
                                 Lanes offset) {
  const Lanes by = inverse(scale);
  Lanes error = {};
  for (int i = 0; i < kGroup; ++i) {
    const Lanes x = groups.x(i) - offset;
    const Lanes q = rounded_within(x * by, 0, kLevels);
    const Lanes rest = x - scale * q;
    error += groups.w(i) * rest * rest;
  }
  return error;
}

// The line of least error among those whose quants come of so many levels
// between the least and the greatest element as `spans` say, after `turns`
// turns.
template <int kLevels, bool kAnySign, int kGroup, class Spans>
RC_LANES_INLINE Line best_line(const LaneGroups<kGroup>& groups,
                               const Spans& spans, int turns) {
  Lanes low = groups.x(0), high = groups.x(0);
  Lanes w = {}, x = {};
  for (int i = 0; i < kGroup; ++i) {
    low = lesser(low, groups.x(i));
    high = greater(high, groups.x(i));
    w += groups.w(i);
    x += groups.w(i) * groups.x(i);
  }
  if constexpr (!kAnySign) {
    low = lesser(low, Lanes{});
    high = greater(high, Lanes{});
  }
  const Lanes by = inverse(high - low);
  Line best = LineSums{}.template line<kAnySign>(w, x);
  for (const float span : spans) {
    best.take(line_sums<kLevels>(groups, span * by, low)
                  .template line<kAnySign>(w, x));
  }
  for (int turn = 0; turn < turns; ++turn) {
    best.take(line_sums<kLevels>(groups, inverse(best.scale), best.offset)
                  .template line<kAnySign>(w, x));
  }
  return best;
}

}  // namespace rc::quantize
