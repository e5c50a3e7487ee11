"""Gemma 3n and Gemma 4: ../requirements-5.txt."""

import gguf
import numpy as np
import torch
import transformers as hf

from more_cases import small

WINDOWED, FULL = "sliding_attention", "full_attention"


def common(w, c):
    rope = c.rope_parameters
    w.add_layer_norm_rms_eps(c.rms_norm_eps)
    w.add_sliding_window(c.sliding_window)
    w.add_sliding_window_pattern([kind == WINDOWED for kind in c.layer_types])
    w.add_rope_freq_base(rope[FULL]["rope_theta"])
    w.add_rope_freq_base_swa(rope[WINDOWED]["rope_theta"])
    w.add_shared_kv_layers(c.num_kv_shared_layers)
    w.add_embedding_length_per_layer_input(c.hidden_size_per_layer_input)
    w.add_final_logit_softcapping(c.final_logit_softcapping)


def gemma4(w, c):
    common(w, c)
    size = c.per_layer_config[c.num_hidden_layers - 1].head_dim
    for add in (w.add_key_length, w.add_value_length, w.add_rope_dimension_count):
        add(size)
    for add in (w.add_key_length_swa, w.add_value_length_swa, w.add_rope_dimension_count_swa):
        add(c.per_layer_config[0].head_dim)
    if c.enable_moe_block:
        w.add_expert_count(c.num_experts)
        w.add_expert_used_count(c.top_k_experts)
        w.add_expert_feed_forward_length(c.moe_intermediate_size)


def gemma3n(w, c):
    common(w, c)
    for add in (w.add_key_length, w.add_value_length):
        add(c.head_dim)
    w.add_altup_active_idx(c.altup_active_idx)
    w.add_altup_num_inputs(c.altup_num_inputs)
    normal = torch.distributions.normal.Normal(0.0, 1.0)
    w.add_activation_sparsity_scale([normal.icdf(torch.tensor(share)).item() for share in c.activation_sparsity_pattern])


