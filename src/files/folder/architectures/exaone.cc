// EXAONE 3 and 3.5: Llama under other names.
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kExaoneRules[] = {
    {"transformer.wte.weight", "token_embd.weight"},
    {"transformer.ln_f.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
    {"transformer.h.*.ln_1.weight", "blk.*.attn_norm.weight"},
    {"transformer.h.*.attn.attention.q_proj.weight", "blk.*.attn_q.weight"},
    {"transformer.h.*.attn.attention.k_proj.weight", "blk.*.attn_k.weight"},
    {"transformer.h.*.attn.attention.v_proj.weight", "blk.*.attn_v.weight"},
    {"transformer.h.*.attn.attention.out_proj.weight",
     "blk.*.attn_output.weight"},
    {"transformer.h.*.ln_2.weight", "blk.*.ffn_norm.weight"},
    {"transformer.h.*.mlp.c_fc_0.weight", "blk.*.ffn_gate.weight"},
    {"transformer.h.*.mlp.c_fc_1.weight", "blk.*.ffn_up.weight"},
    {"transformer.h.*.mlp.c_proj.weight", "blk.*.ffn_down.weight"},
    // The plain rotary frequencies, from old folders.
    {"transformer.h.*.attn.attention.rotary.inv_freq", ""},
};

void describe_exaone(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model);
}

}  // namespace

constexpr Architecture kExaone = {
    .model_type = "exaone",
    .name = "exaone",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 4096,
                    "rope_theta": 5e5, "tie_word_embeddings": false})",
    .aliases = {{"num_layers", "num_hidden_layers"},
                {"layer_norm_epsilon", "rms_norm_eps"},
                {"activation_function", "hidden_act"}},
    .rules = {kExaoneRules},
    .describe = describe_exaone,
};

}  // namespace rc::folder
