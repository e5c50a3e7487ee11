"""Models that transformers 4 has not: ../requirements-5.txt."""

import gguf
import transformers as hf

import layouts
from encoder_cases import encoder, pooled
from more_cases import small


def nomic_bert(w, c):
    w.add_layer_norm_eps(c.layer_norm_eps)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    pooled(w, gguf.PoolingType.MEAN)


def mistral3(w, c):
    rope = c.rope_parameters
    w.add_layer_norm_rms_eps(c.rms_norm_eps)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_rope_dimension_count(c.head_dim)
    w.add_rope_freq_base(rope["rope_theta"])
    w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    w.add_rope_scaling_factor(rope["factor"])
    w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    w.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
    w.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])
    w.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
    w.add_attn_temperature_scale(rope["llama_4_scaling_beta"])


def minimax_m2(w, c):
    w.add_layer_norm_rms_eps(c.rms_norm_eps)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_rope_dimension_count(c.rotary_dim)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_expert_count(c.num_local_experts)
    w.add_expert_used_count(c.num_experts_per_tok)
    w.add_expert_feed_forward_length(c.intermediate_size)
    w.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)


def eurobert(w, c):
    w.add_layer_norm_rms_eps(c.rms_norm_eps)
    w.add_head_count_kv(c.num_key_value_heads)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    pooled(w, gguf.PoolingType.MEAN)


def rope(**changes):
    return dict(rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=16, beta_fast=32.0,
                                     beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.75) | changes)


NEWER_CASES = {
    "nomic-bert": lambda: encoder(
        "nomic-bert", lambda config: hf.NomicBertModel(config), hf.NomicBertConfig,
        "bert without learned positions: q and k rotate in halves; q, k and v in one tensor; SiLU with a gate; no biases but those of norms.",
        {"token types": dict(zeroed="token_type_embeddings.weight"), "rope base 500": dict(rope_parameters=dict(rope_type="default", rope_theta=500.0)),
         "bias of norms": dict(zeroed="post_mlp_layernorm.bias"), "epsilon 0.1": dict(layer_norm_eps=0.1)},
        nomic_bert, layouts.nomic, seed=72000, rope_parameters=dict(rope_type="default", rope_theta=1000.0)),
    "eurobert": lambda: encoder(
        "eurobert", hf.EuroBertModel, hf.EuroBertConfig, "llama with half-split rope as an encoder; the last norm is part of the model.",
        {"rope base 500": dict(rope_parameters=dict(rope_type="default", rope_theta=500.0)), "epsilon 0.1": dict(rms_norm_eps=0.1)},
        eurobert, seed=72300, num_key_value_heads=2, pad_token_id=0, rope_parameters=dict(rope_type="default", rope_theta=250000.0)),
    "mistral3": lambda: small(
        "mistral3", "Ministral3", "llama with queries that are multiplied by 1 + 0.75 ln(1 + floor(position / 16)), 16 being the original "
        "context; yarn whose scale is divided away: yarn_log_multiplier is 1.",
        {"scale of positions": rope(llama_4_scaling_beta=0.0), "scale of yarn": rope(mscale_all_dim=0.0), "yarn": rope(factor=1.5)},
        mistral3, layouts.permuted, head_dim=12, max_position_embeddings=64, pad_token_id=0, sliding_window=None, **rope()) | dict(seed=72100),
    "minimax-m2": lambda: small(
        "minimax-m2", "MiniMaxM2", "RMS norm over all heads of q together, and of k, before rope, which half of each head has; experts chosen by "
        "sigmoid and a bias, whose sigmoids are divided by their sum.",
        {"bias of experts": dict(unselected=True), "rotary part": dict(rotary_dim=8), "norm of q": dict(filled=("q_norm.weight", 1.0))},
        minimax_m2, layouts.minimax, head_dim=8, rotary_dim=4, num_local_experts=6, num_experts_per_tok=2, rope_theta=10000.0)
    | dict(seed=72200),
}
