"""Models of transformers 5.24 (../requirements-5.txt) that are known architectures under other names, and two that are new."""

import gguf
import numpy as np
import transformers as hf

import layouts
from attention_cases import latent
from further_cases import heads, llama, rope, windows
from more_cases import rms, small
from sparse_cases import experts
from state_layouts import experts as apart


class GptSw3Config(hf.GPT2Config):
    """transformers knows GPT-2 under this name, too."""
    model_type = "gpt-sw3"


def gpt_sw3(w, c):
    w.add_layer_norm_eps(c.layer_norm_epsilon)
    w.add_string("gpt2.hidden_activation", c.activation_function)


def youtu(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    latent(w, c)
    w.add_key_length(c.kv_lora_rank + c.qk_rope_head_dim)
    w.add_value_length(c.kv_lora_rank)
    w.add_key_length_mla(c.qk_nope_head_dim + c.qk_rope_head_dim)
    w.add_value_length_mla(c.v_head_dim)
    w.add_leading_dense_block_count(c.num_hidden_layers)
    w.add_expert_feed_forward_length(c.intermediate_size)
    w.add_expert_shared_count(0)


def mellum(w, c):
    rms(w, c)
    heads(w, c)
    windows(w, c)
    full = c.rope_parameters["full_attention"]
    w.add_rope_freq_base(full["rope_theta"])
    w.add_rope_freq_base_swa(c.rope_parameters["sliding_attention"]["rope_theta"])
    w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    w.add_rope_scaling_factor(full["factor"])
    w.add_rope_scaling_orig_ctx_len(full["original_max_position_embeddings"])
    experts(w, c, c.num_experts, score=False)


def sarvam_moe(w, c):
    rms(w, c)
    heads(w, c)
    w.add_vocab_size(c.vocab_size)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_rope_dimension_count(c.head_dim)
    experts(w, c, c.n_routed_experts, c.routed_scaling_factor, c.norm_topk_prob)
    w.add_expert_group_count(c.n_group)
    w.add_expert_group_used_count(c.topk_group)
    w.add_expert_shared_count(c.n_shared_experts)
    w.add_expert_shared_feed_forward_length(c.moe_intermediate_size * c.n_shared_experts)
    w.add_leading_dense_block_count(c.first_k_dense_replace)


def sarvam_layout(tensors, config):
    """Queries, keys and values in one tensor, as published; the mean of the bias that experts are chosen with is taken from it."""
    out = {}
    for key, a in apart(tensors).items():
        if key.endswith("e_score_correction_bias"):
            out[key.replace("e_score_correction_bias", "expert_bias.bias")] = (a - a.mean()).astype(np.float32)
        elif ".self_attn.q_proj." in key:
            out[f"blk.{key.split('.')[2]}.attn_qkv.weight"] = np.concatenate([tensors[key.replace("q_proj", f"{which}_proj")] for which in "qkv"])
        elif ".k_proj." not in key and ".v_proj." not in key:
            out[key] = a
    return out


def mellum_rope(full=10000.0, windowed=500.0, **scaling):
    return dict(rope_parameters={"full_attention": dict(dict(rope_type="yarn", rope_theta=full, factor=4.0, original_max_position_embeddings=32) | scaling),
                                 "sliding_attention": dict(rope_type="default", rope_theta=windowed)})


LATEST_CASES = {
    "iquestcoder": lambda: small(
        "llama", "Llama", "llama with heads that are not as wide together as a row; the folder has another name.",
        {"rope base 500": rope(500.0), "epsilon 0.1": dict(rms_norm_eps=0.1)},
        llama, layouts.permuted, make=hf.IQuestCoderConfig, head_dim=12, tie_word_embeddings=False, **rope(10000.0)) | dict(seed=76000),
    "gpt-sw3": lambda: small(
        "gpt2", "GPT2", "gpt2 with the other GELU, which a key says; the folder has another name.",
        {"erf": dict(activation_function="gelu_new"), "positions": dict(zeroed="wpe.weight"), "bias of c_attn": dict(zeroed="c_attn.bias")},
        gpt_sw3, layouts.transposed, kv=False, make=GptSw3Config, n_inner=48, activation_function="gelu", max_position_embeddings=64) | dict(seed=76100),
    "youtu": lambda: small(
        "deepseek2", "Youtu", "The latent attention of deepseek2, and dense layers alone: no key says how many experts there are.",
        {"rope base 500": rope(500.0), "norm of queries": dict(filled=("q_a_layernorm.weight", 1.0)),
         "norm of keys and values": dict(filled=("kv_a_layernorm.weight", 1.0))},
        youtu, layouts.latent, kv=1, rms_norm_eps=1e-6, q_lora_rank=20, kv_lora_rank=16, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10,
        num_key_value_heads=4, pad_token_id=0, **rope(10000.0)) | dict(seed=76200),
    "mellum": lambda: small(
        "mellum", "Mellum", "Mellum 2: qwen3moe with windows in three of four layers, which an array names, have a rotary base of their own and are not scaled; "
        "yarn in the others.",
        {"yarn": dict(rope_parameters={kind: dict(rope_type="default", rope_theta=base) for kind, base in (("full_attention", 10000.0), ("sliding_attention", 500.0))}),
         "window": dict(sliding_window=30), "base of windows": mellum_rope(windowed=10000.0), "division by the sum": dict(norm_topk_prob=False),
         "norm of q": dict(filled=("q_norm.weight", 1.0)), "top 3": dict(num_experts_per_tok=3)},
        mellum, lambda tensors, config: apart(tensors), num_hidden_layers=4, head_dim=12, sliding_window=9, layer_types=["sliding_attention"] * 3 + ["full_attention"], num_experts=6,
        num_experts_per_tok=2, moe_intermediate_size=12, norm_topk_prob=True, tie_word_embeddings=False, experts_implementation="eager",
        **mellum_rope()) | dict(seed=76300),
    "sarvam-moe": lambda: small(
        "bailingmoe2", "Glm4Moe", "Queries, keys and values in one tensor, norms of each head of q and k before they rotate, whole heads that do; a dense layer, "
        "then 6 experts in 3 groups, of which 2 are chosen: sigmoid and bias, divided by their sum, times 2.5, beside a shared one.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "division by the sum": dict(norm_topk_prob=False),
         "norm of q": dict(filled=("q_norm.weight", 1.0)), "rope base 500": rope(500.0, partial_rotary_factor=1.0), "groups": dict(n_group=1, topk_group=1),
         "shared expert": dict(zeroed="shared_experts.down_proj.weight")},
        sarvam_moe, sarvam_layout, margin=0.002, make=hf.SarvamMoEConfig, num_hidden_layers=3, head_dim=8, n_routed_experts=6, n_shared_experts=1,
        num_experts_per_tok=2, moe_intermediate_size=12, n_group=3, topk_group=2, first_k_dense_replace=1, routed_scaling_factor=2.5, norm_topk_prob=True,
        tie_word_embeddings=False, pad_token_id=0, experts_implementation="eager", **rope(10000.0, partial_rotary_factor=1.0)) | dict(seed=76400),
}
