// Feed-forward parts, dense and of experts.
#pragma once

#include <cstdint>

#include "model/traits/presence.h"
#include "runcible/plugin.h"

namespace rc::model {

// The gate of a feed-forward part; see RC_OP_GLU.
struct Gate {
  int32_t function = RC_FUNCTION_SILU;
  float limit = 0.0f;
  float offset = 0.0f;
  // There is no gate: the function is applied to the product that a gate would
  // multiply.
  bool ungated = false;
  // The result of the function is multiplied by its argument; with the
  // rectifier that is a square.
  bool times_itself = false;
  // The function is that of RC_OP_XIELU, with parameters of each layer. Only
  // where there is no gate.
  bool xielu = false;
  // One matrix has the rows of the gate, then those of the other product.
  bool fused = false;
  // The same in files without a matrix for the gate alone.
  bool fused_or_apart = false;
  // Files without a matrix for the gate have no gate, and their function is the
  // rectifier.
  bool optional = false;
};

struct FeedForwardTraits {
  Gate gate = {};
  // Of gate, up and down; not of experts.
  Presence bias = Presence::kNever;
  // Files may name another function than the gate's.
  bool names_activation = false;
  // Files may limit gates and the products that they multiply, in each layer.
  bool gate_limits = false;
  // feed_forward_length counts the rows of both products.
  bool gate_counted = false;
  // Files may say which share of a gate is cut off in each layer; see
  // sparsity.h.
  bool sparse_gates = false;
};

struct ExpertTraits {
  // kOptional: dense unless expert_count is above 0.
  Presence presence = Presence::kNever;

  // Which layers have experts: those with a router,
  bool optional_routers = false;
  // those behind the first ones, as many as a key says; so with
  // `selection_bias`, too,
  bool dense_first = false;
  // unless all have.
  bool all_layers = false;
  // Layers with experts have a dense part too: both read the residual, through
  // separate norms, are normed and added. The router reads it divided by its
  // root mean square and by the root of the width. The result of an expert is
  // multiplied by a number of the expert.
  bool beside_dense = false;

  // Of the router and of all three products.
  bool bias = false;
  // Experts may read and give shorter rows than the model's.
  bool latent = false;

  // Scores that are used where a file does not say it: GGUF's number, and that
  // of files with a selection bias if that is another; 0: it is not.
  int64_t default_score = 1;
  int64_t biased_score = 0;
  // Experts are chosen by the sum of their score and a bias, perhaps among
  // those of some groups; see RC_OP_CHOOSE.
  bool selection_bias = false;
  // That bias may be missing; see RC_OP_CHOOSE_IN_GROUPS.
  bool grouped = false;
  // Experts are chosen one after another; see RC_OP_SPARSE_MIX.
  bool sparse_mix = false;
  // The weights of the chosen experts are divided by their sum; a key may say
  // it.
  bool normalized = true;
  // Each row has one expert, whose input is multiplied by the weight: the
  // sigmoid of its score.
  bool weighted_inputs = false;

  // Files may have an expert that is always used.
  bool shared = false;
  // It is multiplied by the sigmoid of a product.
  bool gated_shared = false;
  // The sum of its result and of those of the others is halved.
  bool averaged_shared = false;
};

}  // namespace rc::model
