// The differences between the forward passes of model families, as data.
//
// To add an architecture, define one in a file of architectures/; the build
// lists them. Each part of it states only what differs from Llama. A number of
// one model, rather than a trait of its family, is a hyper-parameter.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/architecture_names.h"
#include "model/hyper_parameters.h"
#include "model/traits/attention.h"
#include "model/traits/ends.h"
#include "model/traits/feed_forward.h"
#include "model/traits/norm.h"
#include "model/traits/position.h"
#include "model/traits/presence.h"
#include "model/traits/recurrence.h"
#include "model/traits/residual.h"

namespace rc::model {

// Values assumed when the key is absent.
struct Defaults {
  float attention_softcap = 0.0f;
  float final_softcap = 0.0f;
  int64_t sliding_window = 0;
  float alibi = 0.0f;
  // The number of layers of the models that have `alibi`; 0: all models.
  int64_t alibi_layers = 0;
  float temperature = 0.0f;
  int64_t temperature_length = 0;
  int64_t shared_experts = 0;
  float embedding_scale = 1.0f;
  // The results of layers are multiplied by this divided by the square root of
  // the number of layers; 0: they are not.
  float residual_depth = 0.0f;
  // The width at which logits are not scaled; 0: the model's.
  int64_t logit_width = 0;
  // See attention_interval of RecurrenceTraits.
  int64_t attention_interval = 4;
};

struct Architecture {
  std::string_view name;  // general.architecture
  // The part of the same files that reads a source, whose rows each layer
  // attends to after its own sequence; nullptr: there is none. See source.h.
  const Architecture* source = nullptr;
  TensorNames names = {};
  Defaults defaults = {};
  // Files have factors of embeddings, residuals, logits and attention.
  bool scale_keys = false;

  EmbeddingTraits embedding = {};
  NormTraits norm = {};
  ResidualTraits residual = {};
  PositionTraits position = {};
  RotaryTraits rotary = {};
  AttentionTraits attention = {};
  LatentTraits latent = {};
  RecurrenceTraits recurrence = {};
  FeedForwardTraits feed_forward = {};
  ExpertTraits experts = {};
  OutputTraits output = {};
};

// In the order in which messages name them: that of the files' names.
std::span<const Architecture* const> known_architectures();

// Throws RC_E_UNSUPPORTED naming the file, the architecture, those known and,
// if the file's tensors have the names that some of them have, these.
const Architecture& find_architecture(const gguf::File& file);

}  // namespace rc::model
