// Phi 3 and 4: one matrix for queries, keys and values, one for gate and up.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kPhi3Rules[] = {
    {"model.layers.*.self_attn.qkv_proj.@", "blk.*.attn_qkv.@"},
};

void describe_phi3(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model, {.rotated_part = "partial_rotary_factor"});
  add_window(model);
}

}  // namespace

constexpr Architecture kPhi3 = {
    .model_type = "phi3",
    .name = "phi3",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 4096,
                    "num_key_value_heads": 32, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kNormRules, kFusedGateRules, kPhi3Rules},
    .describe = describe_phi3,
};

}  // namespace rc::folder
