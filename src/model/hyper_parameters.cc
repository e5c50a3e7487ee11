#include "model/hyper_parameters.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/quote.h"
#include "model/architecture.h"
#include "model/expert_parameters.h"
#include "model/latent_parameters.h"
#include "model/layer_parameters.h"
#include "model/limits.h"
#include "model/metadata.h"
#include "model/norm.h"
#include "model/rope_parameters.h"
#include "model/space_parameters.h"
#include "model/time_mix.h"
#include "model/xielu_parameters.h"

namespace rc::model {
namespace {

constexpr double kMaxSoftcap = 1e6;

void read_sizes(Metadata& metadata, const Architecture& architecture,
                HyperParameters& hyper) {
  hyper.context_length = metadata.get("context_length", 1, kMaxContext);
  hyper.width = metadata.get("embedding_length", 1, kMaxWidth);
  int64_t layers = metadata.get("block_count", 1, kMaxLayers);
  if (architecture.source != nullptr) {
    layers =
        metadata.find("decoder_block_count", 1, kMaxLayers).value_or(layers);
    // Files say it of each alone.
    hyper.context_length = std::min(2 * hyper.context_length, kMaxContext);
  }
  if (architecture.experts.selection_bias ||
      architecture.recurrence.attention_interval) {
    hyper.guessing_layers =
        metadata.find("nextn_predict_layers", 0, layers - 1).value_or(0);
  }
  hyper.layers.resize(static_cast<size_t>(layers - hyper.guessing_layers));
  metadata.set_guessing_layers(hyper.guessing_layers);
  const bool squares =
      norm_of(architecture, metadata.file()) == Norm::kRootMeanSquare;
  hyper.norm_epsilon =
      metadata.get_number(squares || architecture.norm.epsilon_of_squares
                              ? kEpsilonOfSquares
                              : "attention.layer_norm_epsilon",
                          1e-20, 1.0);
  // Files may say that of the other norms too.
  if (squares && architecture.norm.kind_by_epsilon) {
    metadata.find_number("attention.layer_norm_epsilon", 0.0, 1.0);
  }
  hyper.pooling = metadata.find("pooling_type", 0, kMaxPooling).value_or(0);
}

// The rows of the embedding table, which an optional key may only confirm.
void read_vocabulary(const Metadata& metadata, const Architecture& architecture,
                     HyperParameters& hyper) {
  const gguf::Tensor* table =
      metadata.file().find_tensor(architecture.names.token_embedding);
  if (table == nullptr || table->shape.empty()) {
    fail(RC_E_FORMAT, metadata.file().name(), ": tensor ",
         architecture.names.token_embedding, " is missing");
  }
  hyper.vocabulary = table->shape[0];
  if (hyper.vocabulary < 1 || hyper.vocabulary > kMaxVocabulary) {
    fail(RC_E_FORMAT, metadata.file().name(), ": tensor ",
         architecture.names.token_embedding, " has ", hyper.vocabulary,
         " rows, but must have 1 to ", kMaxVocabulary);
  }
  const std::optional<int64_t> count =
      metadata.find("vocab_size", 1, kMaxVocabulary);
  if (count && *count != hyper.vocabulary) {
    metadata.refuse("vocab_size", *count,
                    cat(architecture.names.token_embedding, " has ",
                        hyper.vocabulary, " rows"));
  }
}

// Layers between those that attend.
void read_interval(const Metadata& metadata, const Architecture& architecture,
                   HyperParameters& hyper) {
  const int64_t every = metadata.find("full_attention_interval", 1, kMaxLayers)
                            .value_or(architecture.defaults.attention_interval);
  const auto recurrent = metadata.find_each("attention.recurrent_layers", 0, 1,
                                            hyper.layer_count());
  for (int64_t i = 0; i < hyper.layer_count(); ++i) {
    const bool attends = recurrent ? (*recurrent)[static_cast<size_t>(i)] == 0
                                   : (i + 1) % every == 0;
    if (attends) continue;
    Layer& layer = hyper.layers[static_cast<size_t>(i)];
    layer.mixer = architecture.recurrence.mixer;
    layer.heads = layer.kv_heads = 0;
  }
}

void read_heads(const Metadata& metadata, const Architecture& architecture,
                HyperParameters& hyper) {
  const int64_t layers = hyper.layer_count();
  const auto heads =
      metadata.get_each("attention.head_count", 1, kMaxHeads, layers);
  const auto kv_heads =
      metadata
          .find_each("attention.head_count_kv",
                     architecture.recurrence.mixer == Mixer::kAttention ? 1 : 0,
                     kMaxHeads, layers)
          .value_or(heads);
  const std::optional<int64_t> key_size =
      metadata.find("attention.key_length", 1, kMaxHeadSize);
  hyper.key_size = key_size.value_or(hyper.width / heads.front());
  for (size_t i = 0; i < hyper.layers.size(); ++i) {
    if (kv_heads[i] == 0 && architecture.recurrence.mixer != Mixer::kBoth) {
      hyper.layers[i].mixer = architecture.recurrence.mixer;
      continue;
    }
    if (kv_heads[i] == 0) {
      metadata.refuse("attention.head_count_kv", 0, "must be at least 1");
    }
    if (architecture.recurrence.mixer == Mixer::kBoth) {
      hyper.layers[i].mixer = Mixer::kBoth;
    }
    if (heads[i] % kv_heads[i] != 0) {
      metadata.refuse("attention.head_count_kv", kv_heads[i],
                      cat("must divide the ", heads[i], " heads"));
    }
    if (!key_size && !architecture.latent.present &&
        heads[i] * hyper.key_size != hyper.width) {
      metadata.refuse("attention.head_count", heads[i],
                      cat("must divide the width of ", hyper.width, " unless ",
                          metadata.key("attention.key_length"), " is given"));
    }
    hyper.layers[i].heads = heads[i];
    hyper.layers[i].kv_heads = kv_heads[i];
  }
  if (architecture.recurrence.attention_interval) {
    read_interval(metadata, architecture, hyper);
  }
  if (hyper.key_size > kMaxHeadSize) {
    metadata.refuse("attention.head_count", heads.front(),
                    cat("heads of ", hyper.key_size,
                        " elements are larger than ", kMaxHeadSize));
  }
}

// Files of other writers do not say whether heads are normed without weights,
// but their number of experts shows it.
void read_head_norms(const Metadata& metadata, const Architecture& architecture,
                     HyperParameters& hyper) {
  if (architecture.attention.without_head_norm == nullptr) return;
  const int64_t experts =
      metadata.find("expert_count", 0, kMaxExperts).value_or(0);
  hyper.head_norms =
      metadata.find_flag("attention.head_norms")
          .value_or(!architecture.attention.without_head_norm(experts));
}

// Files may name another function than the usual one.
void read_activation(const Metadata& metadata, const Architecture& architecture,
                     HyperParameters& hyper) {
  if (!architecture.feed_forward.names_activation) return;
  constexpr const char* kKey = "hidden_activation";
  const auto name = metadata.find_text(kKey);
  if (!name) return;
  // Converters write the names of folders.
  constexpr std::string_view kSquare = "relu2";
  constexpr std::pair<std::string_view, int32_t> kFunctions[] = {
      {"gelu", RC_FUNCTION_GELU},
      {"gelu_pytorch_tanh", RC_FUNCTION_GELU_TANH},
      {"gelu_new", RC_FUNCTION_GELU_TANH},
      {"gelu_fast", RC_FUNCTION_GELU_TANH},
      {"relu", RC_FUNCTION_RELU},
      {kSquare, RC_FUNCTION_RELU},
      {"silu", RC_FUNCTION_SILU},
      {"swish", RC_FUNCTION_SILU},
  };
  for (const auto& [known, function] : kFunctions) {
    if (*name != known) continue;
    hyper.activation = function;
    hyper.activation_times_itself = known == kSquare;
    return;
  }
  fail(RC_E_UNSUPPORTED, metadata.file().name(), ": ", metadata.key(kKey),
       " is ", quote(*name),
       "; known are gelu, gelu_pytorch_tanh, relu, relu2, silu");
}

// Which layers see only the last positions.
void read_window(const Metadata& metadata, const Architecture& architecture,
                 HyperParameters& hyper) {
  hyper.sliding_window =
      metadata.find("attention.sliding_window", 0, kMaxContext)
          .value_or(architecture.defaults.sliding_window);
  const WindowPattern& pattern = architecture.position.window;
  if (pattern.period == 0) return;
  // Of rows that see those behind them a half on each side, and their own.
  const int64_t window =
      architecture.attention.causal || hyper.sliding_window == 0
          ? hyper.sliding_window
          : hyper.sliding_window / 2 + 1;
  constexpr const char* kPattern = "attention.sliding_window_pattern";
  const gguf::Entry* entry = metadata.file().find(metadata.key(kPattern));
  if (entry != nullptr && entry->type == gguf::ValueType::kArray) {
    const auto windowed =
        *metadata.find_each(kPattern, 0, 1, hyper.layer_count());
    for (size_t i = 0; i < windowed.size(); ++i) {
      hyper.layers[i].window = windowed[i] != 0 ? window : 0;
    }
    return;
  }
  // Of so many layers the last one sees all, or the first.
  const int64_t period =
      metadata.find(kPattern, 1, kMaxLayers).value_or(pattern.period);
  const bool given = entry != nullptr;
  const int64_t windowed = given ? period - 1 : pattern.windowed;
  for (int64_t i = 0; i < hyper.layer_count(); ++i) {
    const int64_t number =
        pattern.first_sees_all ? period - 1 - i % period : i % period;
    hyper.layers[i].window = number < windowed ? window : 0;
  }
}

void read_indexer(const Metadata& metadata, HyperParameters& hyper) {
  hyper.chosen_positions =
      metadata.get("attention.indexer.top_k", 2, kMaxContext);
  // Only checked: sizes of the indexer, which is not computed, and the layers
  // that choose for others.
  metadata.find("attention.indexer.head_count", 1, kMaxHeads);
  metadata.find("attention.indexer.key_length", 1, kMaxHeadSize);
  metadata.find_each("attention.indexer.types", 0, 1, hyper.layer_count());
  hyper.context_length = std::min(hyper.context_length, hyper.chosen_positions);
}

void read_attention(const Metadata& metadata, const Architecture& architecture,
                    HyperParameters& hyper) {
  if (architecture.recurrence.only) {
    metadata.find("attention.head_count", 0, 0);
    for (Layer& layer : hyper.layers)
      layer.mixer = architecture.recurrence.mixer;
    return;
  }
  read_heads(metadata, architecture, hyper);
  if (architecture.latent.present) {
    read_latent(metadata, architecture, hyper);
    return;
  }
  hyper.value_size = metadata.find("attention.value_length", 1, kMaxHeadSize)
                         .value_or(hyper.key_size);
  if (hyper.value_size != hyper.key_size &&
      !architecture.attention.separate_value_size) {
    fail(RC_E_UNSUPPORTED, metadata.file().name(), ": ",
         metadata.key("attention.value_length"), " is ", hyper.value_size,
         ", but only heads whose values are as long as their keys (",
         hyper.key_size, ") can be computed");
  }
  if (architecture.position.alibi != Presence::kNever) {
    const int64_t layers = architecture.defaults.alibi_layers;
    hyper.alibi = metadata.find_number("attention.max_alibi_bias", 0.0, 1024.0)
                      .value_or(layers == 0 || layers == hyper.layer_count()
                                    ? architecture.defaults.alibi
                                    : 0.0f);
    if (hyper.alibi == 0.0f &&
        architecture.position.alibi == Presence::kAlways) {
      fail(RC_E_UNSUPPORTED, metadata.file().name(), ": ",
           metadata.key("attention.max_alibi_bias"),
           " is 0 or missing, but models of architecture ", architecture.name,
           " can only be computed with it");
    }
  }
  if (architecture.attention.clamps) {
    hyper.clamp =
        metadata.find_positive("attention.clamp_kqv", 1e-6, 1e6).value_or(0.0f);
  }
  if (architecture.attention.value_scale) {
    hyper.value_scale =
        metadata.find_positive("attention.value_scale", 1e-6, 1e6)
            .value_or(1.0f);
  }
  if (architecture.position.query_scale) {
    hyper.position_scale =
        metadata.find_number("attention.temperature_scale", 0.0, 1e3)
            .value_or(0.0f);
  }
  const Defaults& defaults = architecture.defaults;
  if (architecture.position.temperature) {
    hyper.temperature =
        metadata.find_number("attention.temperature_scale", 0.0, 1e3)
            .value_or(defaults.temperature);
    hyper.temperature_length =
        metadata.find("attention.temperature_length", 1, kMaxContext)
            .value_or(defaults.temperature_length);
  }
  hyper.attention_softcap =
      metadata.find_number("attn_logit_softcapping", 0.0, kMaxSoftcap)
          .value_or(defaults.attention_softcap);
  hyper.final_softcap =
      metadata.find_number("final_logit_softcapping", 0.0, kMaxSoftcap)
          .value_or(defaults.final_softcap);
}

void read_scales(const Metadata& metadata, const Architecture& architecture,
                 HyperParameters& hyper) {
  const Defaults& defaults = architecture.defaults;
  const auto layers = static_cast<float>(hyper.layer_count());
  const float residual = defaults.residual_depth == 0.0f
                             ? 1.0f
                             : defaults.residual_depth / std::sqrt(layers);
  const float width = defaults.logit_width == 0
                          ? 1.0f
                          : static_cast<float>(hyper.width) /
                                static_cast<float>(defaults.logit_width);
  const auto read = [&](const char* name, float otherwise) {
    return metadata.find_positive(name, 1e-6, 1e6).value_or(otherwise);
  };
  hyper.embedding_scale = read("embedding_scale", defaults.embedding_scale);
  hyper.residual_scale = read("residual_scale", residual);
  const float logits = read("logit_scale", width);
  hyper.logit_factor =
      architecture.output.logit_scale == LogitScale::kMultiplies
          ? logits
          : 1.0f / logits;
  hyper.attention_scale = read("attention.scale", 0.0f);
}

void read_feed_forward(const Metadata& metadata,
                       const Architecture& architecture,
                       HyperParameters& hyper) {
  if (architecture.recurrence.only) {
    if (!mixes_time(architecture.recurrence.mixer)) {
      metadata.find("feed_forward_length", 0, 0);
      return;
    }
    const int64_t size =
        metadata.get("feed_forward_length", 1, kMaxFeedForward);
    for (Layer& layer : hyper.layers) layer.feed_forward = size;
    return;
  }
  const bool may_have_experts =
      architecture.experts.presence != Presence::kNever;
  hyper.experts =
      metadata.find("expert_count", 0, may_have_experts ? kMaxExperts : 0)
          .value_or(0);
  if (architecture.experts.presence == Presence::kAlways &&
      hyper.experts == 0) {
    metadata.refuse("expert_count", hyper.experts, "must be at least 1");
  }
  if (hyper.experts > 0) {
    read_experts(metadata, architecture, hyper);
    place_experts(metadata, architecture, hyper);
    // The size of a dense part changes nothing.
    if (!architecture.experts.beside_dense &&
        !architecture.residual.single_parts) {
      metadata.find("feed_forward_length", 0, kMaxFeedForward);
    }
    return;
  }
  if (architecture.feed_forward.gate.xielu) read_xielu(metadata.file(), hyper);
  const auto sizes = metadata.get_each(
      "feed_forward_length", architecture.residual.single_parts ? 0 : 1,
      kMaxFeedForward, hyper.layer_count());
  for (size_t i = 0; i < sizes.size(); ++i) {
    Layer& layer = hyper.layers[i];
    layer.feed_forward = sizes[i];
    if (architecture.feed_forward.gate_counted) {
      if (sizes[i] % 2 != 0) {
        metadata.refuse("feed_forward_length", sizes[i], "must be even");
      }
      layer.feed_forward = sizes[i] / 2;
    }
    if (!architecture.residual.single_parts || sizes[i] == 0) continue;
    if (layer.attends()) {
      metadata.refuse("feed_forward_length", sizes[i],
                      cat("layer ", i, " has attention, so it must be 0"));
    }
    layer.mixer = Mixer::kNone;
  }
}

// Whether attention and feed-forward read the same residual.
bool read_parallel(const Metadata& metadata, const Architecture& architecture) {
  if (architecture.residual.parallel != Presence::kOptional) {
    return architecture.residual.parallel == Presence::kAlways;
  }
  return metadata.find_flag("use_parallel_residual").value_or(true);
}

}  // namespace

HyperParameters read_hyper_parameters(const gguf::File& file,
                                      const Architecture& architecture) {
  HyperParameters hyper;
  Metadata metadata(file, architecture.name, hyper.keys);
  hyper.architecture = architecture.name;
  hyper.name = file.find_string("general.name").value_or("");
  read_sizes(metadata, architecture, hyper);
  read_vocabulary(metadata, architecture, hyper);
  read_attention(metadata, architecture, hyper);
  hyper.parallel_residual = read_parallel(metadata, architecture);
  if (architecture.scale_keys) {
    read_scales(metadata, architecture, hyper);
  }
  if (architecture.residual.normed) {
    hyper.carried_scale =
        metadata.find_positive("residual_scale", 1e-6, 1e6).value_or(1.0f);
  }
  read_head_norms(metadata, architecture, hyper);
  read_activation(metadata, architecture, hyper);
  read_window(metadata, architecture, hyper);
  read_layer_parameters(metadata, architecture, hyper);
  read_ropes(metadata, architecture, hyper);
  if (architecture.latent.indexed) read_indexer(metadata, hyper);
  read_feed_forward(metadata, architecture, hyper);
  read_state_space(metadata, architecture, hyper);
  return hyper;
}

}  // namespace rc::model
