"""Decoders with experts that came after those of sparse_cases.py, of transformers 5.24: ../requirements-5.txt."""

import math

import gguf
import numpy as np

from further_cases import heads, windows
from more_cases import rms, small
from sparse_cases import LATENT, base, deepseek_mla, experts, selecting, selecting_latent, yarn


def cohere2_moe(w, c):
    """A file has both epsilons if the folder has; that of root mean squares counts."""
    if c.rms_norm_eps is not None:
        rms(w, c)
    w.add_layer_norm_eps(c.layer_norm_eps)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    heads(w, c)
    w.add_rope_dimension_count(c.head_dim)
    w.add_rope_scaling_type(gguf.RopeScalingType.NONE)
    w.add_logit_scale(c.logit_scale)
    windows(w, c)
    w.add_vocab_size(c.vocab_size)
    w.add_expert_count(c.num_experts)
    w.add_expert_used_count(c.num_experts_per_tok)
    w.add_expert_feed_forward_length(c.intermediate_size)
    w.add_leading_dense_block_count(c.mlp_layer_types.count("dense"))
    w.add_expert_weights_norm(c.norm_topk_prob)
    w.add_expert_gating_func(gguf.ExpertGatingFuncType[c.expert_selection_fn.upper()])
    if c.num_shared_experts:
        w.add_expert_shared_count(c.num_shared_experts)
        w.add_expert_shared_feed_forward_length(c.intermediate_size * c.num_shared_experts)


def sarvam_mla(w, c):
    deepseek_mla(w, c, True, c.first_k_dense_replace)
    rope = c.rope_parameters
    w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    w.add_rope_scaling_factor(rope["factor"])
    w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    w.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])


# Lengths of short vectors whose factors are exact.
SLIDING = dict(num_attention_heads=6, num_key_value_heads=6, q_lora_rank=8, kv_lora_rank=32, head_dim=14, qk_nope_head_dim=6, v_head_dim=8,
               qk_rope_head_dim=8)


def windowed(layer_types):
    return {i: dict(SLIDING) for i, kind in enumerate(layer_types) if kind == "sliding_attention"}


def dots3_heads(c):
    return [c.per_layer_config[i].num_attention_heads for i in range(c.num_hidden_layers)]


def dots3_note(w, c):
    rms(w, c)
    w.add_vocab_size(c.vocab_size)
    w.add_rope_freq_base(c.rope_parameters["indexed_attention"]["rope_theta"])
    w.add_rope_freq_base_swa(c.rope_parameters["sliding_attention"]["rope_theta"])
    full = c.per_layer_config["indexed_attention"]
    w.add_q_lora_rank(full.q_lora_rank)
    w.add_kv_lora_rank(full.kv_lora_rank)
    w.add_rope_dimension_count(full.qk_rope_head_dim)
    w.add_key_length(full.kv_lora_rank + full.qk_rope_head_dim)
    w.add_value_length(full.kv_lora_rank)
    w.add_key_length_mla(full.qk_nope_head_dim + full.qk_rope_head_dim)
    w.add_value_length_mla(full.v_head_dim)
    experts(w, c, c.n_routed_experts, c.routed_scaling_factor, True)
    w.add_expert_shared_count(c.n_shared_experts)
    w.add_expert_group_count(c.n_group)
    w.add_expert_group_used_count(c.topk_group)
    w.add_leading_dense_block_count(c.mlp_layer_types.count("dense"))
    windows(w, c)
    one = SLIDING
    w.add_kv_lora_rank_swa(one["kv_lora_rank"])
    w.add_key_length_swa(one["kv_lora_rank"] + one["qk_rope_head_dim"])
    w.add_value_length_swa(one["kv_lora_rank"])
    w.add_key_length_mla_swa(one["qk_nope_head_dim"] + one["qk_rope_head_dim"])
    w.add_value_length_mla_swa(one["v_head_dim"])
    w.add_indexer_head_count(c.index_n_heads)
    w.add_indexer_key_length(c.index_head_dim)
    w.add_indexer_top_k(c.index_topk)
    w.add_indexer_types([kind != "sliding_attention" for kind in c.layer_types])


