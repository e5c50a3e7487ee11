// Positions: how attention depends on the distance of rows.
#pragma once

#include <cstdint>

#include "model/traits/presence.h"
#include "runcible/plugin.h"

namespace rc::model {

// The layers that see only the last `sliding_window` positions: of each
// `period` layers the first `windowed`, or the last if the first sees all; none
// if the period is 0. In a model that is not causal, `sliding_window` counts
// the positions of both sides.
struct WindowPattern {
  int64_t period = 0;
  int64_t windowed = 0;
  bool first_sees_all = false;
};

struct PositionTraits {
  // Scores fall with the distance, at a different rate for each head; nothing
  // is rotated (Press et al. 2021, arXiv:2108.12409). kOptional: where
  // attention.max_alibi_bias says so.
  Presence alibi = Presence::kNever;
  // The rates are multiplied by the scale of attention, as products are.
  bool scaled_alibi = false;
  // Each score has a bias by head and by bucket of the distance, which each
  // layer has, or the first one for all; nothing is rotated. See
  // relative_bias.h.
  bool relative_bias = false;
  WindowPattern window = {};
  // A window is a chunk: rows see those of the same multiple of sliding_window.
  bool chunked_windows = false;
  // Files may multiply queries by a factor that grows with each original
  // context that their position is beyond.
  bool query_scale = false;
  // Layers that do not rotate raise their scores with the position; see
  // RC_OP_GENERAL_ATTENTION.
  bool temperature = false;
};

// The rotation of queries and keys (Su et al. 2021, arXiv:2104.09864).
struct RotaryTraits {
  int32_t style = RC_ROPE_HALVES;
  // Divisors of the frequencies, as a tensor.
  Presence factors = Presence::kNever;
  // Separate divisors for sequences up to the original context, and for longer
  // ones.
  bool long_factors = false;
  // Yarn changes the scale of attention in place of cosine and sine.
  bool yarn_of_scores = false;
  // Files may give a factor of the logarithm in yarn's scale of attention.
  bool yarn_logarithms = false;
  // The ends of yarn's ramp are rounded to whole pairs.
  bool whole_yarn_pairs = true;
  // Layers without a window rotate half of rope.dimension_count.
  bool half_without_window = false;
  // Layers with a window rotate without scaling, and with this base unless a
  // key gives another; base 0: the base of the others.
  bool separate_for_windows = false;
  float window_base = 0.0f;

  // Which layers rotate: none,
  bool never = false;
  // all or none, by rope.scaling.finetuned,
  bool optional = false;
  // those that attention.rope_pattern of the file names,
  bool pattern = false;
  // all but one of so many; 0: all,
  int64_t unrotated_every = 0;
  // in a model with windows only those with a window,
  bool only_windows = false;
  // and in addition the dense layers before those with experts.
  bool dense_layers = false;
};

}  // namespace rc::model
