"""Models with recurrent states, in the form of more_cases.py. Some are in newer releases of transformers alone (5.24); those that the
installed one lacks are left out."""

import gguf
import transformers as hf

import state_layouts as layouts
from more_cases import rms, small

DELTA = dict(num_hidden_layers=4, head_dim=16, linear_num_value_heads=4, linear_num_key_heads=2, linear_key_head_dim=8,
             linear_value_head_dim=12, linear_conv_kernel_dim=4, layer_types=["linear_attention"] * 3 + ["full_attention"])
DELTA_EXPERTS = dict(num_experts=6, num_experts_per_tok=2, moe_intermediate_size=12, shared_expert_intermediate_size=16)
DELTA_WITHOUT = {"bias of dt": dict(zeroed="dt_bias"), "A": dict(zeroed="A_log"), "state": dict(filled=("A_log", 20.0)),
                 "norm": dict(filled=("linear_attn.norm.weight", 1.0)), "norms of q": dict(filled=("q_norm.weight", 0.0))}
SPACE_WITHOUT = {"bias of conv1d": dict(zeroed="conv1d.bias"), "D": dict(zeroed=".D"), "A": dict(zeroed="A_log"),
                 "state": dict(filled=("A_log", 20.0))}


def lfm2(w, c):
    w.add_vocab_size(c.vocab_size)
    w.add_shortconv_l_cache(c.conv_L_cache)
    w.add_layer_norm_rms_eps(c.norm_eps)
    w.add_rope_freq_base(getattr(c, "rope_theta", None) or c.rope_parameters["rope_theta"])


def lfm2moe(w, c):
    lfm2(w, c)
    w.add_expert_count(c.num_experts)
    w.add_expert_used_count(c.num_experts_per_tok)
    w.add_expert_feed_forward_length(c.moe_intermediate_size)
    w.add_leading_dense_block_count(c.num_dense_layers)
    w.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)


def space(w, conv, size, inner, steps, groups=None):
    w.add_ssm_conv_kernel(conv)
    w.add_ssm_state_size(size)
    w.add_ssm_inner_size(inner)
    w.add_ssm_time_step_rank(steps)
    if groups:
        w.add_ssm_group_count(groups)


def nemotron_h(w, c):
    w.add_vocab_size(c.vocab_size)
    w.add_layer_norm_rms_eps(c.layer_norm_epsilon)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    space(w, c.conv_kernel, c.ssm_state_size, c.mamba_num_heads * c.mamba_head_dim, c.mamba_num_heads, c.n_groups)


def nemotron_h_moe(w, c):
    nemotron_h(w, c)
    w.add_expert_count(c.n_routed_experts)
    w.add_expert_used_count(c.num_experts_per_tok)
    w.add_expert_shared_count(c.n_shared_experts)
    w.add_expert_feed_forward_length(c.moe_intermediate_size)
    w.add_expert_shared_feed_forward_length(c.moe_shared_expert_intermediate_size)
    w.add_expert_weights_norm(c.norm_topk_prob)
    w.add_expert_weights_scale(c.routed_scaling_factor)
    w.add_expert_group_count(c.n_group)
    w.add_moe_latent_size(c.moe_latent_size)


def falcon_h1(w, c):
    rms(w, c)
    w.add_vocab_size(c.vocab_size)
    w.add_rope_freq_base(c.rope_theta)
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    space(w, c.mamba_d_conv, c.mamba_d_state, c.mamba_d_ssm, c.mamba_n_heads, c.mamba_n_groups)


def mamba(w, c):
    w.add_layer_norm_rms_eps(c.layer_norm_epsilon)
    space(w, c.conv_kernel, c.state_size, c.intermediate_size, c.time_step_rank)
    w.add_ssm_dt_b_c_rms(False)


def jamba(w, c):
    rms(w, c)
    space(w, c.mamba_d_conv, c.mamba_d_state, c.mamba_expand * c.hidden_size, c.mamba_dt_rank)
    w.add_expert_count(c.num_experts)
    w.add_expert_used_count(c.num_experts_per_tok)


def delta(w, c):
    rms(w, c)
    rope = getattr(c, "rope_parameters", None) or dict(rope_theta=c.rope_theta, partial_rotary_factor=c.partial_rotary_factor)
    w.add_rope_freq_base(rope["rope_theta"])
    w.add_rope_dimension_count(int(c.head_dim * rope["partial_rotary_factor"]))
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)
    w.add_full_attention_interval(4)
    space(w, c.linear_conv_kernel_dim, c.linear_key_head_dim, c.linear_value_head_dim * c.linear_num_value_heads,
          c.linear_num_value_heads, c.linear_num_key_heads)
    if getattr(c, "num_experts", 0) and c.model_type != "qwen3_5_text":
        w.add_expert_count(c.num_experts)
        w.add_expert_used_count(c.num_experts_per_tok)
        w.add_expert_feed_forward_length(c.moe_intermediate_size)
        w.add_expert_shared_feed_forward_length(c.shared_expert_intermediate_size)