def dots3_layout(tensors, config):
    """The factors of short vectors are in their norms; what makes keys and values becomes two tensors, of the sizes of its layer."""
    out = {}
    for key, a in selecting(tensors, config).items():
        one = config.per_layer_config[int(key.split(".")[2])] if ".layers." in key else config
        if key.endswith(("q_a_layernorm.weight", "kv_a_layernorm.weight")):
            a = a * math.sqrt(config.hidden_size / len(a))
        if "kv_b_proj" not in key:
            out[key.replace("k_rope_only_layernorm", "k_layernorm")] = a
            continue
        of_heads = a.reshape(one.num_attention_heads, one.qk_nope_head_dim + one.v_head_dim, one.kv_lora_rank)
        out[key.replace("kv_b_proj", "k_b_proj")] = np.ascontiguousarray(of_heads[:, :one.qk_nope_head_dim].swapaxes(1, 2))
        out[key.replace("kv_b_proj", "v_b_proj")] = np.ascontiguousarray(of_heads[:, one.qk_nope_head_dim:])
    return out


def laguna_heads(c):
    return list(c.num_attention_heads_per_layer)


def laguna(w, c):
    """No key names the layers with a window: the first of each four has none."""
    rms(w, c)
    heads(w, c)
    w.add_vocab_size(c.vocab_size)
    full, sliding = (c.rope_parameters[f"{kind}_attention"] for kind in ("full", "sliding"))
    w.add_rope_freq_base(full["rope_theta"])
    w.add_rope_freq_base_swa(sliding["rope_theta"])
    w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    w.add_rope_scaling_factor(full["factor"])
    w.add_rope_scaling_orig_ctx_len(full["original_max_position_embeddings"])
    w.add_rope_scaling_yarn_attn_factor(full["attention_factor"])
    w.add_rope_scaling_yarn_beta_fast(full["beta_fast"])
    w.add_rope_scaling_yarn_beta_slow(full["beta_slow"])
    if "sliding_attention" in c.layer_types:
        w.add_sliding_window(c.sliding_window)
    w.add_expert_shared_feed_forward_length(c.shared_expert_intermediate_size)
    experts(w, c, c.num_experts, c.moe_routed_scaling_factor, True)
    w.add_leading_dense_block_count(c.mlp_layer_types.count("dense"))
    w.add_rope_dimension_count(int(c.head_dim * full["partial_rotary_factor"]))
    w.add_rope_dimension_count_swa(int(c.head_dim * sliding["partial_rotary_factor"]))


def laguna_rope(full=10000.0, windowed=500.0, part=0.5, factor=4.0):
    return dict(rope_parameters={
        "full_attention": dict(rope_type="yarn", rope_theta=full, partial_rotary_factor=part, factor=factor, original_max_position_embeddings=64,
                               attention_factor=1.25, beta_fast=32.0, beta_slow=1.0),
        "sliding_attention": dict(rope_type="default", rope_theta=windowed, partial_rotary_factor=1.0)})


LAGUNA = dict(num_hidden_layers=4, head_dim=8, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=12, shared_expert_intermediate_size=20, sliding_window=10,
              mlp_layer_types=["dense"] + ["sparse"] * 3, moe_routed_scaling_factor=1.5, pad_token_id=0, tie_word_embeddings=False,
              experts_implementation="eager")


def dots3_rope(full=10000.0, windowed=500.0):
    return dict(rope_parameters={"indexed_attention": dict(rope_type="default", rope_theta=full), "sliding_attention": dict(rope_type="default", rope_theta=windowed)})


PREFIXED = ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]
COHERE = dict(num_hidden_layers=4, head_dim=8, num_experts=6, num_experts_per_tok=2, intermediate_size=12, sliding_window=10, logit_scale=0.25,
              pad_token_id=0, prefix_dense_intermediate_size=40, experts_implementation="eager")

