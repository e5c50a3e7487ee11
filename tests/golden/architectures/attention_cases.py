"""More models, whose attention is of another kind: slopes by distance, latent keys and values."""

import gguf
import transformers as hf

import layouts
from more_cases import dots1, epsilon, moe, small


def mpt(w, c):
    epsilon(w, c)
    w.add_max_alibi_bias(c.attn_config.alibi_bias_max)
    if c.attn_config.clip_qkv:
        w.add_clamp_kqv(c.attn_config.clip_qkv)


def deepseek2(w, c):
    dots1(w, c)
    w.add_expert_group_count(c.n_group)
    w.add_expert_group_used_count(c.topk_group)
    latent(w, c)
    w.add_key_length(c.kv_lora_rank + c.qk_rope_head_dim)
    w.add_value_length(c.kv_lora_rank)
    w.add_key_length_mla(c.qk_nope_head_dim + c.qk_rope_head_dim)
    w.add_value_length_mla(c.v_head_dim)
    if c.rope_scaling:
        w.add_rope_scaling_type(gguf.RopeScalingType("yarn"))
        w.add_rope_scaling_factor(c.rope_scaling["factor"])
        w.add_rope_scaling_orig_ctx_len(c.rope_scaling["original_max_position_embeddings"])
        w.add_rope_scaling_yarn_log_mul(0.1 * c.rope_scaling["mscale_all_dim"])


def latent(w, c):
    w.add_vocab_size(c.vocab_size)
    if c.q_lora_rank:
        w.add_q_lora_rank(c.q_lora_rank)
    w.add_kv_lora_rank(c.kv_lora_rank)
    w.add_rope_dimension_count(c.qk_rope_head_dim)


def deepseek_v2(w, c):
    deepseek2(w, c)
    w.kv_data[0][f"{w.arch}.expert_gating_func"].value = gguf.ExpertGatingFuncType.SOFTMAX.value


def deepseek_old(w, c):
    """As before April 2025."""
    moe(w, c, c.n_routed_experts, c.num_experts_per_tok, c.moe_intermediate_size)
    w.add_expert_shared_count(c.n_shared_experts)
    w.add_leading_dense_block_count(c.first_k_dense_replace)
    w.add_expert_weights_scale(c.routed_scaling_factor)
    latent(w, c)
    w.add_key_length(c.qk_nope_head_dim + c.qk_rope_head_dim)
    w.add_value_length(c.v_head_dim)


def llama4(w, c):
    moe(w, c, c.num_local_experts, c.num_experts_per_tok, c.intermediate_size)
    w.add_interleave_moe_layer_step(c.interleave_moe_layer_step)
    w.add_vocab_size(c.vocab_size)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_rope_dimension_count(c.head_dim)
    w.add_sliding_window(c.attention_chunk_size)
    w.add_attn_temperature_length(c.floor_scale)
    w.add_attn_temperature_scale(c.attn_scale)


LATENT = dict(rms_norm_eps=1e-6, kv_lora_rank=16, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, num_key_value_heads=4, moe_intermediate_size=12,
              first_k_dense_replace=1, pad_token_id=0, tie_word_embeddings=False)

