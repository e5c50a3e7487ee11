// Layers that carry a state from row to row in place of keys and values.
#pragma once

#include "model/hyper_parameters.h"

namespace rc::model {

struct RecurrenceTraits {
  // The mixer of layers without key/value heads; kAttention: there are no such
  // layers. kBoth: all layers are of this kind.
  Mixer mixer = Mixer::kAttention;
  // All layers have this mixer, and there is neither attention nor a
  // feed-forward part.
  bool only = false;
  // Files say which layers attend: a list, or an interval whose last layer
  // does.
  bool attention_interval = false;
  // The result of a state space is normed only where the file has that norm.
  bool optional_norm = false;
  // Steps, b and c of channels have norms.
  bool parameter_norms = false;
};

}  // namespace rc::model
