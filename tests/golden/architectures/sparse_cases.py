"""Decoders with experts whose classes transformers 4 has not: ../requirements-5.txt."""

import types

import gguf
import numpy as np
import transformers as hf

import layouts
import state_layouts
from attention_cases import latent
from gguf_file import llama3_factors
from more_cases import rms, small


def selecting(tensors, config):
    """Gate and up of all experts become two tensors; the bias that they are chosen with, and sinks, have names that the map knows."""
    names = {"e_score_correction_bias": "e_score_correction.bias", ".expert_bias": ".expert_bias.bias", ".sinks": ".sinks.weight"}
    if config.model_type == "hy_v3":  # the converter names its bias without the end
        names = {"e_score_correction_bias": "expert_bias"}
    out = {}
    for key, a in state_layouts.experts(tensors).items():
        for old, new in names.items():
            key = key.replace(old, new)
        out[key] = a
    return out


def selecting_latent(tensors, config):
    return layouts.latent(state_layouts.experts(tensors), config)


def experts(w, c, count, scale=None, norm=None, score=True):
    w.add_expert_count(count)
    w.add_expert_used_count(c.num_experts_per_tok)
    w.add_expert_feed_forward_length(c.moe_intermediate_size)
    if score:
        w.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    if scale is not None:
        w.add_expert_weights_scale(scale)
    if norm is not None:
        w.add_expert_weights_norm(norm)


def deepseek_mla(w, c, score, first_dense):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    latent(w, c)
    w.add_key_length(c.kv_lora_rank + c.qk_rope_head_dim)
    w.add_value_length(c.kv_lora_rank)
    w.add_key_length_mla(c.qk_nope_head_dim + c.qk_rope_head_dim)
    w.add_value_length_mla(c.v_head_dim)
    experts(w, c, c.n_routed_experts, c.routed_scaling_factor, True, score)
    w.add_expert_shared_count(c.n_shared_experts)
    w.add_expert_group_count(c.n_group)
    w.add_expert_group_used_count(c.topk_group)
    w.add_leading_dense_block_count(first_dense)


def glm4_moe_lite(w, c):
    deepseek_mla(w, c, False, c.mlp_layer_types.count("dense"))


def normed_v2(config):
    """transformers passes over norm_topk_prob for this model; the model's own code and llama.cpp do not."""
    model = hf.DeepseekV2ForCausalLM(config)

    def forward(self, hidden_states):
        logits, shares, ids = self.chosen(hidden_states)
        return logits, shares / shares.sum(-1, keepdim=True) if config.norm_topk_prob else shares, ids

    for layer in model.model.layers[config.first_k_dense_replace:]:
        gate = layer.mlp.gate
        gate.chosen = gate.forward
        gate.forward = types.MethodType(forward, gate)
    return model


def deepseek2_normed(w, c):
    deepseek_mla(w, c, False, c.first_k_dense_replace)


