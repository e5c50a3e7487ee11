"""Models of transformers 5.24 (../requirements-5.txt): text parts of models that see pictures, and families that came late to this list."""

import gguf
import numpy as np
import transformers as hf

import layouts
from gguf_file import llama3_factors
from more_cases import rms, small
from state_cases import SPACE_WITHOUT, space
from state_layouts import experts, mamba

VISION = dict(depth=1, hidden_size=16, intermediate_size=16, num_heads=2, out_hidden_size=32, patch_size=2)
QWEN2_VISION = dict(VISION, window_size=8, fullatt_block_indexes=[0])
QWEN3_VISION = dict(VISION, num_position_embeddings=16, deepstack_visual_indexes=[0])


def rope(base, **more):
    return dict(rope_parameters=dict(rope_type="default", rope_theta=base) | more)


def epsilon(w, c):
    w.add_layer_norm_eps(getattr(c, "layer_norm_epsilon", None) or getattr(c, "layer_norm_eps", None) or 1e-5)


def heads(w, c):
    w.add_key_length(c.head_dim)
    w.add_value_length(c.head_dim)


def windows(w, c, kinds=None):
    w.add_sliding_window(c.sliding_window)
    w.add_sliding_window_pattern([kind == "sliding_attention" for kind in kinds or c.layer_types])


def whole(kind, vision):
    """Makes the configuration of a model that sees pictures of that of its text part."""
    def make(tie_word_embeddings, attn_implementation, experts_implementation=None, **settings):
        return getattr(hf, kind + "Config")(
            text_config=dict(settings, pad_token_id=0), vision_config=dict(vision), tie_word_embeddings=tie_word_embeddings,
            attn_implementation=attn_implementation, experts_implementation=experts_implementation, image_token_id=1000, video_token_id=1001,
            vision_start_token_id=1002, vision_end_token_id=1003)
    return make


def text_part(tensors, config):
    """Without what reads pictures."""
    return experts({key.replace("model.language_model.", "model."): a for key, a in tensors.items()
                    if key.startswith("model.language_model.") or key.startswith("lm_head.")})


def text_part_of(arch, kind, vision, note, without, keys, layout=text_part, **settings):
    return small(arch, kind, note, without, keys, layout, make=whole(kind, vision), **settings)


def sections(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_rope_dimension_sections((c.rope_parameters["mrope_section"] + [0])[:4])


def qwen3vl(w, c):
    sections(w, c)
    heads(w, c)
    w.add_num_deepstack_layers(1)


def qwen3vlmoe(w, c):
    qwen3vl(w, c)
    w.add_expert_count(c.num_experts)
    w.add_expert_used_count(c.num_experts_per_tok)
    w.add_expert_feed_forward_length(c.moe_intermediate_size)


def mistral3(w, c):
    rms(w, c)
    heads(w, c)
    w.add_rope_dimension_count(c.head_dim)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])


def opt(w, c):
    epsilon(w, c)


def opt_layout(tensors, config):
    """No converter writes it: the names are those that the same tensors have in other models. Positions are counted from 2 on."""
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.out_proj": "attn_output",
             "self_attn_layer_norm": "attn_norm", "final_layer_norm": "ffn_norm", "fc1": "ffn_up", "fc2": "ffn_down"}
    out = {}
    for key, a in tensors.items():
        key = key.removeprefix("model.decoder.")
        if key.startswith("layers."):
            _, layer, part = key.split(".", 2)
            stem, end = part.rsplit(".", 1)
            out[f"blk.{layer}.{names[stem]}.{end}"] = a
        elif key.startswith("embed_positions"):
            out["transformer.wpe.weight"] = a[2:]
        else:
            out[key.replace("final_layer_norm", "transformer.ln_f").replace("embed_tokens", "transformer.wte")] = a
    return out


