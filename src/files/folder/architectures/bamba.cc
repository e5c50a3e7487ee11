// Bamba: layers of Mamba 2 and a few of attention, of which the first half of
// each head rotates.
#include <algorithm>

#include "files/folder/architectures/granite_rules.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"
#include "files/folder/state_spaces.h"

namespace rc::folder {
namespace {

// No configuration says another part; attn_rotary_emb of older ones is the
// same.
constexpr std::string_view kRotatedPart = "partial_rotary_factor";

// Returns the rows of a matrix of heads, with the first half of each head,
// which is rotated in halves, as one that is rotated in adjacent pairs.
TensorView first_pairs(const Config& config, const safetensors::Place& source,
                       std::string_view heads_key) {
  TensorView view = whole(source);
  constexpr int64_t kMostRows = 65536;
  const int64_t heads = config.find_int(heads_key).value_or(
      config.get_int("num_attention_heads"));
  const int64_t rows = view.shape[0];
  if (view.shape.size() != 2 || heads < 1 || rows > kMostRows ||
      rows % heads != 0 || rows / heads % 4 != 0) {
    refuse_shape(source,
                 cat("a matrix of at most ", kMostRows,
                     " rows, a multiple of 4 for each of ", heads, " heads"));
  }
  const int64_t size = rows / heads;
  const int64_t quarter = size / 4;
  view.rows = 1;
  view.slabs.clear();
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t i = row % size;
    const int64_t from = i < size / 2 ? i / 2 + i % 2 * quarter : i;
    const auto place = static_cast<uint64_t>(row - i + from);
    view.slabs.push_back({source, place * view.columns, view.columns, 1});
  }
  return view;
}

TensorView half_paired_queries(const Config& config,
                               const safetensors::Place& source) {
  return first_pairs(config, source, "num_attention_heads");
}
TensorView half_paired_keys(const Config& config,
                            const safetensors::Place& source) {
  return first_pairs(config, source, "num_key_value_heads");
}

constexpr Rule kBambaRules[] = {
    {"model.final_layernorm.weight", "output_norm.weight"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight"},
    {"model.layers.*.pre_ff_layernorm.weight", "blk.*.ffn_norm.weight"},
    {"model.layers.*.self_attn.q_proj.weight", "blk.*.attn_q.weight",
     half_paired_queries},
    {"model.layers.*.self_attn.k_proj.weight", "blk.*.attn_k.weight",
     half_paired_keys},
    {"model.layers.*.feed_forward.gate_proj.weight", "blk.*.ffn_gate.weight"},
    {"model.layers.*.feed_forward.up_proj.weight", "blk.*.ffn_up.weight"},
    {"model.layers.*.feed_forward.down_proj.weight", "blk.*.ffn_down.weight"},
};

void describe_bamba(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  const auto half = static_cast<double>(head_size(config)) / 2.0;
  expect_number(config, "attn_rotary_emb", half);
  expect_number(config, kRotatedPart, 0.5);
  if (const auto rope = config.find_object("rope_parameters")) {
    expect_number(*rope, kRotatedPart, 0.5);
  }
  add_decoder_sizes(model);
  const auto attending =
      config.find_ints("attn_layer_indices").value_or(std::vector<int64_t>());
  std::vector<int64_t> heads;
  for (int64_t i = 0; i < layer_count(config); ++i) {
    heads.push_back(std::ranges::find(attending, i) == attending.end()
                        ? 0
                        : config.get_int("num_key_value_heads"));
  }
  model.add_ints("attention.head_count_kv", heads);
  add_rope(model, {.rotated_part = kRotatedPart});
  model.add_flag("rope.scaling.finetuned", true);
  add_mamba_sizes(model);
  add_step_limits(model);
}

}  // namespace

constexpr Architecture kBamba = {
    .model_type = "bamba",
    .name = "granitehybrid",
    .defaults = R"({"max_position_embeddings": 262144, "rms_norm_eps": 1e-5,
                    "num_key_value_heads": 8, "partial_rotary_factor": 0.5,
                    "mamba_n_heads": 128, "mamba_n_groups": 1,
                    "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kSpaceRules, kBambaRules},
    .describe = describe_bamba,
};

}  // namespace rc::folder