MIXTURE_CASES = {
    "cohere2moe": lambda: small(
        "cohere2moe", "Cohere2Moe", "cohere2 with experts: of layers that see all only the dense ones before those with experts rotate. 6 experts, 2 used: sigmoid, "
        "divided by their sum; the sum and that of two shared ones together are halved.",
        {"window 11": dict(sliding_window=11), "rope base 500": base(500.0), "scores": dict(expert_selection_fn="softmax"),
         "halves": dict(shared_expert_combination_strategy="sum"), "rotation of dense layers": dict(prefix_dense_sliding_window_pattern=2),
         "division by the sum": dict(norm_topk_prob=False), "scale of logits": dict(logit_scale=0.5), "root mean squares": dict(rms_norm_eps=1e-5)},
        cohere2_moe, selecting, feed_forward=40, layer_types=PREFIXED, mlp_layer_types=["dense"] + ["sparse"] * 3, num_shared_experts=2,
        expert_selection_fn="sigmoid", norm_topk_prob=True, rms_norm_eps=None, **base(), **COHERE) | dict(seed=76000),
    "cohere2moe-squares": lambda: small(
        "cohere2moe", "Cohere2Moe", "cohere2moe with norms of the root mean square, which the key of their epsilon shows, scores of a softmax, and no shared experts; no layer is "
        "dense.",
        {"scores": dict(expert_selection_fn="sigmoid"), "layer norms": dict(rms_norm_eps=None), "top 3": dict(num_experts_per_tok=3),
         "epsilon": dict(rms_norm_eps=0.02)},
        cohere2_moe, selecting, feed_forward=40, layer_types=["sliding_attention"] * 3 + ["full_attention"], mlp_layer_types=["sparse"] * 4, num_shared_experts=0,
        expert_selection_fn="softmax", norm_topk_prob=True, tie_word_embeddings=False, **base(), **COHERE) | dict(seed=76100),
    "sarvam-mla": lambda: small(
        "deepseek2", "DeepseekV3", "deepseek2 without a short vector of queries: experts chosen by sigmoid and a bias among all, and yarn that changes the scale of attention.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "scale of attention": yarn(mscale=0.5, mscale_all_dim=0.5),
         "division by the sum": dict(norm_topk_prob=False)},
        sarvam_mla, selecting_latent, kv=1, margin=0.002, config="SarvamMLAConfig", num_hidden_layers=2, q_lora_rank=None, n_routed_experts=6, n_group=1, topk_group=1,
        routed_scaling_factor=1.5, norm_topk_prob=True, first_k_dense_replace=1, **yarn(), **LATENT) | dict(seed=76200),
    "dots3note": lambda: small(
        "dots3note", "Dots3Note", "Latent attention whose layers with a window have other sizes of heads and of the short vector, another number of heads and another base; "
        "the rotated part of keys is normed, each head has a gate, short vectors are multiplied by the root of the width divided by their length, which the norms "
        "in the file do; all norms have one epsilon. Layers that see all have an indexer that chooses 64 positions, which here are all. A dense layer, then 6 experts, "
        "2 used: sigmoid and bias, divided by their sum, times 1.5; a shared one.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "window 11": dict(sliding_window=11),
         "base of windows": dots3_rope(windowed=10000.0), "gate of attention": dict(zeroed="self_attn.g_proj.weight"),
         "norm of keys": dict(filled=("k_rope_only_layernorm.weight", 1.0)), "epsilon": dict(rms_norm_eps=1e-6)},
        dots3_note, dots3_layout, kv=1, margin=0.002, config="Dots3NoteTextConfig", num_hidden_layers=3, q_lora_rank=8, head_dim=20, n_routed_experts=6,
        n_group=1, topk_group=1, routed_scaling_factor=1.5, norm_topk_prob=True, index_topk=64, index_head_dim=16, index_n_heads=2,
        shared_experts_intermediate_size=12, sliding_window=10, layer_types=["indexed_attention", "sliding_attention", "indexed_attention"],
        mlp_layer_types=["dense", "sparse", "sparse"], per_layer_config=windowed(["", "sliding_attention", ""]),
        **dots3_rope(), **(LATENT | dict(rms_norm_eps=0.01, kv_lora_rank=8))) | dict(seed=76300, heads=dots3_heads),
    "laguna": lambda: small(
        "laguna", "Laguna", "Layers with a window have 6 heads, all of each of which rotates with another base; in the others half of each of 4 heads, with yarn. Norms of each head of q "
        "and k. What attention gives is multiplied by the softplus of attn_gate, a number for each head. A dense layer, then 6 experts, 2 used: sigmoid and bias, divided by "
        "their sum, times 1.5; a shared one.",
        {"selection bias": dict(zeroed="e_score_correction_bias"), "scale": dict(moe_routed_scaling_factor=1.0), "gate of attention": dict(zeroed="self_attn.g_proj.weight"),
         "window 11": dict(sliding_window=11), "base of windows": laguna_rope(windowed=10000.0), "part": laguna_rope(part=1.0), "yarn": laguna_rope(factor=1.5),
         "norm of q": dict(filled=("q_norm.weight", 1.0))},
        laguna, selecting, margin=0.002, layer_types=["full_attention"] + ["sliding_attention"] * 3,
        num_attention_heads_per_layer=[4, 6, 6, 6], gating="per-head", **laguna_rope(), **LAGUNA) | dict(seed=76400, heads=laguna_heads),
    "laguna-elements": lambda: small(
        "laguna", "Laguna", "laguna without windows, with a gate for each element of a head.",
        {"gate of attention": dict(zeroed="self_attn.g_proj.weight"), "shared expert": dict(zeroed="shared_experts.down_proj.weight"), "yarn": laguna_rope(factor=1.5)},
        laguna, selecting, margin=0.002, layer_types=["full_attention"] * 4, gating="per-element", **laguna_rope(), **LAGUNA) | dict(
            seed=76500, heads=laguna_heads),
}