def pairs(c):
    """Divisors of the frequencies where all is seen; those of pairs that do not turn are huge."""
    size = c.per_layer_config[c.num_hidden_layers - 1].head_dim
    turning = int(size * c.rope_parameters[FULL]["partial_rotary_factor"] / 2)
    return {"rope_freqs.weight": [1.0] * turning + [1e30] * (size // 2 - turning)}


def scales(tensors, config):
    """Names that end as the map of names knows them."""
    return {key + ".weight" if key.endswith(("layer_scalar", "correct_output_scale")) else key: a for key, a in tensors.items()}


def experts(tensors, config):
    ends = {"router.scale": "ffn_gate_inp.scale", "router.per_expert_scale": "ffn_down_exps.scale", "router.proj.weight": "ffn_gate_inp.weight",
            "experts.gate_up_proj": "ffn_gate_up_exps.weight", "experts.down_proj": "ffn_down_exps.weight"}
    out = {}
    for key, a in scales(tensors, config).items():
        end = next((name for end, name in ends.items() if key.endswith(end)), None)
        out[f"blk.{key.split('.')[2]}.{end}" if end else key] = a
    return out


def streams(tensors, config):
    """The matrices of all streams become one tensor."""
    out, stacks = {}, {}
    for key, a in scales(tensors, config).items():
        if "altup_projections." in key or "altup_unembed_projections." in key:
            base, number, _ = key.rsplit(".", 2)
            stacks.setdefault(base + ".weight", {})[int(number)] = a
        else:
            out[key] = a
    return out | {key: np.stack([parts[i] for i in range(len(parts))]) for key, parts in stacks.items()}


def rope(theta=10000.0, full_theta=1000000.0, part=0.25):
    return dict(rope_parameters={FULL: dict(rope_type="proportional", rope_theta=full_theta, partial_rotary_factor=part),
                                 WINDOWED: dict(rope_type="default", rope_theta=theta)})


def plain_rope(theta=10000.0, full_theta=1000000.0):
    return dict(rope_parameters={FULL: dict(rope_type="default", rope_theta=full_theta), WINDOWED: dict(rope_type="default", rope_theta=theta)})


def gemma4_case(note, without, **settings):
    return small("gemma4", "Gemma4", note, without, gemma4, experts, config="Gemma4TextConfig", head_dim=12, global_head_dim=24,
                 sliding_window=8, final_logit_softcapping=6.0, vocab_size_per_layer_input=272, tie_word_embeddings=True,
                 pad_token_id=0, **settings)


GEMMA_CASES = {
    "gemma4": lambda: gemma4_case(
        "The last two layers attend to the keys and values of the last layer before them that has a window, or has none, as they have; their "
        "feed-forward parts are twice as wide. Each layer has an input of its own for each token. Heads are larger where all is seen, and a "
        "quarter of their pairs turn. Values are divided by their root mean square; attention does not scale.",
        {"shared keys": dict(num_kv_shared_layers=1), "window": dict(sliding_window=9), "turning pairs": rope(part=0.5), "rope base 500": rope(theta=500.0),
         "inputs of layers": dict(filled=("per_layer_projection.weight", 0.0)), "tokens of inputs": dict(filled=("embed_tokens_per_layer.weight", 0.0)),
         "factors of layers": dict(filled=("layer_scalar", 1.0)), "soft cap": dict(final_logit_softcapping=8.0)},
        num_hidden_layers=6, layer_types=[WINDOWED, WINDOWED, FULL] * 2, num_kv_shared_layers=2, hidden_size_per_layer_input=16,
        use_double_wide_mlp=True, **rope())
    | dict(seed=73000, made=pairs, kv=2, feed_forward=[48] * 4 + [96] * 2),
    "gemma4-moe": lambda: gemma4_case(
        "Experts beside a dense part: both read the residual through norms of their own, the router divides it by its root mean square and by "
        "the root of the width. What an expert gives is multiplied by a number of its own. Layers that see all have one key/value head, whose "
        "values are the keys before their norm.",
        {"factors of experts": dict(filled=("per_expert_scale", 1.0)), "factors of the router": dict(filled=("router.scale", 1.0)),
         "norm of experts": dict(filled=("pre_feedforward_layernorm_2.weight", 1.0)), "norm behind experts": dict(filled=("post_feedforward_layernorm_2.weight", 1.0)),
         "norm behind the dense part": dict(filled=("post_feedforward_layernorm_1.weight", 1.0))},
        num_hidden_layers=3, layer_types=[WINDOWED, WINDOWED, FULL], num_global_key_value_heads=1, attention_k_eq_v=True,
        hidden_size_per_layer_input=0, enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=32, **rope())
    | dict(seed=73100, made=pairs, kv=[2, 2, 1], experts_used=2),
    "gemma3n": lambda: small(
        "gemma3n", "Gemma3n",
        "Four streams of the residual, of which layers compute the second and predict the others; a product of low rank beside attention; in "
        "three layers gates are cut off so many deviations above their mean, which a key says; each layer has an input of its own for each "
        "token, where tokens that its table has not have those of the first; the last two layers attend to the keys of earlier ones.",
        {"streams": dict(filled=("prediction_coefs.weight", 0.0)), "correction": dict(filled=("correction_coefs.weight", 0.0)),
         "factors of streams": dict(filled=("correct_output_scale", 1.0)), "low rank": dict(filled=("linear_right.weight", 0.0)),
         "cut-offs": dict(activation_sparsity_pattern=[0.0] * 5), "inputs of layers": dict(filled=("per_layer_projection.weight", 0.0)),
         "rope base 500": plain_rope(theta=500.0), "window": dict(sliding_window=9), "soft cap": dict(final_logit_softcapping=8.0)},
        gemma3n, streams, config="Gemma3nTextConfig", num_hidden_layers=5, layer_types=[WINDOWED, FULL, WINDOWED, WINDOWED, FULL],
        num_kv_shared_layers=2, head_dim=12, sliding_window=8, final_logit_softcapping=6.0, vocab_size_per_layer_input=264,
        hidden_size_per_layer_input=16, altup_num_inputs=4, altup_active_idx=1, laurel_rank=8, tie_word_embeddings=True, pad_token_id=0,
        activation_sparsity_pattern=[0.9, 0.5, 0.0, 0.25, 0.0], **plain_rope())
    | dict(seed=73200),
}
