// Folders of Cohere 2 with experts, Sarvam 105B, dots3.note and Laguna.
#include "files/folder/folder_util.h"

namespace rc::folder {
namespace {

using test::FolderTest;

TEST_F(FolderTest, UnknownValuesOfMixturesAreRefused) {
  const struct {
    const char* patch;
    const char* message;
  } cases[] = {
      {R"({"model_type": "cohere2_moe", "num_shared_experts": 1,
           "shared_expert_combination_strategy": "sum"})",
       "'shared_expert_combination_strategy' is 'sum'"},
      {R"({"model_type": "cohere2_moe", "expert_selection_fn": "relu"})",
       "'expert_selection_fn' is 'relu'; models of type cohere2_moe are "
       "computed with softmax, sigmoid"},
      {R"({"model_type": "cohere2_moe", "attention_bias": true})",
       "'attention_bias' is true"},
      {R"({"model_type": "cohere2_moe", "first_k_dense_replace": 2,
           "prefix_dense_sliding_window_pattern": 2})",
       "'prefix_dense_sliding_window_pattern' is 2 and layer 1 is dense"},
      {R"({"model_type": "sarvam_mla", "num_experts": 4,
           "scoring_func": "softmax"})",
       "'scoring_func' is 'softmax'"},
      {R"({"model_type": "dots3_note_text", "use_dsa": false})",
       "'use_dsa' is false"},
      {R"({"model_type": "dots3_note_text", "apply_mla_qkv_lora_rescale": false})",
       "'apply_mla_qkv_lora_rescale' is false"},
      {R"({"model_type": "dots3_note_text",
           "attention_gate_type": "elementwise"})",
       "'attention_gate_type' is 'elementwise'"},
      {R"({"model_type": "dots3_note_text",
           "layer_types": ["full_attention", "indexed_attention"],
           "per_layer_config": {}})",
       "'layer_types' holds 'full_attention'"},
      {R"({"model_type": "dots3_note_text",
           "layer_types": ["sliding_attention", "sliding_attention"]})",
       "'layer_types' has no layer that sees all positions"},
      {R"({"model_type": "dots3_note_text",
           "layer_types": ["indexed_attention", "indexed_attention"],
           "per_layer_config": {"1": {"v_head_dim": 64}}})",
       "'per_layer_config' has other sizes for layer 1"},
      {R"({"model_type": "dots3_note_text",
           "layer_types": ["indexed_attention", "sliding_attention"],
           "swa_q_lora_rank": 512})",
       "'q_lora_rank' is 1024, but 512 in layers with a window"},
      {R"({"model_type": "dots3_note_text",
           "layer_types": ["indexed_attention", "sliding_attention"],
           "swa_qk_rope_head_dim": 32})",
       "'qk_rope_head_dim' is 64, but 32 in layers with a window"},
      {R"({"model_type": "dots3_note_text", "rope_scaling":
           {"rope_type": "yarn", "factor": 2.0}})",
       "'rope_type' is 'yarn'"},
      {R"({"model_type": "laguna", "attention_bias": true})",
       "'attention_bias' is true"},
      {R"({"model_type": "laguna", "moe_router_logit_softcapping": 30.0})",
       "'moe_router_logit_softcapping' is 30"},
      {R"({"model_type": "laguna", "moe_apply_router_weight_on_input": true})",
       "'moe_apply_router_weight_on_input' is true"},
      {R"({"model_type": "laguna",
           "layer_types": ["full_attention", "sliding_attention"],
           "rope_parameters": {"full_attention": {"rope_theta": 1e4},
             "sliding_attention": {"rope_theta": 1e4, "rope_type": "yarn"}}})",
       "'rope_type' is 'yarn'"},
  };
  for (const auto& [patch, message] : cases) {
    SCOPED_TRACE(patch);
    copy("llama");
    change("config.json",
           R"({"num_hidden_layers": 2, "rope_parameters": null})");
    change("config.json", patch);
    expect_refused(RC_E_UNSUPPORTED, message);
  }
}

// Lists that have another number of members than there are layers.
TEST_F(FolderTest, ListsOfWrongLengthAreRefused) {
  for (const char* type : {"cohere2_moe", "dots3_note_text", "laguna"}) {
    SCOPED_TRACE(type);
    copy("llama");
    change("config.json",
           cat(R"({"num_hidden_layers": 2, "rope_parameters": null,
                   "layer_types": ["sliding_attention"], "model_type": ")",
               type, "\"}"));
    expect_refused(RC_E_FORMAT, "'layer_types' has 1 members for 2 layers");
  }
}

// A folder that does not list its layers has a pattern for the dense ones at
// the beginning and one for the others.
TEST_F(FolderTest, PatternsOfWindowsAreChecked) {
  for (const char* key :
       {"sliding_window_pattern", "prefix_dense_sliding_window_pattern"}) {
    copy("llama");
    change("config.json", cat(R"({"model_type": "cohere2_moe", ")", key,
                              R"(": 0, "layer_types": null})"));
    expect_refused(RC_E_FORMAT,
                   cat("'", key, "' is 0, but must be at least 1"));
  }
}

}  // namespace
}  // namespace rc::folder
