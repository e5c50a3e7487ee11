// GPT-Neo.
#include "base/checked.h"
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kGptNeoRules[] = {
    {"wte.weight", "token_embd.weight"},
    {"wpe.weight", "position_embd.weight"},
    {"ln_f.@", "output_norm.@"},
    {"lm_head.weight", "output.weight"},
    {"h.*.ln_1.@", "blk.*.attn_norm.@"},
    {"h.*.attn.attention.q_proj.weight", "blk.*.attn_q.weight"},
    {"h.*.attn.attention.k_proj.weight", "blk.*.attn_k.weight"},
    {"h.*.attn.attention.v_proj.weight", "blk.*.attn_v.weight"},
    {"h.*.attn.attention.out_proj.@", "blk.*.attn_output.@"},
    {"h.*.ln_2.@", "blk.*.ffn_norm.@"},
    {"h.*.mlp.c_fc.@", "blk.*.ffn_up.@"},
    {"h.*.mlp.c_proj.@", "blk.*.ffn_down.@"},
    // Masks of causal attention, from old folders.
    {"h.*.attn.attention.bias", ""},
    {"h.*.attn.attention.masked_bias", ""},
};

// Adds which layers see only a window: attention_layers, which all published
// folders have together with attention_types. Without both it is every second
// layer.
void add_local_layers(Description& model) {
  const Config& config = model.config();
  constexpr std::string_view kTypes = "attention_layers";
  const auto types = config.find_texts(kTypes);
  if (!types) {
    expect_none(config, "attention_types");
    return;
  }
  std::vector<bool> windowed;
  for (const std::string& type : *types) {
    if (type != "global" && type != "local") {
      config.refuse(RC_E_UNSUPPORTED, kTypes, " holds ", quote(type),
                    "; known are global, local");
    }
    windowed.push_back(type == "local");
  }
  model.add_flags("attention.sliding_window_pattern", windowed);
}

void describe_gpt_neo(Description& model) {
  const Config& config = model.config();
  add_activation(model, "activation_function",
                 {"gelu_new", "gelu_pytorch_tanh", "gelu_fast"});
  add_decoder_sizes(model,
                    {.layer_norm = "layer_norm_epsilon", .feed_forward = ""});
  const auto inner = config.find_int("intermediate_size");
  model.add_int("feed_forward_length",
                inner ? *inner
                      : checked_mul(config.get_int("hidden_size"), int64_t{4})
                            .value_or(-1));
  model.add_int("attention.sliding_window", config.get_int("window_size"));
  add_local_layers(model);
}

}  // namespace

constexpr Architecture kGptNeo = {
    .model_type = "gpt_neo",
    .name = "gptneo",
    .defaults = R"({"layer_norm_epsilon": 1e-5, "window_size": 256,
                    "max_position_embeddings": 2048,
                    "tie_word_embeddings": true})",
    .aliases = {{"num_layers", "num_hidden_layers"},
                {"num_heads", "num_attention_heads"}},
    .renames = {{"transformer.", ""}, {}},
    .rules = {kGptNeoRules},
    .describe = describe_gpt_neo,
};

}  // namespace rc::folder