ATTENTION_CASES = {
    "mpt": lambda: small(
        "mpt", "Mpt", "Slopes of 6 heads: those of 4, then two of those of 8; the bias of head h is slope * (j - i). Layer norms without biases, "
        "q, k and v in one tensor, GELU with erf. Here q, k and v are limited to -1.5 to 1.5.",
        {"limit": dict(attn_config=dict(alibi_bias_max=8)), "limit 2": dict(attn_config=dict(alibi_bias_max=8, clip_qkv=2.0))},
        mpt, kv=False, hidden_size=48, num_attention_heads=6, intermediate_size=192, attn_config=dict(alibi_bias_max=8, clip_qkv=1.5)),
    "bloom": lambda: small(
        "bloom", "Bloom", "Slopes of 4 heads; layer norms and biases everywhere, a layer norm of the embeddings, q, k and v in one tensor, in the "
        "model by heads and in the file apart; GELU (tanh).",
        {f"bias of {n}": dict(zeroed=f"{n}.bias") for n in ("query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h", "embeddings_layernorm")},
        epsilon, layouts.bloom, kv=4, intermediate_size=128),
    "llama4": lambda: small(
        "llama4", "Llama4", "Three of four layers rotate adjacent pairs, norm each head of q and k after that, without weights, and see chunks of 16 "
        "positions; no key says so: the architecture implies it, and chunks of 8192 unless attention.sliding_window is there. The fourth multiplies "
        "q by 1 + temperature_scale * ln(1 + floor((position + 1) / temperature_length)). Every second layer has 4 experts; the input of the one "
        "that is used is multiplied by the sigmoid of its score; a shared expert beside it. gate and up of experts are one tensor in the model, "
        "turned, and two in the file.",
        {"chunk 15": dict(attention_chunk_size=15), "temperature": dict(attn_scale=0.1), "norms": dict(use_qk_norm=False),
         "shared expert": dict(zeroed="shared_expert.down_proj.weight"), "rope base 500": dict(rope_theta=500.0)},
        llama4, layouts.llama4, num_hidden_layers=4, head_dim=8, intermediate_size=16, intermediate_size_mlp=48, num_local_experts=4,
        num_experts_per_tok=1, interleave_moe_layer_step=2, attention_chunk_size=16, floor_scale=8, attn_scale=0.5, use_qk_norm=True,
        attn_temperature_tuning=True, no_rope_layer_interval=4, pad_token_id=0, attention_bias=False, make=hf.Llama4TextConfig,
        feed_forward=48),
    "deepseek2": lambda: small(
        "deepseek2", "DeepseekV3", "Keys and values from 16 numbers for each position, and 8 that rotate, adjacent pairs, for all heads; queries "
        "from 20 numbers. 8 experts in 4 groups: 2 of the 2 groups whose best two have the largest sum of sigmoid and bias. yarn: cosines and "
        "sines are not scaled, scores are multiplied by (1 + yarn_log_multiplier * ln(factor))^2. attn_kv_b is split into attn_k_b, turned, and "
        "attn_v_b.",
        {"groups": dict(topk_group=4), "selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0),
         "scale of attention": dict(rope_scaling=dict(rope_type="yarn", factor=4.0, mscale=0.5, mscale_all_dim=0.5,
                                                      original_max_position_embeddings=512)),
         "scaling": dict(rope_scaling=None)},
        deepseek2, layouts.latent, kv=1, margin=0.001, num_hidden_layers=3, q_lora_rank=20, n_routed_experts=8, n_group=4, topk_group=2,
        num_experts_per_tok=2, n_shared_experts=1, norm_topk_prob=True, routed_scaling_factor=2.5, rope_interleave=True,
        rope_scaling=dict(rope_type="yarn", factor=4.0, mscale=1.0, mscale_all_dim=1.0, original_max_position_embeddings=512), **LATENT),
    "deepseek2-groups": lambda: small(
        "deepseek2", "DeepseekV2", "As deepseek2 with softmax for scores, no bias and shares that are not divided by their sum; groups are chosen "
        "by their best expert. No yarn: for this model transformers leaves the scale of attention as it is.",
        {"groups": dict(topk_group=4), "scale": dict(routed_scaling_factor=1.0), "shared expert": dict(zeroed="shared_experts.down_proj.weight")},
        deepseek_v2, layouts.latent, kv=1, margin=0.001, q_lora_rank=20, n_routed_experts=12, n_group=4, topk_group=2,
        topk_method="group_limited_greedy", num_experts_per_tok=3, n_shared_experts=2, routed_scaling_factor=4.0, norm_topk_prob=False, **LATENT),
    "deepseek2-old": lambda: small(
        "deepseek2", "DeepseekV2", "A file as written before April 2025: attn_kv_b is whole, key_length and value_length are those of a head; queries "
        "from the residual, experts chosen from all.",
        {"rope base 500": dict(rope_theta=500.0), "top 3": dict(num_experts_per_tok=3)},
        deepseek_old, layouts.selecting, margin=0.001, q_lora_rank=None, n_routed_experts=6, n_group=1, topk_group=1, topk_method="greedy",
        num_experts_per_tok=2, n_shared_experts=1, routed_scaling_factor=1.0, norm_topk_prob=False, **LATENT),
}
