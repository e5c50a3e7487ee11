// The two ends of a forward pass: the embedding and the output.
#pragma once

#include "model/traits/presence.h"

namespace rc::model {

struct EmbeddingTraits {
  // Embeddings are multiplied by the square root of the width.
  bool scaled = false;
  // Each position has a row that is added to the embedding; nothing is rotated.
  bool learned_positions = false;
  // Each type of tokens has a row that is added to the embedding. kOptional or
  // kNever.
  Presence token_types = Presence::kNever;
  // The embedding is normed before the first layer.
  bool norm = false;
};

// The effect of a file's logit_scale on the logits.
enum class LogitScale { kDivides, kMultiplies };

struct OutputTraits {
  // The result is the rows of the last layer; there are no logits.
  bool hidden_rows = false;
  // These rows are normed.
  bool normed_hidden_rows = false;
  Presence bias = Presence::kNever;
  // Where the embedding table is the output matrix, logits are divided by the
  // square root of the width.
  bool scaled_if_tied = false;
  LogitScale logit_scale = LogitScale::kDivides;
};

}  // namespace rc::model
