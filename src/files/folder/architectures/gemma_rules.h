// Rules that Gemma 3n and Gemma 4 share.
#pragma once

#include "files/folder/rules.h"

namespace rc::folder {

// Norms on both sides, whose weights are stored unchanged, and the tensors for
// pictures and sounds.
inline constexpr Rule kPlainSandwichRules[] = {
    {"model.norm.weight", "output_norm.weight"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight"},
    {"model.layers.*.post_attention_layernorm.weight",
     "blk.*.post_attention_norm.weight"},
    {"model.layers.*.pre_feedforward_layernorm.weight",
     "blk.*.ffn_norm.weight"},
    {"model.layers.*.post_feedforward_layernorm.weight",
     "blk.*.post_ffw_norm.weight"},
    // Pictures and sounds, which are not taken.
    {"model.vision_tower.%", ""},
    {"model.audio_tower.%", ""},
    {"model.embed_vision.%", ""},
    {"model.embed_audio.%", ""},
    {"model.vision_embedder.%", ""},
};

// Inputs of layers.
inline constexpr Rule kPerLayerRules[] = {
    {"model.embed_tokens_per_layer.weight", "per_layer_token_embd.weight"},
    {"model.per_layer_model_projection.weight", "per_layer_model_proj.weight"},
    {"model.per_layer_projection_norm.weight", "per_layer_proj_norm.weight"},
    {"model.layers.*.per_layer_input_gate.weight", "blk.*.inp_gate.weight"},
    {"model.layers.*.per_layer_projection.weight", "blk.*.proj.weight"},
    {"model.layers.*.post_per_layer_input_norm.weight",
     "blk.*.post_norm.weight"},
};

}  // namespace rc::folder