def solar_open(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_rope_dimension_count(int(c.head_dim * c.rope_parameters["partial_rotary_factor"]))
    experts(w, c, c.n_routed_experts, c.routed_scaling_factor, c.norm_topk_prob)
    w.add_expert_shared_count(c.n_shared_experts)
    w.add_expert_group_count(c.n_group)
    w.add_expert_group_used_count(c.topk_group)


def afmoe(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    experts(w, c, c.num_experts, c.route_scale, True)
    w.add_expert_shared_count(c.num_shared_experts)
    w.add_leading_dense_block_count(c.num_dense_layers)
    w.add_sliding_window(c.sliding_window)


def hy_v3(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    experts(w, c, c.num_experts, c.router_scaling_factor, True)
    w.add_expert_shared_feed_forward_length(c.moe_intermediate_size * c.num_shared_experts)


def mimo2(w, c):
    rms(w, c)
    rope = c.rope_parameters
    w.add_rope_freq_base(rope["full_attention"]["rope_theta"])
    w.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
    w.add_rope_dimension_count(int(c.head_dim * rope["full_attention"]["partial_rotary_factor"]))
    w.add_key_length(c.head_dim)
    w.add_value_length(c.v_head_dim)
    w.add_sliding_window(c.sliding_window)
    w.add_sliding_window_pattern([kind == "sliding_attention" for kind in c.layer_types])
    w.add_attn_value_scale(c.attention_value_scale)
    experts(w, c, c.n_routed_experts)
    w.add_expert_group_count(c.n_group)
    w.add_expert_group_used_count(c.topk_group)


def indexed(w, c):
    deepseek_mla(w, c, True, c.first_k_dense_replace)
    w.add_indexer_head_count(c.index_n_heads)
    w.add_indexer_key_length(c.index_head_dim)
    w.add_indexer_top_k(c.index_topk)


def deepseek32(w, c):
    indexed(w, c)
    rope = c.rope_parameters
    w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    w.add_rope_scaling_factor(rope["factor"])
    w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    w.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])


def glm_dsa(w, c):
    indexed(w, c)
    w.add_indexer_types([kind == "full" for kind in c.indexer_types])


def step35(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["full_attention"]["rope_theta"])
    w.add_rope_freq_base_swa(c.rope_parameters["sliding_attention"]["rope_theta"])
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_sliding_window(c.sliding_window)
    w.add_sliding_window_pattern([kind == "sliding_attention" for kind in c.layer_types])
    experts(w, c, c.n_routed_experts, c.moe_router_scaling_factor, True, score=False)
    w.add_expert_shared_feed_forward_length(c.share_expert_dim)
    w.add_leading_dense_block_count(c.mlp_layer_types.count("dense"))
    w.add_moe_every_n_layers(1)
    w.add_swiglu_clamp_exp([limit or 0.0 for limit in c.swiglu_limits])
    w.add_swiglu_clamp_shexp([limit or 0.0 for limit in c.swiglu_limits_shared])


def step35_layout(tensors, config):
    """The text alone, as its release names it, with the 1 of norms added."""
    names = {"model.language_model.": "model.", ".mlp.gate.weight": ".moe.gate.weight", ".mlp.gate.e_score_correction_bias": ".moe.router_bias.bias",
             ".mlp.experts.gate_proj.": ".moe.gate_proj.", ".mlp.experts.up_proj.": ".moe.up_proj.", ".mlp.experts.down_proj.": ".moe.down_proj.",
             ".mlp.shared_experts.": ".share_expert."}
    out = {}
    for key, a in state_layouts.experts(tensors).items():
        if "vision" in key or "projector" in key:
            continue
        for old, new in names.items():
            key = key.replace(old, new)
        out[key] = a + 1.0 if key.endswith("norm.weight") else a
    return out


def step35_heads(config):
    return [config.per_layer_config[i].num_attention_heads for i in range(config.num_hidden_layers)]


def step35_factors(config):
    """Of half of the pairs, as the scaling of Llama 3.1 has them; those of layers with a window are 1."""
    rope, size = config.rope_parameters["full_attention"], int(config.head_dim * config.rope_parameters["full_attention"]["partial_rotary_factor"])
    plain = types.SimpleNamespace(rope_scaling=rope, head_dim=size, rope_theta=rope["rope_theta"])
    return {"rope_freqs.weight": [*llama3_factors(plain), *[1.0] * ((config.head_dim - size) // 2)]}


def step35_config(attn_implementation, **text):
    vision = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1, image_size=28, patch_size=14)
    return hf.Step3p7Config(text_config=text, vision_config=vision, attn_implementation=attn_implementation)


def minimax(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_rope_dimension_count(c.head_dim)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_expert_count(c.num_local_experts)
    w.add_expert_used_count(c.num_experts_per_tok)
    w.add_residual_scale(c.mlp_alpha_factor)
    w.add_array(gguf.Keys.Attention.RECURRENT_LAYERS.format(arch=w.arch), [kind == "linear_attention" for kind in c.layer_types])


def kimi_linear(w, c):
    rms(w, c)
    w.add_vocab_size(c.vocab_size)
    w.add_ssm_conv_kernel(c.linear_conv_kernel_dim)
    w.add_kda_head_dim(c.linear_head_dim)
    if c.q_lora_rank:
        w.add_q_lora_rank(c.q_lora_rank)
    w.add_kv_lora_rank(c.kv_lora_rank)
    w.add_rope_dimension_count(c.qk_rope_head_dim)
    w.add_key_length(c.kv_lora_rank + c.qk_rope_head_dim)
    w.add_key_length_mla(c.qk_nope_head_dim + c.qk_rope_head_dim)
    w.add_value_length_mla(c.v_head_dim)
    experts(w, c, c.num_local_experts, c.routed_scaling_factor)
    w.add_expert_shared_count(c.n_shared_experts)
    w.add_leading_dense_block_count(c.mlp_layer_types.count("dense"))


def kimi_layout(tensors, config):
    """One convolution becomes three, of four dimensions; decays are not logarithms."""
    out = {}
    for key, a in selecting_latent(tensors, config).items():
        key = key.replace(".forget_gate.", ".").replace(".dt_bias", ".dt_proj.bias")
        if key.endswith("A_log"):
            a = -np.exp(a)
        if key.endswith("conv1d.weight"):
            for which, part in zip("qkv", np.split(a, 3)):
                out[key.replace(".conv1d.", f".{which}_conv1d.")] = part.reshape(1, part.shape[0], 1, -1)
        else:
            out[key] = a
    return out


def alpha(factor, **changes):
    return dict.fromkeys(("full_attn_alpha_factor", "linear_attn_alpha_factor", "mlp_alpha_factor"), factor) | changes


def base(theta=10000.0, **more):
    return dict(rope_parameters=dict(rope_type="default", rope_theta=theta, **more))


def mimo_rope(full=10000.0, windowed=500.0, part=0.334):
    return dict(rope_parameters={"full_attention": dict(rope_type="default", rope_theta=full, partial_rotary_factor=part),
                                 "sliding_attention": dict(rope_type="default", rope_theta=windowed, partial_rotary_factor=part)})


def step_rope(full=10000.0, windowed=500.0, part=0.5, **scaling):
    return dict(rope_parameters={"full_attention": dict(rope_type="llama3", rope_theta=full, partial_rotary_factor=part, factor=4.0, low_freq_factor=1.0,
                                                        high_freq_factor=4.0, original_max_position_embeddings=32) | scaling,
                                 "sliding_attention": dict(rope_type="default", rope_theta=windowed, partial_rotary_factor=1.0)})


def yarn(**changes):
    return dict(rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, mscale=1.0, mscale_all_dim=1.0, beta_fast=32, beta_slow=1,
                                     original_max_position_embeddings=512) | changes)


LATENT = dict(rms_norm_eps=1e-6, kv_lora_rank=16, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, num_key_value_heads=4,
              moe_intermediate_size=12, num_experts_per_tok=2, n_shared_experts=1, pad_token_id=0, tie_word_embeddings=False,
              experts_implementation="eager")
SOME = dict(num_experts_per_tok=2, moe_intermediate_size=12, pad_token_id=0, experts_implementation="eager")

SPARSE_CASES = {
    "deepseek2-normed": lambda: small(
        "deepseek2", "DeepseekV2", "deepseek2-old of today's layout whose shares are divided by their sum, as expert_weights_norm says; no key says that "
        "scores are those of a softmax.",
        {"division by the sum": dict(norm_topk_prob=False), "top 3": dict(num_experts_per_tok=3)},
        deepseek2_normed, selecting_latent, kv=1, margin=0.001, q_lora_rank=20, n_routed_experts=6, n_group=1, topk_group=1, topk_method="greedy",
        routed_scaling_factor=1.0, norm_topk_prob=True, first_k_dense_replace=1, **base(), **LATENT) | dict(seed=74000, model=normed_v2),
    "glm4-moe-lite": lambda: small(
        "deepseek2", "Glm4MoeLite", "GLM 4.7 Flash: latent attention as in deepseek2, and the experts of glm4moe. No key says that their scores are sigmoids: "
        "those of files with exp_probs_b are.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "division by the sum": dict(norm_topk_prob=False),
         "rope base 500": base(500.0)},
        glm4_moe_lite, selecting_latent, kv=1, margin=0.002, num_hidden_layers=2, q_lora_rank=20, n_routed_experts=6, n_group=1, topk_group=1,
        routed_scaling_factor=1.5, norm_topk_prob=True, **base(), **LATENT) | dict(seed=74100),
    "solar-open": lambda: small(
        "glm4moe", "SolarOpen", "glm4moe with experts in every layer, whole heads that rotate, and neither norms of q and k nor biases.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "division by the sum": dict(norm_topk_prob=False),
         "rope base 500": base(500.0, partial_rotary_factor=1.0)},
        solar_open, selecting, margin=0.002, head_dim=8, n_routed_experts=6, n_shared_experts=1, routed_scaling_factor=1.5, norm_topk_prob=True,
        n_group=1, topk_group=1, feed_forward=48, **base(partial_rotary_factor=1.0), **SOME) | dict(seed=74200),
    "afmoe": lambda: small(
        "afmoe", "Afmoe", "Norms on both sides and of each head of q and k; windows in three of four layers, which alone rotate; what attention gives is "
        "multiplied by the sigmoid of a product with the normed row; embeddings times the root of the width. A dense layer, then 4 experts, 2 used: "
        "sigmoid and bias, divided by their sum, times 1.5; two shared ones.",
        {"selection bias": dict(zeroed="expert_bias"), "scale": dict(route_scale=1.0), "gate of attention": dict(zeroed="self_attn.gate_proj.weight"),
         "window 11": dict(sliding_window=11), "scale of embeddings": dict(mup_enabled=False), "rope base 500": base(500.0),
         "norm of q": dict(filled=("q_norm.weight", 1.0)), "pattern": dict(layer_types=["full_attention"] + ["sliding_attention"] * 3)},
        afmoe, selecting, margin=0.002, num_hidden_layers=4, head_dim=8, num_experts=4, num_shared_experts=2, num_dense_layers=1, route_scale=1.5,
        intermediate_size=24, sliding_window=10, mup_enabled=True, tie_word_embeddings=False,
        layer_types=["sliding_attention"] * 3 + ["full_attention"], **base(), **(SOME | dict(moe_intermediate_size=8))) | dict(seed=74300),
    "hy-v3": lambda: small(
        "hy_v3", "HYV3", "Norms of each head of q and k before they rotate; a dense layer, then 6 experts, 2 used: sigmoid and bias, divided by their sum, "
        "times 1.5, beside a shared one. No key says which layers are dense: those without a router.",
        {"selection bias": dict(unselected=True), "scale": dict(router_scaling_factor=1.0), "norm of q": dict(filled=("q_norm.weight", 1.0)),
         "rope base 500": base(500.0), "shared expert": dict(zeroed="shared_experts.down_proj.weight")},
        hy_v3, selecting, margin=0.002, num_hidden_layers=3, head_dim=8, num_experts=6, num_shared_experts=1, router_scaling_factor=1.5,
        **base(), **SOME) | dict(seed=74400),
    "mimo2": lambda: small(
        "mimo2", "MiMoV2Flash", "MiMo V2 Flash: keys of 12 elements and values of 8, which are multiplied by 0.6875; a third of each head rotates; layer 1 has a "
        "window, twice as many key/value heads, sinks, and another base. Layers without a router are dense.",
        {"selection bias": dict(unselected=True), "scale of values": dict(attention_value_scale=1.0), "window 11": dict(sliding_window=11),
         "sinks": dict(filled=("sinks", -20.0)), "base of windows": mimo_rope(windowed=10000.0), "rotary part": mimo_rope(part=0.5),
         "division by the sum": dict(norm_topk_prob=False)},
        mimo2, selecting, kv=[1, 2, 1], margin=0.002, num_hidden_layers=3, num_key_value_heads=1, head_dim=12, v_head_dim=8, n_routed_experts=6,
        n_group=1, topk_group=1, norm_topk_prob=True, sliding_window=10, attention_value_scale=0.6875, attention_bias=False,
        layer_types=["full_attention", "sliding_attention", "full_attention"], mlp_layer_types=["dense", "sparse", "sparse"],
        tie_word_embeddings=False, **mimo_rope(), **SOME) | dict(seed=74500),
    "step35": lambda: small(
        "step35", "Step3p7", "Step 3.7, its text: layer 1 has a window, 6 heads instead of 4, all of each of which rotates with a base of its own; "
        "in the others half of each head rotates, with the divisors of rope_freqs.weight. Norms of each head of q and k, with the 1 added as all norms. "
        "attn_gate gives a number for each head, whose sigmoid multiplies it. A dense layer, then 6 experts, 2 used: sigmoid and bias, divided by their "
        "sum, times 1.5; a shared one. SiLU of the gate is at most the limit of the layer, and what it multiplies at most that in size.",
        {"selection bias": dict(unselected=True), "scale": dict(moe_router_scaling_factor=1.0), "gate of attention": dict(zeroed="self_attn.g_proj.weight"),
         "window 11": dict(sliding_window=11), "limit of experts": dict(swiglu_limits=[0.0, 0.0, 0.5]), "limit of others": dict(swiglu_limits_shared=[0.0, 0.0, 0.75]),
         "base of windows": step_rope(windowed=10000.0), "scaling": step_rope(rope_type="default"), "part": step_rope(part=1.0)},
        step35, step35_layout, margin=0.002, make=step35_config, num_hidden_layers=3, num_sliding_attention_heads=6, head_dim=8, n_routed_experts=6,
        share_expert_dim=16, moe_router_scaling_factor=1.5, sliding_window=10, layer_types=["full_attention", "sliding_attention", "full_attention"],
        mlp_layer_types=["dense", "sparse", "sparse"], swiglu_limits=[0.0, 0.5, 0.75], swiglu_limits_shared=[0.5, 0.0, 0.75],
        tie_word_embeddings=False, **step_rope(), **SOME) | dict(seed=74600, made=step35_factors, heads=step35_heads),
    "deepseek32": lambda: small(
        "deepseek32", "DeepseekV32", "DeepSeek V3.2: deepseek2 with an indexer that chooses 64 positions, which here are all: what it is made of is in the file.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "scale of attention": yarn(mscale=0.5, mscale_all_dim=0.5),
         "groups": dict(topk_group=4)},
        deepseek32, selecting_latent, kv=1, margin=0.001, num_hidden_layers=2, q_lora_rank=20, n_routed_experts=8, n_group=4, topk_group=2,
        routed_scaling_factor=1.5, norm_topk_prob=True, first_k_dense_replace=1, index_topk=64, index_head_dim=16, index_n_heads=2,
        **yarn(), **LATENT) | dict(seed=74700),
    "glm-dsa": lambda: small(
        "glm-dsa", "GlmMoeDsa", "GLM 5: as deepseek32, with an indexer in layer 0, whose choice is that of layer 1, too.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "rope base 500": base(500.0)},
        glm_dsa, selecting_latent, kv=1, margin=0.002, num_hidden_layers=2, q_lora_rank=20, n_routed_experts=6, n_group=1, topk_group=1,
        routed_scaling_factor=1.5, norm_topk_prob=True, first_k_dense_replace=1, index_topk=64, index_head_dim=16, index_n_heads=2,
        indexer_types=["full", "shared"], **base(), **LATENT) | dict(seed=74800),
    "minimax-01": lambda: small(
        "minimax-01", "MiniMax", "Lightning attention in layers 0 and 2: attn_qkv has for each head the rows of q, k and v, which pass SiLU; S = exp(-rate) S + v k^T, "
        "y = S q, with rate = 2^(-8 (h + 1) / heads) (1 - layer / (layers - 1 + 1e-5) + 1e-5) of head h; the norm of all heads together adds 1e-6; then "
        "times the sigmoid of attn_gate. Each part adds to the normed row that it reads, times 1.75. 4 experts, 2 used, divided by their sum.",
        {"factor of the residual": alpha(1.5), "gate": dict(zeroed="output_gate.weight"), "norm of heads": dict(filled=("self_attn.norm.weight", 1.0)),
         "layers": dict(layer_types=["full_attention", "linear_attention", "linear_attention"]), "top 3": dict(num_experts_per_tok=3), "rope base 500": base(500.0),
         "epsilon": dict(rms_norm_eps=0.02)},
        minimax, layouts.minimax, num_hidden_layers=3, head_dim=8, num_local_experts=4, num_experts_per_tok=2, intermediate_size=16, block_size=16,
        pad_token_id=0, rms_norm_eps=0.01, layer_types=["linear_attention", "full_attention", "linear_attention"], tie_word_embeddings=False,
        experts_implementation="eager", **base(), **alpha(1.75)) | dict(seed=74900),
    "kimi-linear": lambda: small(
        "kimi-linear", "KimiLinear", "Kimi Delta Attention in layers 0 and 2: q, k and v, each through a causal convolution and SiLU; q and k are divided by their "
        "lengths, q by sqrt(8) too; with t = softplus(ssm_f_b ssm_f_a x + ssm_dt.bias), each column of the state of head h fades: S = S diag(exp(t ssm_a[h])), "
        "S = S + sigmoid(ssm_beta x) (v - S k) k^T, y = S q; then the norm of each head, times the sigmoid of ssm_g_b ssm_g_a x. In layer 1 latent attention in "
        "which nothing rotates. A dense layer, then 4 experts, 2 used, by sigmoid and bias, divided by their sum, times 1.5; a shared one.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "state": dict(filled=("A_log", 20.0)),
         "bias of steps": dict(zeroed="dt_bias"), "rates": dict(zeroed="self_attn.b_proj.weight"), "steps": dict(zeroed="f_b_proj.weight"),
         "gate": dict(zeroed="g_b_proj.weight"), "convolution": dict(filled=("conv1d.weight", 1.0))},
        kimi_linear, kimi_layout, kv=[0, 1, 0], margin=0.002, num_hidden_layers=3, q_lora_rank=None, num_local_experts=4, n_group=1, topk_group=1,
        routed_scaling_factor=1.5, norm_topk_prob=True, layer_types=["linear_attention", "full_attention", "linear_attention"], linear_head_dim=8,
        linear_num_heads=4, linear_conv_kernel_dim=4, mlp_layer_types=["dense", "sparse", "sparse"],
        **{**LATENT, "rms_norm_eps": 1e-5}) | dict(seed=75000),
}
