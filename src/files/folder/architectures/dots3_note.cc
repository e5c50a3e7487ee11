// dots3.note, its text, under the members of its release and under those of
// transformers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"
#include "files/folder/latent_heads.h"

namespace rc::folder {
namespace {

constexpr std::string_view kOfLayers = "per_layer_config";

// Which layers see only a window: layer_types, or all but the first two and of
// each four the second one.
std::vector<bool> windows_of_dots3_note(const Config& config) {
  const int64_t layers = layer_count(config);
  std::vector<bool> windowed;
  const auto types = config.find_texts("layer_types");
  if (!types) {
    const bool some = config.find_flag("use_sliding_window").value_or(true);
    for (int64_t i = 0; i < layers; ++i) {
      windowed.push_back(some && i >= 2 && i % 4 != 1);
    }
    return windowed;
  }
  for (const std::string& type : *types) {
    windowed.push_back(type == "sliding_attention");
    // Releases call those with an indexer full_attention.
    if (windowed.back() || type == "indexed_attention" ||
        (type == "full_attention" && !config.has(kOfLayers))) {
      continue;
    }
    config.refuse(RC_E_UNSUPPORTED, "layer_types", " holds ", quote(type),
                  "; known are indexed_attention, sliding_attention");
  }
  expect_layer_members(config, "layer_types", windowed.size());
  return windowed;
}

// The sizes of a layer's attention.
struct Dots3Sizes {
  LatentHead head;
  int64_t query_rank, rotated;
  bool operator==(const Dots3Sizes& other) const {
    return head.heads == other.head.heads && head.key == other.head.key &&
           head.value == other.head.value && head.rank == other.head.rank &&
           query_rank == other.query_rank && rotated == other.rotated;
  }
};

Dots3Sizes dots3_sizes(const Config& config, int64_t layer, bool windowed) {
  const auto layers = config.find_object(kOfLayers);
  const auto own = layers ? layers->find_object(cat(layer)) : std::nullopt;
  // In releases, layers with a window have their own under other names.
  const auto size = [&](std::string_view key, int64_t in_release) {
    if (!layers && windowed) {
      return config.find_int(cat("swa_", key)).value_or(in_release);
    }
    const auto given = own ? own->find_int(key) : std::nullopt;
    return given ? *given : config.get_int(key);
  };
  const int64_t key = size("qk_nope_head_dim", 192);
  const int64_t all = config.find_int("swa_head_dim").value_or(256);
  // The engine refuses -1.
  const int64_t rest = key >= 0 && all >= key ? all - key : -1;
  return {{size("num_attention_heads", 64), key, size("v_head_dim", 128),
           size("kv_lora_rank", 1024)},
          size("q_lora_rank", 1024),
          size("qk_rope_head_dim", rest)};
}

// Heads of the layer that a tensor belongs to.
LatentHead dots3_head(const Config& config, const safetensors::Place& source) {
  constexpr std::string_view kBefore = "layers.";
  const std::string& name = source.tensor->name;
  const size_t at = name.find(kBefore);
  size_t layer = 0;
  if (at != std::string::npos) {
    std::from_chars(name.data() + at + kBefore.size(),
                    name.data() + name.size(), layer);
  }
  const std::vector<bool> windowed = windows_of_dots3_note(config);
  return dots3_sizes(config, static_cast<int64_t>(layer),
                     layer < windowed.size() && windowed[layer])
      .head;
}

TensorView dots3_keys(const Config& config, const safetensors::Place& source) {
  return latent_keys(dots3_head(config, source), source);
}

TensorView dots3_values(const Config& config,
                        const safetensors::Place& source) {
  return latent_values(dots3_head(config, source), source);
}

// The weights of a norm, multiplied by the root of the model's width divided by
// their number.
TensorView widened_norm(const Config& config,
                        const safetensors::Place& source) {
  TensorView view = as_it_is(config, source);
  if (view.shape.size() != 1) refuse_shape(source, "that of a norm");
  view.dtype = RC_DTYPE_F32;
  view.change = Change::kTimes;
  view.slabs[0].factor = static_cast<float>(
      std::sqrt(static_cast<double>(config.get_int("hidden_size")) /
                static_cast<double>(view.shape[0])));
  return view;
}

constexpr Rule kDots3NoteRules[] = {
    {"model.layers.*.self_attn.q_a_proj.weight", "blk.*.attn_q_a.weight"},
    {"model.layers.*.self_attn.q_a_layernorm.weight",
     "blk.*.attn_q_a_norm.weight", widened_norm},
    {"model.layers.*.self_attn.q_b_proj.weight", "blk.*.attn_q_b.weight"},
    {"model.layers.*.self_attn.kv_a_proj_with_mqa.weight",
     "blk.*.attn_kv_a_mqa.weight"},
    {"model.layers.*.self_attn.kv_a_layernorm.weight",
     "blk.*.attn_kv_a_norm.weight", widened_norm},
    {"model.layers.*.self_attn.k_rope_only_layernorm.weight",
     "blk.*.attn_k_norm.weight"},
    {"model.layers.*.self_attn.kv_b_proj.weight", "blk.*.attn_k_b.weight",
     dots3_keys},
    {"model.layers.*.self_attn.kv_b_proj.weight", "blk.*.attn_v_b.weight",
     dots3_values},
    {"model.layers.*.self_attn.g_proj.weight", "blk.*.attn_gate.weight"},
    // Tensors of a layer that guesses further tokens.
    {"model.mtp.%", ""},
};

// Readers of pictures and sounds.
constexpr Rule kDots3OtherParts[] = {
    {"vision_encoder.%", ""},      {"audio_encoder.%", ""},
    {"audio_adapter.%", ""},       {"model.vision_encoder.%", ""},
    {"model.audio_encoder.%", ""}, {"model.audio_adapter.%", ""},
    {"model.vision_tower.%", ""},  {"model.audio_tower.%", ""},
};

void add_dots3_heads(Description& model, const std::vector<bool>& windowed) {
  const Config& config = model.config();
  std::optional<Dots3Sizes> kinds[2];
  std::vector<int64_t> heads;
  for (size_t i = 0; i < windowed.size(); ++i) {
    const Dots3Sizes sizes =
        dots3_sizes(config, static_cast<int64_t>(i), windowed[i]);
    heads.push_back(sizes.head.heads);
    std::optional<Dots3Sizes>& kind = kinds[windowed[i] ? 1 : 0];
    if (kind && !(*kind == sizes)) {
      config.refuse(RC_E_UNSUPPORTED, kOfLayers, " has other sizes for layer ",
                    i, " than for a layer of its kind before it");
    }
    kind = sizes;
  }
  if (!kinds[0]) {
    config.refuse(RC_E_UNSUPPORTED, "layer_types",
                  " has no layer that sees all positions");
  }
  const auto add = [&](const Dots3Sizes& sizes, const char* end) {
    const auto sum = [&](int64_t one) {
      return checked_add(one, sizes.rotated).value_or(-1);
    };
    const auto name = [&](const char* key) {
      return cat("attention.", key, end);
    };
    model.add_int(name("kv_lora_rank"), sizes.head.rank);
    model.add_int(name("key_length"), sum(sizes.head.rank));
    model.add_int(name("value_length"), sizes.head.rank);
    model.add_int(name("key_length_mla"), sum(sizes.head.key));
    model.add_int(name("value_length_mla"), sizes.head.value);
  };
  model.add_ints("attention.head_count", heads);
  model.add_int("attention.head_count_kv", 1);
  model.add_int("attention.q_lora_rank", kinds[0]->query_rank);
  model.add_int("rope.dimension_count", kinds[0]->rotated);
  add(*kinds[0], "");
  if (!kinds[1]) return;
  for (const auto& [key, one, other] :
       {std::tuple{"q_lora_rank", kinds[0]->query_rank, kinds[1]->query_rank},
        {"qk_rope_head_dim", kinds[0]->rotated, kinds[1]->rotated}}) {
    if (one == other) continue;
    config.refuse(RC_E_UNSUPPORTED, key, " is ", one, ", but ", other,
                  " in layers with a window; it must be the same in all");
  }
  add(*kinds[1], "_swa");
}

void add_dots3_ropes(Description& model, bool has_windows) {
  const Config& config = model.config();
  double full = config.find_number("rope_theta").value_or(8e7);
  double windowed = config.find_number("swa_rope_theta").value_or(5e4);
  auto rope = config.find_object("rope_parameters");
  if (!rope) rope = config.find_object("rope_scaling");
  if (rope) {
    const auto base = [&](std::initializer_list<std::string_view> types,
                          double otherwise) {
      for (const std::string_view type : types) {
        if (const auto of_type = rope->find_object(type)) {
          expect_plain_rope(*of_type);
          return of_type->find_number("rope_theta").value_or(otherwise);
        }
      }
      // One for all types.
      expect_plain_rope(*rope);
      return rope->find_number("rope_theta").value_or(full);
    };
    windowed = base({"sliding_attention"}, windowed);
    full = base({"indexed_attention", "full_attention"}, full);
  }
  model.add_number("rope.freq_base", full);
  if (has_windows) model.add_number("rope.freq_base_swa", windowed);
}

void add_dots3_experts(Description& model) {
  const Config& config = model.config();
  add_experts(model, {.count = "n_routed_experts"});
  const int64_t shared = config.get_int("n_shared_experts");
  const int64_t size = config.get_int("shared_experts_intermediate_size");
  model.add_int("expert_shared_count", shared);
  if (size != config.get_int("moe_intermediate_size")) {
    // The engine refuses -1.
    model.add_int("expert_shared_feed_forward_length",
                  checked_mul(shared, size).value_or(-1));
  }
  model.add_int("leading_dense_block_count", dense_layers(config));
  add_expert_groups(model);
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_number("expert_weights_scale",
                   config.get_number("routed_scaling_factor"));
  model.add_flag("expert_weights_norm",
                 config.find_flag("norm_topk_prob").value_or(true));
}

// Members of the release that models are computed with one value of.
void check_dots3_release(const Config& config) {
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "scoring_func", {"sigmoid"});
  expect_text(config, "topk_method", {"noaux_tc"});
  expect_number(config, "moe_layer_freq", 1);
  for (const char* key : {"normalization", "final_norm"}) {
    expect_text(config, key, {"RMSNorm"});
  }
  for (const char* key : {"attention_gate_type", "swa_attention_gate_type"}) {
    expect_text(config, key, {"headwise"});
  }
  for (const char* key :
       {"attention_bias", "mlp_bias", "use_dynamic_rsf", "moe_gating_fp32"}) {
    expect_flag(config, key, false);
  }
  for (const char* key : {"use_dsa", "k_rope_only_layernorm",
                          "apply_mla_qkv_lora_rescale", "rope_interleave"}) {
    expect_flag(config, key, true);
  }
}

void describe_dots3_note(Description& model) {
  const Config& config = model.config();
  check_dots3_release(config);
  const std::vector<bool> windowed = windows_of_dots3_note(config);
  const bool has_windows = std::ranges::find(windowed, true) != windowed.end();
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", config.get_int("max_position_embeddings"));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("rms_norm_eps"));
  model.add_int("vocab_size", config.get_int("vocab_size"));
  add_dots3_heads(model, windowed);
  add_dots3_ropes(model, has_windows);
  model.add_int("attention.sliding_window",
                config.find_int("sliding_window").value_or(512));
  model.add_flags("attention.sliding_window_pattern", windowed);
  model.add_int("attention.indexer.head_count",
                config.get_int("index_n_heads"));
  model.add_int("attention.indexer.key_length",
                config.get_int("index_head_dim"));
  model.add_int("attention.indexer.top_k", config.get_int("index_topk"));
  std::vector<bool> indexed = windowed;
  indexed.flip();
  model.add_flags("attention.indexer.types", indexed);
  add_dots3_experts(model);
}

constexpr std::string_view kDots3NoteDefaults =
    R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 524288,
        "n_group": 1, "topk_group": 1, "norm_topk_prob": true,
        "routed_scaling_factor": 1.0, "first_k_dense_replace": 1,
        "num_attention_heads": 128, "q_lora_rank": 1024, "kv_lora_rank": 512,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
        "n_shared_experts": 1, "shared_experts_intermediate_size": 1536,
        "n_routed_experts": 256, "num_experts_per_tok": 8,
        "moe_intermediate_size": 1536, "index_topk": 2048,
        "index_head_dim": 128, "index_n_heads": 64,
        "num_nextn_predict_layers": 1, "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kDots3NoteText = {
    .model_type = "dots3_note_text",
    .name = "dots3note",
    .defaults = kDots3NoteDefaults,
    .aliases = {{"sliding_window_size", "sliding_window"},
                {"moe_shared_expert_intermediate_size",
                 "shared_experts_intermediate_size"}},
    .rules = {kDecoderRules, kNormRules, kDots3NoteRules, kExpertRules,
              kSelectedExpertRules, kIndexerRules},
    .describe = describe_dots3_note,
};

// The whole model, whose release has the members of the text outside of an
// object.
constexpr Architecture kDots3Note = {
    .model_type = "dots3_note",
    .name = "dots3note",
    .defaults = kDots3NoteDefaults,
    .aliases = {{"sliding_window_size", "sliding_window"},
                {"moe_shared_expert_intermediate_size",
                 "shared_experts_intermediate_size"}},
    .renames = {{"model.language_model.", "model."}},
    .rules = {kDecoderRules, kNormRules, kDots3NoteRules, kExpertRules,
              kSelectedExpertRules, kIndexerRules, kDots3OtherParts},
    .describe = describe_dots3_note,
    .part = "text_config",
};

}  // namespace rc::folder
