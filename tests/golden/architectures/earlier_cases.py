"""Models that came before most others here: of 2021 to 2024, and MiniCPM 3, whose class is of a newer transformers."""

import math

import numpy as np
import transformers as hf

import layouts
from attention_cases import latent
from more_cases import epsilon, rms, small


def dbrx(w, c):
    w.add_layer_norm_eps(1e-5)
    w.add_clamp_kqv(c.attn_config.clip_qkv)
    w.add_rope_freq_base(c.attn_config.rope_theta)
    w.add_expert_count(c.ffn_config.moe_num_experts)
    w.add_expert_used_count(c.ffn_config.moe_top_k)


def dbrx_layout(tensors, config):
    """Matrices of experts, of which the last ones multiply from the other side, are one tensor of two dimensions."""
    out = {}
    for key, a in tensors.items():
        if ".experts.mlp." in key:
            a = a.reshape(config.ffn_config.moe_num_experts, -1, a.shape[1])
            out[key + ".weight"] = np.ascontiguousarray(a.swapaxes(1, 2) if key.endswith("w2") else a)
        else:
            out[key] = a
    return out


def dbrx_settings(**attention):
    return dict(attn_config=dict(kv_n_heads=2, rope_theta=500.0, clip_qkv=0.75) | attention,
                ffn_config=dict(ffn_hidden_size=24, moe_num_experts=5, moe_top_k=2, moe_loss_weight=0.05, moe_normalize_expert_weights=1))


def falcon_alibi(w, c):
    epsilon(w, c)
    w.add_parallel_residual(False)
    w.add_max_alibi_bias(8.0)


def falcon_layout(tensors, config):
    names = {"input_layernorm": "ln_attn", "post_attention_layernorm": "ln_mlp"}
    out = {}
    for key, a in layouts.neox(tensors, config).items():
        for old, new in names.items():
            key = key.replace(old, new)
        out[key] = a
    return out


def gptj(w, c):
    epsilon(w, c)
    w.add_rope_dimension_count(c.rotary_dim)


def minicpm3(w, c):
    rms(w, c)
    latent(w, c)
    w.add_key_length(c.qk_nope_head_dim + c.qk_rope_head_dim)
    w.add_value_length(c.v_head_dim)
    w.add_embedding_scale(c.scale_emb)
    w.add_residual_scale(c.scale_depth / math.sqrt(c.num_hidden_layers))
    w.add_logit_scale(c.hidden_size / c.dim_model_base)
    rope = c.rope_parameters
    w.add_rope_freq_base(rope["rope_theta"])
    original = rope["original_max_position_embeddings"]
    w.add_rope_scaling_orig_ctx_len(original)
    w.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(c.max_position_embeddings / original) / math.log(original)))


def rope(**changes):
    return dict(rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=16,
                                     short_factor=[1.0, 1.1, 1.25, 1.5], long_factor=[1.5, 3.0, 5.0, 8.0]) | changes)


EARLIER_CASES = {
    "dbrx": lambda: small(
        "dbrx", "Dbrx", "Layer norms without biases, q, k and v in one tensor and limited to -0.75 to 0.75, half-split rope; 5 experts, 2 used, "
        "whose weights are divided by their sum. The second norm is called attn_output_norm.",
        {"limit": dbrx_settings(clip_qkv=100.0), "limit 0.8": dbrx_settings(clip_qkv=0.8), "rope base 100": dbrx_settings(rope_theta=100.0)},
        dbrx, dbrx_layout, kv=2, used=2, feed_forward=24, tie_word_embeddings=False, **dbrx_settings()) | dict(seed=73000),
    "falcon-alibi": lambda: small(
        "falcon", "Falcon", "The first models: slopes by distance, which are divided by the square root of the head's size as the products are; "
        "attention before feed-forward, with biases and a norm each; q, k and v by heads in the model, apart in the file. The norm before "
        "attention is called attn_norm_2.",
        {"parallel": dict(parallel_attn=True), **{f"bias of {n}": dict(zeroed=f"{n}.bias") for n in (
            "query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h")}},
        falcon_alibi, falcon_layout, kv=4, ffn_hidden_size=128, intermediate_size=128, multi_query=False, new_decoder_architecture=False,
        parallel_attn=False, bias=True, alibi=True)
    | dict(seed=73100, attention="sdpa"),  # eager attention of this release adds the slopes twice
    "gptj": lambda: small(
        "gptj", "GPTJ", "Attention and feed-forward read one layer norm; the first half of each head rotates, adjacent pairs; GELU (tanh) without "
        "a gate; biases of the feed-forward part and of the output matrix.",
        {"rotary part": dict(rotary_dim=8), "tanh": dict(activation_function="relu"), "bias of logits": dict(zeroed="lm_head.bias"),
         "bias of fc_in": dict(zeroed="fc_in.bias")},
        gptj, kv=False, n_inner=48, rotary_dim=4, tie_word_embeddings=False, activation_function="gelu_new") | dict(seed=73200),
}

# Of ../requirements-5.txt.
EARLIER_CASES_5 = {
    "minicpm3": lambda: small(
        "minicpm3", "MiniCPM3", "The latent attention of deepseek2 with half-split rope and frequencies for long contexts; one matrix for keys and "
        "values, by heads. The norms of short vectors add 1e-6, not the epsilon of the others. Embeddings times 6; what layers add, times 1.2 / "
        "sqrt(2); logits divided by 32 / 16.",
        {"scale of embeddings": dict(scale_emb=5), "depth": dict(scale_depth=1.1), "width of logits": dict(dim_model_base=17),
         "factors": rope(long_factor=[1.0] * 4), "scale of rope": rope(attention_factor=1.0), "epsilon 0.01": dict(rms_norm_eps=0.01)},
        minicpm3, num_key_value_heads=4, rms_norm_eps=0.02, q_lora_rank=20, kv_lora_rank=16, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10,
        scale_emb=6, scale_depth=1.2, dim_model_base=16, pad_token_id=0, **rope())
    | dict(seed=73300, made=lambda c: {f"rope_factors_{which}.weight": c.rope_parameters[f"{which}_factor"] for which in ("short", "long")}),
}
