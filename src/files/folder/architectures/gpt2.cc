// GPT-2, whose matrices multiply from the other side, GPT-SW3, which is the
// same, and the first StarCoder, which has one key/value head.
#include "base/checked.h"
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kGpt2Rules[] = {
    {"wte.weight", "token_embd.weight"},
    {"wpe.weight", "position_embd.weight"},
    {"ln_f.@", "output_norm.@"},
    {"lm_head.weight", "output.weight"},
    {"h.*.ln_1.@", "blk.*.attn_norm.@"},
    {"h.*.ln_2.@", "blk.*.ffn_norm.@"},
    {"h.*.attn.c_attn.bias", "blk.*.attn_qkv.bias"},
    {"h.*.attn.c_proj.bias", "blk.*.attn_output.bias"},
    {"h.*.mlp.c_fc.bias", "blk.*.ffn_up.bias"},
    {"h.*.mlp.c_proj.bias", "blk.*.ffn_down.bias"},
    // Masks of attention, from old folders.
    {"h.*.attn.bias", ""},
    {"h.*.attn.masked_bias", ""},
};

constexpr Rule kTransposedRules[] = {
    {"h.*.attn.c_attn.weight", "blk.*.attn_qkv.weight", transposed},
    {"h.*.attn.c_proj.weight", "blk.*.attn_output.weight", transposed},
    {"h.*.mlp.c_fc.weight", "blk.*.ffn_up.weight", transposed},
    {"h.*.mlp.c_proj.weight", "blk.*.ffn_down.weight", transposed},
};

constexpr Rule kUprightRules[] = {
    {"h.*.attn.c_attn.weight", "blk.*.attn_qkv.weight"},
    {"h.*.attn.c_proj.weight", "blk.*.attn_output.weight"},
    {"h.*.mlp.c_fc.weight", "blk.*.ffn_up.weight"},
    {"h.*.mlp.c_proj.weight", "blk.*.ffn_down.weight"},
};

void describe_gpt2(Description& model) {
  const Config& config = model.config();
  add_activation(model, "activation_function",
                 {"gelu_new", "gelu_pytorch_tanh", "gelu_fast"});
  expect_flag(config, "scale_attn_weights", true);
  expect_flag(config, "scale_attn_by_inverse_layer_idx", false);
  expect_flag(config, "add_cross_attention", false);
  const int64_t width = config.get_int("n_embd");
  model.add_int("block_count", config.get_int("n_layer"));
  model.add_int("context_length", config.get_int("n_positions"));
  model.add_int("embedding_length", width);
  const auto inner = config.find_int("n_inner");
  model.add_int("feed_forward_length",
                inner ? *inner : checked_mul(width, int64_t{4}).value_or(-1));
  model.add_int("attention.head_count", config.get_int("n_head"));
  model.add_number("attention.layer_norm_epsilon",
                   config.get_number("layer_norm_epsilon"));
}

void describe_starcoder(Description& model) {
  expect_flag(model.config(), "multi_query", true);
  describe_gpt2(model);
  model.add_int("attention.head_count_kv", 1);
}

constexpr std::string_view kGpt2Defaults =
    R"({"n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12,
        "layer_norm_epsilon": 1e-5, "tie_word_embeddings": true})";

}  // namespace

constexpr Architecture kGpt2 = {
    .model_type = "gpt2",
    .name = "gpt2",
    .defaults = kGpt2Defaults,
    .renames = {{"transformer.", ""}, {}},
    .rules = {kGpt2Rules, kTransposedRules},
    .describe = describe_gpt2,
};

constexpr Architecture kGptSw3 = {
    .model_type = "gpt-sw3",
    .name = "gpt2",
    .defaults = kGpt2Defaults,
    .renames = {{"transformer.", ""}, {}},
    .rules = {kGpt2Rules, kTransposedRules},
    .describe = describe_gpt2,
};

constexpr Architecture kGptBigCode = {
    .model_type = "gpt_bigcode",
    .name = "starcoder",
    .defaults = kGpt2Defaults,
    .renames = {{"transformer.", ""}, {}},
    .rules = {kGpt2Rules, kUprightRules},
    .describe = describe_starcoder,
};

}  // namespace rc::folder
