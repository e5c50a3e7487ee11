// The norms of attention and of feed-forward parts.
#pragma once

namespace rc::model {

// RC_OP_RMS_NORM, or RC_OP_LAYER_NORM with a weight and a bias, with a weight
// alone, or with neither.
enum class Norm { kRootMeanSquare, kLayer, kLayerUnbiased, kLayerPlain };

// The place of the norms of a part: its input, its input and its result, its
// result, or the sum of its result and the residual. With kOfSums the
// embedding, which is no sum yet, has a norm too.
enum class NormPlace { kBefore, kAround, kBehind, kOfSums };

struct NormTraits {
  Norm kind = Norm::kRootMeanSquare;
  // A file that gives the epsilon of root mean squares has such norms,
  // whatever `kind` is; see norm_of.
  bool kind_by_epsilon = false;
  // The epsilon has the key of root mean squares, whatever `kind` is.
  bool epsilon_of_squares = false;
  NormPlace place = NormPlace::kBefore;
  // The first layer has no norm before attention.
  bool first_layer_unnormed = false;
  // The inputs of the last products of attention and of the feed-forward part
  // are normed as well.
  bool inner = false;
};

}  // namespace rc::model
