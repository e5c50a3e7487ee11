// Kinds of the parts that architectures differ in; see architecture.h.
#pragma once

#include <cstdint>

namespace rc::model {

// Whether the files of an architecture hold something.
enum class Presence { kNever, kOptional, kAlways };

// Which layers see only the last `sliding_window` positions: of each `period`
// layers the first `windowed`, or the last if the first sees all; none if the
// period is 0. Where rows see those behind them, `sliding_window` counts the
// positions of both sides.
struct WindowPattern {
  int64_t period = 0;
  int64_t windowed = 0;
  bool first_sees_all = false;
};

// What norms are made of: see RC_OP_RMS_NORM, and RC_OP_LAYER_NORM with a
// weight and a bias, with a weight alone, or with neither.
enum class Norm { kRootMeanSquare, kLayer, kLayerUnbiased, kLayerPlain };

// Where the norms of attention and of the feed-forward part are: before it,
// before and behind it, behind it, or of the sum of its result and the residual
// (where the others are of what is no sum yet).
enum class NormPlace { kBefore, kAround, kBehind, kOfSums };

// Norms of queries and keys: over each head before it rotates, the same with a
// weight for each head, over each head after it has rotated, over all heads
// together, before they rotate, or without a weight over each head after it
// rotates, where it does.
enum class HeadNorm {
  kNone,
  kEach,
  kEachItsOwn,
  kRotated,
  kTogether,
  kUnweighted
};

// Gates of attention, whose sigmoid multiplies what attention gives: none, one
// for each element of a head, which the matrix of queries has behind the
// queries of each head, the same in a separate matrix, or one for each head; or
// gates whose softplus multiplies it, one for each head or for each element, as
// many as their matrix has rows.
enum class AttentionGate {
  kNone,
  kWithQueries,
  kOfElements,
  kOfHeads,
  kSoftplus
};

// What a file's logit_scale does to the logits.
enum class LogitScale { kDivides, kMultiplies };

}  // namespace rc::model