def exaone(w, c):
    rms(w, c)
    heads(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_rope_dimension_count(c.hidden_size // c.num_attention_heads)


def llama3_tensor(config):
    scaled = dict(config.rope_parameters)
    config = type("Config", (), dict(rope_scaling=scaled, rope_theta=scaled["rope_theta"], head_dim=config.head_dim))
    return {"rope_freqs.weight": llama3_factors(config)}


def exaone_moe(w, c):
    rms(w, c)
    heads(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    windows(w, c)
    w.add_expert_count(c.num_experts)
    w.add_expert_used_count(c.num_experts_per_tok)
    w.add_expert_group_count(c.n_group)
    w.add_expert_group_used_count(c.topk_group)
    w.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    w.add_expert_feed_forward_length(c.moe_intermediate_size)
    w.add_expert_shared_count(c.num_shared_experts)
    w.add_expert_shared_feed_forward_length(c.moe_intermediate_size * c.num_shared_experts)
    w.add_expert_weights_scale(c.routed_scaling_factor)
    w.add_expert_weights_norm(c.norm_topk_prob)
    w.add_leading_dense_block_count(c.first_k_dense_replace)
    w.add_nextn_predict_layers(0)
    w.add_vocab_size(c.vocab_size)
    w.add_rope_scaling_type(gguf.RopeScalingType.NONE)


def exaone_moe_layout(tensors, config):
    return {key.replace("mlp.gate.e_score_correction_bias", "mlp.e_score_correction.bias"): a for key, a in experts(tensors).items()}


def granite_swa(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_vocab_size(c.vocab_size)
    w.add_rope_dimension_count(c.hidden_size // c.num_attention_heads)
    w.add_attention_scale(c.attention_multiplier)
    w.add_embedding_scale(c.embedding_multiplier)
    w.add_residual_scale(c.residual_multiplier)
    w.add_logit_scale(c.logits_scaling)
    windows(w, c)
    w.add_array("granite_swa.attention.rope_pattern", [base != 0 for base in c.layer_rope_theta])


def granite_swa_layout(tensors, config):
    return {key + ".weight" if key.endswith("sinks") else key: a for key, a in layouts.permuted(tensors, config).items()}


def granite_moe_swa(w, c):
    granite_swa(w, c)
    w.add_expert_count(c.num_local_experts)
    w.add_expert_used_count(c.num_experts_per_tok)
    w.add_expert_shared_feed_forward_length(c.shared_intermediate_size)


def granite_moe_swa_layout(tensors, config):
    """Gate and up stay one tensor."""
    names = {"block_sparse_moe.router.weight": "ffn_gate_inp", "block_sparse_moe.experts.gate_up_proj": "ffn_gate_up_exps",
             "block_sparse_moe.experts.down_proj": "ffn_down_exps", "shared_mlp.input_linear.weight": "ffn_up_shexp",
             "shared_mlp.output_linear.weight": "ffn_down_shexp"}
    out = {}
    for key, a in granite_swa_layout(tensors, config).items():
        layer, part = key.split(".", 3)[2:] if key.startswith("model.layers.") else (None, key)
        out[f"blk.{layer}.{names[part]}.weight" if part in names else key] = a
    return out


def llama(w, c):
    rms(w, c)
    heads(w, c)
    w.add_vocab_size(c.vocab_size)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_rope_dimension_count(c.head_dim)


def cwm(w, c):
    llama(w, c)
    windows(w, c)


def gpt_neo(w, c):
    epsilon(w, c)
    w.add_sliding_window(c.window_size)
    w.add_sliding_window_pattern([kind == "local" for kind in c.attention_layers])


def codegen(w, c):
    epsilon(w, c)
    w.add_rope_dimension_count(c.rotary_dim)


def codegen_layout(tensors, config):
    """One tensor has for each quarter of the heads its queries, then its values, then its keys."""
    out = {}
    for key, a in tensors.items():
        if not key.endswith("qkv_proj.weight"):
            out[key] = a
            continue
        quarters = a.reshape(4, 3, -1, a.shape[1])
        for number, name in enumerate("qvk"):
            out[key.replace("qkv_proj", f"{name}_proj")] = np.ascontiguousarray(quarters[:, number]).reshape(-1, a.shape[1])
    return out


def falcon_mamba(w, c):
    w.add_layer_norm_rms_eps(c.layer_norm_epsilon)
    space(w, c.conv_kernel, c.state_size, c.intermediate_size, c.time_step_rank)
    w.add_ssm_dt_b_c_rms(True)


def bamba(w, c):
    rms(w, c)
    w.add_vocab_size(c.vocab_size)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_rope_dimension_count(c.hidden_size // c.num_attention_heads // 2)
    w.add_rope_scaling_finetuned(True)
    space(w, c.mamba_d_conv, c.mamba_d_state, c.mamba_expand * c.hidden_size, c.mamba_n_heads, c.mamba_n_groups)


def bamba_layout(tensors, config):
    """The first half of each head rotates: its rows are put into pairs, and the others stay."""
    counts = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    out = {}
    for key, a in layouts.mamba2(tensors, config).items():
        for part, count in counts.items():
            if part in key:
                each = a.reshape(count, -1, a.shape[1])
                half = each.shape[1] // 2
                turned = layouts.permute(each[:, :half].reshape(-1, a.shape[1]), count).reshape(count, half, -1)
                a = np.concatenate([turned, each[:, half:]], axis=1).reshape(a.shape)
        out[key] = a
    return out


def jais2(w, c):
    epsilon(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    heads(w, c)
    w.add_rope_dimension_count(c.head_dim)


def bitnet(w, c):
    rms(w, c)
    w.add_rope_freq_base(c.rope_parameters["rope_theta"])
    w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    w.add_rope_scaling_factor(1.0)


def bitnet_layout(tensors, config):
    return {key.replace("self_attn.attn_sub_norm", "self_attn.inner_attn_ln").replace("mlp.ffn_sub_norm", "mlp.ffn_layernorm"): a
            for key, a in tensors.items()}


LLAMA3 = dict(rope_type="llama3", rope_theta=500.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
MROPE = dict(mrope_section=[2, 1, 1])
GRANITE = dict(attention_multiplier=0.3, embedding_multiplier=3.0, residual_multiplier=0.6, logits_scaling=2.0)

FURTHER_CASES = {
    "qwen2vl": lambda: text_part_of(
        "qwen2vl", "Qwen2_5_VL", QWEN2_VISION, "qwen2; parts of each head rotate by places in pictures, which in a text are all the position. "
        "The folder has what reads pictures, too.",
        {"rope base 500": rope(500.0, **MROPE), "bias of q": dict(zeroed="layers.0.self_attn.q_proj.bias"), "epsilon 0.1": dict(rms_norm_eps=0.1)},
        sections, **rope(10000.0, **MROPE)) | dict(seed=74000),
    "qwen3vl": lambda: text_part_of(
        "qwen3vl", "Qwen3VL", QWEN3_VISION, "qwen3, likewise; the parts of heads are interleaved.",
        {"rope base 500": rope(500.0, mrope_section=[3, 2, 1]), "norm of q": dict(filled=("q_norm.weight", 1.0))},
        qwen3vl, head_dim=12, **rope(10000.0, mrope_section=[3, 2, 1])) | dict(seed=74100),
    "qwen3vl-untied": lambda: text_part_of(
        "qwen3vl", "Qwen3VL", QWEN3_VISION, "qwen3vl with an output matrix.",
        {"rope base 500": rope(500.0, **MROPE)},
        qwen3vl, head_dim=8, **{**rope(10000.0, **MROPE), "tie_word_embeddings": False}) | dict(seed=74200),
    "qwen3vlmoe": lambda: text_part_of(
        "qwen3vlmoe", "Qwen3VLMoe", QWEN3_VISION, "qwen3moe, likewise; experts are one tensor of the folder, whose matrices multiply from the other side.",
        {"rope base 500": rope(500.0, **MROPE), "top 3": dict(num_experts_per_tok=3)},
        qwen3vlmoe, head_dim=8, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=12,
        experts_implementation="eager", **rope(10000.0, **MROPE)) | dict(seed=74300),
    "opt": lambda: small(
        "opt", "OPT", "Layer norms and biases everywhere, learned positions, which the folder counts from 2 on, a rectifier without a gate.",
        {"relu": dict(activation_function="gelu"), "positions": dict(zeroed="embed_positions.weight"), "bias of fc1": dict(zeroed="fc1.bias"),
         "bias of out_proj": dict(zeroed="out_proj.bias")},
        opt, opt_layout, kv=False, ffn_dim=48, word_embed_proj_dim=32, pad_token_id=1, activation_function="relu", max_position_embeddings=64)
    | dict(seed=74400, names=["gpt2"]),
    "exaone": lambda: small(
        "exaone", "Llama", "llama with half-split rope; frequencies are divided by rope_freqs.weight. The tensors of the folder have other names.",
        {"factors": rope(500.0), "rope base 50": dict(rope_parameters=dict(LLAMA3, rope_theta=50.0)), "epsilon 0.1": dict(rms_norm_eps=0.1)},
        exaone, make=hf.ExaoneConfig, head_dim=8, rope_parameters=LLAMA3) | dict(seed=74500, made=llama3_tensor),
    "exaone-moe": lambda: small(
        "exaone-moe", "ExaoneMoe", "Norms before, norms of each head of q and k; only layers with a window rotate. Behind one dense layer 6 experts, 2 used, "
        "chosen by sigmoid and a bias, divided by their sum, times 2.5; and a shared one.",
        {"selection bias": dict(unselected=True), "scale": dict(routed_scaling_factor=1.0), "window": dict(sliding_window=30),
         "division by the sum": dict(norm_topk_prob=False), "norm of q": dict(filled=("q_norm.weight", 1.0))},
        exaone_moe, exaone_moe_layout, num_hidden_layers=3, head_dim=8, sliding_window=9, sliding_window_pattern="LLG",
        layer_types=["sliding_attention", "full_attention", "sliding_attention"], num_experts=6, num_experts_per_tok=2, moe_intermediate_size=12,
        num_shared_experts=2, first_k_dense_replace=1, routed_scaling_factor=2.5, experts_implementation="eager", **rope(10000.0)) | dict(seed=74600),
    "mistral3-tied": lambda: text_part_of(
        "mistral3", "Mistral3", dict(model_type="pixtral", hidden_size=16, intermediate_size=16, num_attention_heads=2, head_dim=8, num_hidden_layers=1, patch_size=2),
        "mistral3 without its scale of positions; the configuration states outside of its text part that the output's weights are the embeddings.",
        {"rope base 500": rope(500.0), "epsilon 0.1": dict(rms_norm_eps=0.1)},
        mistral3, lambda tensors, config: layouts.permuted(text_part(tensors, config), config), model_type="mistral", head_dim=12,
        max_position_embeddings=64, sliding_window=None, **rope(10000.0)) | dict(seed=74700),
    "granite-swa": lambda: small(
        "granite_swa", "GraniteSWA", "granite with sinks, a window in three of four layers, which arrays name, and layers that do not rotate, likewise.",
        {"sinks": dict(filled=("sinks", -50.0)), "window": dict(sliding_window=30), "layers that rotate": dict(layer_rope_theta=[10000.0] * 4),
         "scale": dict(attention_multiplier=0.2)},
        granite_swa, granite_swa_layout, num_hidden_layers=4, sliding_window=9, layer_types=["full_attention"] + ["sliding_attention"] * 3,
        layer_rope_theta=[0, 10000.0, 10000.0, 0], **GRANITE, **rope(10000.0)) | dict(seed=74800, names=["granite", "gpt-oss"]),
    "granite-swa-moe": lambda: small(
        "granite_swa", "GraniteMoeSWA", "granite-swa with 6 experts, 2 used, and a shared one; the gate of experts and what it gates are one tensor, and so they "
        "are of the shared one, under the name of the latter.",
        {"sinks": dict(filled=("sinks", -50.0)), "shared expert": dict(zeroed="shared_mlp.output_linear.weight"), "top 3": dict(num_experts_per_tok=3)},
        granite_moe_swa, granite_moe_swa_layout, intermediate_size=12, sliding_window=9, layer_types=["sliding_attention", "full_attention"],
        layer_rope_theta=[10000.0, 0], num_local_experts=6, num_experts_per_tok=2, shared_intermediate_size=16, experts_implementation="eager",
        **GRANITE, **rope(10000.0)) | dict(seed=74850, names=["granite", "gpt-oss"]),
    "cwm": lambda: small(
        "llama", "Cwm", "llama with a window in three of four layers, which an array names; frequencies are divided by rope_freqs.weight.",
        {"factors": rope(500.0), "window": dict(sliding_window=30)},
        cwm, layouts.permuted, num_hidden_layers=4, head_dim=8, sliding_window=9, layer_types=["full_attention"] + ["sliding_attention"] * 3,
        rope_parameters=LLAMA3) | dict(seed=74900, made=llama3_tensor),
    "gpt-neo": lambda: small(
        "gptneo", "GPTNeo", "gpt2 without biases of q, k and v, which are three tensors; scores are not scaled; a window of 9 in every second layer.",
        {"window": dict(window_size=30), "bias of out_proj": dict(zeroed="out_proj.bias"), "tanh": dict(activation_function="relu"),
         "positions": dict(zeroed="wpe.weight")},
        gpt_neo, kv=False, num_hidden_layers=4, attention_types=[[["global", "local"], 2]], window_size=9, max_position_embeddings=64)
    | dict(seed=75000, names=["gpt2", "exaone"]),
    "codegen": lambda: small(
        "gptj", "CodeGen", "gptj; the folder has one tensor with the queries, values and keys of each quarter of the heads.",
        {"rotary part": dict(rotary_dim=8), "tanh": dict(activation_function="relu"), "bias of logits": dict(zeroed="lm_head.bias"),
         "bias of fc_in": dict(zeroed="fc_in.bias")},
        codegen, codegen_layout, kv=False, n_inner=48, rotary_dim=4, tie_word_embeddings=False, activation_function="gelu_new") | dict(seed=75100),
    "falcon-mamba": lambda: small(
        "mamba", "FalconMamba", "mamba with norms without weights of step, B and C.",
        {**SPACE_WITHOUT, "bias of dt": dict(zeroed="dt_proj.bias"), "epsilon of these norms": dict(mixer_rms_eps=0.5)},
        falcon_mamba, mamba, kv=False, state_size=5, expand=2, conv_kernel=4,
        time_step_rank=4, num_attention_heads=0, layer_norm_epsilon=0.01, mixer_rms_eps=0.01, residual_in_fp32=False, intermediate_size=64,
        feed_forward=0) | dict(seed=75200),
    "bamba": lambda: small(
        "granitehybrid", "Bamba", "granitehybrid with a layer of attention that rotates the first half of each head, adjacent pairs; no scales.",
        {**SPACE_WITHOUT, "rope base 500": rope(500.0, partial_rotary_factor=0.5), "norm": dict(filled=("mamba.norm.weight", 1.0))},
        bamba, bamba_layout, kv=[0, 2, 0], num_hidden_layers=3, attn_layer_indices=[1], mamba_n_heads=8, mamba_n_groups=2, mamba_d_state=12,
        mamba_d_conv=4, mamba_expand=2, mamba_chunk_size=16, **rope(10000.0, partial_rotary_factor=0.5)) | dict(seed=75300),
    "internlm3": lambda: small(
        "llama", "Llama", "llama with biases on every product, and heads that are not as wide together as a row.",
        {f"bias of {name}": dict(zeroed=f"{name}.bias") for name in ("q_proj", "o_proj", "gate_proj", "down_proj")},
        llama, layouts.permuted, make=hf.InternLM3Config, head_dim=12, attention_bias=True, mlp_bias=True, **rope(10000.0)) | dict(seed=75400),
    "jais2": lambda: small(
        "jais2", "Jais2", "Layer norms and biases everywhere, half-split rope, the square of a rectifier without a gate.",
        {"rope base 500": rope(500.0), **{f"bias of {name}": dict(zeroed=f"{name}.bias") for name in ("v_proj", "o_proj", "up_proj", "down_proj", "norm")}},
        jais2, head_dim=8, num_key_value_heads=4, layer_norm_eps=1e-5, **rope(10000.0)) | dict(seed=75500),
    "bitnet": lambda: small(
        "bitnet", "BitNet", "llama with half-split rope and two norms more: of what attention gives, before attn_output, and of what the gate gives, before "
        "ffn_down. A key says that the gate's function is the square of the rectifier; without it, it is SiLU.",
        {"rope base 500": rope(500.0), "function": dict(hidden_act="silu"), "inner norm of attention": dict(filled=("attn_sub_norm.weight", 1.0)),
         "inner norm of the gate": dict(filled=("ffn_sub_norm.weight", 1.0))},
        lambda w, c: (bitnet(w, c), w.add_string("bitnet.hidden_activation", c.hidden_act)), bitnet_layout, hidden_act="relu2", **rope(10000.0))
    | dict(seed=75600),
}