FALCON_H1 = dict(mamba_d_ssm=64, mamba_n_heads=8, mamba_n_groups=2, mamba_d_state=12, mamba_chunk_size=16, head_dim=8,
                 mamba_norm_before_gate=False, rope_theta=100000.0, embedding_multiplier=2.0, lm_head_multiplier=0.5,
                 mlp_multipliers=[0.5, 2.0], key_multiplier=0.5, attention_in_multiplier=0.5, attention_out_multiplier=2.0,
                 ssm_multipliers=[0.5, 2.0, 0.5, 2.0, 0.25], ssm_in_multiplier=2.0, ssm_out_multiplier=0.5)

WITH = {
    "lfm2": ("Lfm2", lambda: small(
        "lfm2", "Lfm2", "Layers 0, 1 and 3 have a convolution over 3 tokens in place of attention: shortconv.in_proj gives b, c and x in this order, "
        "the convolution is of b x, and its result times c goes through shortconv.out_proj; head_count_kv is 0 there. Norms of each head of q "
        "and k. The last norm is called token_embd_norm.",
        {"convolution": dict(filled=("conv.conv.weight", 1.0)), "norms of q": dict(filled=("q_layernorm.weight", 1.0)),
         "rope base 500": dict(rope_theta=500.0)},
        lfm2, layouts.lfm2, kv=[0, 0, 2, 0], num_hidden_layers=4, layer_types=["conv", "conv", "full_attention", "conv"],
        block_auto_adjust_ff_dim=False, norm_eps=1e-5, conv_L_cache=3, rope_theta=1000000.0)),
    "lfm2moe": ("Lfm2Moe", lambda: small(
        "lfm2moe", "Lfm2Moe", "lfm2 with 6 experts, 2 used, behind one dense layer: those with the largest sum of sigmoid and exp_probs_b; their sigmoids "
        "are divided by their sum.",
        {"selection bias": dict(unselected=True), "convolution": dict(filled=("conv.conv.weight", 1.0)), "top 3": dict(num_experts_per_tok=3)},
        lfm2moe, layouts.lfm2, kv=[0, 2, 0], margin=0.002, num_hidden_layers=3, layer_types=["conv", "full_attention", "conv"],
        norm_eps=1e-5, conv_L_cache=3, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=12, num_dense_layers=1,
        use_expert_bias=True, norm_topk_prob=True, routed_scaling_factor=1.0)),
    "nemotron_h": ("NemotronH", lambda: small(
        "nemotron_h", "NemotronH", "Mamba-2 in layers 0 and 3, a feed-forward part (squared rectifier, no gate) in 1 and 4, attention without rope in 2: "
        "head_count_kv is 0 but in layer 2, feed_forward_length but in 1 and 4. B and C of two groups of heads; the gated norm is over each "
        "group of 32 by itself.",
        {**SPACE_WITHOUT, "one group": dict(n_groups=1), "norm": dict(filled=("mixer.norm.weight", 1.0))},
        nemotron_h, layouts.nemotron_h, kv=[0, 0, 2, 0, 0], feed_forward=[0, 48, 0, 0, 48], num_hidden_layers=5,
        layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention", "mlp"], mamba_num_heads=8, mamba_head_dim=8,
        n_groups=2, ssm_state_size=12, head_dim=8, chunk_size=16, conv_kernel=4, time_step_min=1e-9, layer_norm_epsilon=1e-5,
        tie_word_embeddings=False)),
    "falcon-h1": ("FalconH1", lambda: small(
        "falcon-h1", "FalconH1", "Attention and Mamba-2 of two groups read one norm in each layer, and both are added. The factors of the configuration are "
        "part of the file's weights. No norm of what the state space gives. The norm before the feed-forward part is ffn_norm, without an "
        "end.",
        {**SPACE_WITHOUT, "rope base 500": dict(rope_theta=500.0), "key factor": dict(key_multiplier=1.0), "output factor": dict(lm_head_multiplier=1.0),
         "step factor": dict(ssm_multipliers=[0.5, 2.0, 0.5, 2.0, 1.0])},
        falcon_h1, layouts.falcon_h1, **{**FALCON_H1, "tie_word_embeddings": False})),
    "falcon-h1-norm": ("FalconH1", lambda: small(
        "falcon-h1", "FalconH1", "falcon-h1 with a gated norm over each of its groups; tied embeddings, whose factor serves both.",
        {"norm": dict(filled=("mamba.norm.weight", 1.0))},
        falcon_h1, layouts.falcon_h1, **{**FALCON_H1, "mamba_rms_norm": True, "lm_head_multiplier": 2.0})),
    "mamba": ("Mamba", lambda: small(
        "mamba", "Mamba", "Mamba in every layer and nothing else: ssm_in gives x and z; x passes a causal convolution and silu; ssm_x gives the low-rank "
        "step, B and C; the step of each channel is softplus(ssm_dt); each channel has a state of 5: S = exp(step ssm_a) S + step x B, "
        "y = S C + ssm_d x, times silu(z).",
        {**SPACE_WITHOUT, "bias of dt": dict(zeroed="dt_proj.bias")},
        mamba, layouts.mamba, kv=False, state_size=5, expand=2, conv_kernel=4, time_step_rank=4, num_attention_heads=0,
        layer_norm_epsilon=1e-5, residual_in_fp32=False, use_mambapy=False, intermediate_size=64, feed_forward=0)),
    "jamba": ("Jamba", lambda: small(
        "jamba", "Jamba", "Mamba in layers 0, 2 and 3, with norms of step, B and C; attention without rope in layer 1. Layers 1 and 3 have 4 experts, 2 used, "
        "not renormalised; the others are dense, which only their tensors say.",
        {**SPACE_WITHOUT, "norm of B": dict(filled=("b_layernorm.weight", 1.0)), "top 1": dict(num_experts_per_tok=1)},
        jamba, layouts.jamba, kv=[0, 2, 0, 0], num_hidden_layers=4, attn_layer_period=4, attn_layer_offset=1, expert_layer_period=2,
        expert_layer_offset=1, num_experts=4, num_experts_per_tok=2, use_mamba_kernels=False, mamba_d_state=5, mamba_dt_rank=4,
        mamba_expand=2, mamba_d_conv=4)),
    "qwen3next": ("Qwen3Next", lambda: small(
        "qwen3next", "Qwen3Next", "The gated delta rule in layers 0 to 2: attn_qkv gives q, k (2 heads of 8) and v (4 heads of 12), which pass a causal convolution "
        "and silu; q and k are divided by their lengths, q by sqrt(8) too; ssm_ba gives for each head of keys the rates of its 2 heads "
        "of values, then their steps. With a = exp(ssm_a softplus(step + ssm_dt.bias)) each head has S = a S, "
        "S = S + sigmoid(rate) (v - S k) k^T, y = S q; then the norm of each head, times silu(attn_gate). In layer 3 attention: attn_q has "
        "for each head q, then a gate, and a quarter of each head rotates. Norms with the 1 added. 6 experts, 2 used, and a shared one "
        "times a sigmoid.",
        {**DELTA_WITHOUT, "top 3": dict(num_experts_per_tok=3), "half a head": dict(partial_rotary_factor=0.5)},
        delta, layouts.qwen3next, **{**DELTA, **DELTA_EXPERTS, "partial_rotary_factor": 0.25, "decoder_sparse_step": 1,
                                     "mlp_only_layers": [], "norm_topk_prob": True})),
    "qwen3next-whole": ("Qwen3Next", lambda: dict(small(
        "qwen3next", "Qwen3Next", "qwen3next as converters wrote it at first, the same weights: ssm_in has for each head of keys the rows of q, k, v and gates.",
        {"state": dict(filled=("A_log", 20.0))},
        delta, layouts.qwen3next_whole, **{**DELTA, **DELTA_EXPERTS, "partial_rotary_factor": 0.25, "decoder_sparse_step": 1,
                                           "mlp_only_layers": [], "norm_topk_prob": True}), seed=6191)),
    "qwen35": ("Qwen3_5Text", lambda: small(
        "qwen35", "Qwen3_5", "qwen3next with a dense feed-forward part; ssm_beta gives rates and ssm_alpha steps; heads of values lie in the file such that "
        "head h has the keys of head h modulo 2.",
        DELTA_WITHOUT, delta, layouts.qwen35, config="Qwen3_5TextConfig", **DELTA)),
    "qwen35moe": ("Qwen3_5MoeText", lambda: small(
        "qwen35moe", "Qwen3_5Moe", "qwen35 with the experts of qwen3next.",
        {**DELTA_WITHOUT, "top 3": dict(num_experts_per_tok=3)}, delta, layouts.qwen35, config="Qwen3_5MoeTextConfig",
        **{**DELTA, **DELTA_EXPERTS})),
    "nemotron_h_moe": ("NemotronH", lambda: dict(small(
        "nemotron_h_moe", "NemotronH", "nemotron_h with 6 experts of a squared rectifier in layers 1 and 3, which read and give 16 elements (ffn_latent_down and "
        "ffn_latent_up), 2 used: sigmoid and bias, divided by their sum, times 1.5; and a shared one, which reads the row.",
        {**SPACE_WITHOUT, "selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "division by the sum": dict(norm_topk_prob=False)},
        nemotron_h_moe, layouts.nemotron_h_moe, margin=0.002, kv=[0, 0, 2, 0], feed_forward=[0, 12, 0, 12], num_hidden_layers=4,
        layers_block_type=["linear_attention", "moe", "full_attention", "moe"], mamba_num_heads=8, mamba_head_dim=8,
        n_groups=2, ssm_state_size=12, head_dim=8, chunk_size=16, conv_kernel=4, time_step_min=1e-9, layer_norm_epsilon=1e-5,
        n_routed_experts=6, num_experts_per_tok=2, n_shared_experts=1, moe_intermediate_size=12, moe_shared_expert_intermediate_size=24,
        moe_latent_size=16, routed_scaling_factor=1.5, experts_implementation="eager", tie_word_embeddings=False), seed=7100)),
}

STATE_CASES = {name: describe for name, (kind, describe) in WITH.items() if hasattr(hf, kind + "Config")}
