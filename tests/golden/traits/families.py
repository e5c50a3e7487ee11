"""Further cases of make.py, in the same form: families whose folders are read by particular rules. In place of changes of config.json there
may be a function of it, and behind it one of the tensors."""

import sys
from pathlib import Path

import transformers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "architectures"))
from further_cases import QWEN2_VISION, QWEN3_VISION, whole  # noqa: E402


def rope(base=10000.0, **more):
    return dict(rope_parameters=dict(rope_type="default", rope_theta=base) | more)


def of_whole(kind, vision, **settings):
    """Of a model that sees pictures."""
    return dict(settings, make=whole(kind, vision))


def flat(config):
    """The layout of folders before the text part had a separate object."""
    text = config.pop("text_config")
    parameters = text.pop("rope_parameters")
    return dict(text) | config | dict(rope_theta=parameters["rope_theta"], rope_scaling=dict(type="mrope", mrope_section=parameters["mrope_section"]))


def tied_within(config):
    """The text part alone says that the output's weights are the embeddings."""
    config["text_config"]["tie_word_embeddings"] = config.pop("tie_word_embeddings")
    return config


def turned(tensors):
    """Experts as published models have them."""
    return {key: a.transpose(1, 2).contiguous() if ".mlp.experts." in key else a for key, a in tensors.items()}


def first_names(config):
    """The names of the first release."""
    for new, old in (("num_hidden_layers", "num_layers"), ("rms_norm_eps", "layer_norm_epsilon"), ("hidden_act", "activation_function")):
        config[old] = config.pop(new)
    return config


def sarvam_published(config):
    """The names of the release."""
    for new, old in (("n_routed_experts", "num_experts"), ("n_shared_experts", "num_shared_experts"), ("attention_bias", "use_qkv_bias")):
        config[old] = config.pop(new)
    parameters = config.pop("rope_parameters")
    return config | dict(rope_theta=parameters["rope_theta"], rope_scaling=None, use_bias=False, score_function="sigmoid",
                         moe_router_enable_expert_bias=True)


def dots3_whole(**settings):
    """Of a model that reads pictures and sounds, too."""
    attention = {key: settings.pop(key) for key in ("attn_implementation", "experts_implementation")}
    tied = settings.pop("tie_word_embeddings")
    vision = dict(hidden_size=16, intermediate_size=16, moe_intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, patch_size=2,
                  mlp_layer_types=["dense"], adapter_in_dim=16, adapter_out_dim=32)
    audio = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, feature_size=8, downsample_hidden_size=4,
                 adapter_input_size=16, adapter_out_dim=32)
    return transformers.Dots3NoteConfig(text_config=dict(settings, pad_token_id=0), vision_config=vision, audio_config=audio, tie_word_embeddings=tied,
                                        image_token_id=1000, video_token_id=1001, audio_token_id=1002, **attention)


def released(config):
    """The members of the release: those of the text outside of an object, and those of layers with a window under other names."""
    text = config.pop("text_config")
    for which, (key, prefix) in dict(indexed_attention=("rope_theta", ""), sliding_attention=("rope_theta", "swa_")).items():
        text[prefix + key] = text["rope_parameters"][which]["rope_theta"]
    del text["rope_parameters"]
    text["layer_types"] = [kind.replace("indexed", "full") for kind in text["layer_types"]]
    own = next(iter(text.pop("per_layer_config").values()))
    text["sliding_window_size"] = text.pop("sliding_window")
    text["moe_shared_expert_intermediate_size"] = text.pop("shared_experts_intermediate_size")
    for key in ("num_attention_heads", "num_key_value_heads", "q_lora_rank", "kv_lora_rank", "head_dim", "qk_nope_head_dim", "v_head_dim"):
        text["swa_" + key] = own.get(key, text.get(key))
    text["first_k_dense_replace"] = text.pop("mlp_layer_types").count("dense")
    return text | config | dict(use_dsa=True, scoring_func="sigmoid", topk_method="noaux_tc", apply_mla_qkv_lora_rescale=True)


def sarvam_first(config):
    """The names of the first release."""
    for new, old in (("n_routed_experts", "num_experts"), ("n_shared_experts", "num_shared_experts")):
        config[old] = config.pop(new)
    scaling = config.pop("rope_parameters")
    base = scaling.pop("rope_theta")
    del scaling["rope_type"]
    return config | dict(rope_theta=base, rope_scaling=scaling | dict(type="deepseek_yarn"), head_dim=24, q_head_dim=20)


DOTS = dict(kv_lora_rank=16, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=12,
            n_group=1, topk_group=1, norm_topk_prob=True, pad_token_id=0, tie_word_embeddings=False)
MROPE = dict(mrope_section=[2, 1, 1])

FAMILIES = {
    "qwen2_5_vl-flat": ("Qwen2_5_VL", "qwen2vl", of_whole("Qwen2_5_VL", QWEN2_VISION, **rope(**MROPE)), flat),
    "qwen3_vl-tied": ("Qwen3VL", "qwen3vl", of_whole("Qwen3VL", QWEN3_VISION, head_dim=12, **rope(mrope_section=[3, 2, 1])), tied_within),
    "qwen3_vl_moe-turned": ("Qwen3VLMoe", "qwen3vlmoe", of_whole(
        "Qwen3VLMoe", QWEN3_VISION, head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12, tie_word_embeddings=False,
        **rope(**MROPE)), {}, turned),
    "mistral3-tied": ("Mistral3", "mistral3", of_whole(
        "Mistral3", dict(model_type="pixtral", hidden_size=16, intermediate_size=16, num_attention_heads=2, head_dim=8, num_hidden_layers=1,
                         patch_size=2), model_type="mistral", head_dim=12, sliding_window=None, **rope()), {}),
    "opt-gelu": ("OPT", "opt", dict(ffn_dim=48, word_embed_proj_dim=32, activation_function="gelu", max_position_embeddings=64), {}),
    "exaone-first": ("Exaone", "exaone", dict(tie_word_embeddings=False, **rope(rope_type="llama3", factor=4.0, low_freq_factor=1.0,
                                              high_freq_factor=4.0, original_max_position_embeddings=32)), first_names),
    "exaone_moe": ("ExaoneMoe", "exaone-moe", dict(
        num_hidden_layers=3, head_dim=8, sliding_window=5, layer_types=["sliding_attention", "full_attention", "sliding_attention"], num_experts=4,
        num_experts_per_tok=2, moe_intermediate_size=12, num_shared_experts=1, first_k_dense_replace=1, **rope()), {}),
    "granite_swa-base": ("GraniteSWA", "granite_swa", dict(
        sliding_window=5, layer_rope_theta=[0, 500.0], attention_multiplier=0.375, embedding_multiplier=2.5, residual_multiplier=0.4375,
        logits_scaling=1.25, **rope()), {}),
    "cwm-default-rope": ("Cwm", "llama", dict(
        num_hidden_layers=5, head_dim=8, sliding_window=5, rope_parameters=dict(
            rope_type="llama3", rope_theta=1000000.0, factor=16.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192)),
        dict(rope_parameters=None, layer_types=None)),
    "gpt_neo-default": ("GPTNeo", "gptneo", dict(
        num_hidden_layers=4, attention_types=[[["global", "local"], 2]], window_size=5, intermediate_size=None, max_position_embeddings=32), dict(
            attention_types=None, attention_layers=None)),
    "codegen-quarters": ("CodeGen", "gptj", dict(n_embd=64, n_head=8, n_inner=48, rotary_dim=4, tie_word_embeddings=False), {}),
    "falcon_mamba-epsilon": ("FalconMamba", "mamba", dict(
        state_size=5, expand=2, conv_kernel=4, time_step_rank=4, layer_norm_epsilon=1e-5, mixer_rms_eps=0.1, intermediate_size=64), {}),
    "bamba-rotary": ("Bamba", "granitehybrid", dict(
        num_hidden_layers=2, attn_layer_indices=[1], mamba_n_heads=4, mamba_n_groups=1, mamba_d_state=8, mamba_d_conv=4, mamba_expand=2,
        mamba_chunk_size=16, tie_word_embeddings=False, **rope(partial_rotary_factor=0.5)), dict(
            rope_parameters=None, rope_theta=10000.0, attn_rotary_emb=4)),
    "internlm3-biases": ("InternLM3", "llama", dict(head_dim=12, attention_bias=True, mlp_bias=True, **rope(rope_type="dynamic", factor=6.0)), {}),
    "jais2-unbiased": ("Jais2", "jais2", dict(head_dim=8, attention_bias=False, mlp_bias=False, layer_norm_eps=1e-5, **rope()), {}),
    "bitnet-silu": ("BitNet", "bitnet", dict(hidden_act="silu", **rope()), {}),
    "exaone4_5-factors": ("Exaone4_5_", "exaone4", of_whole(
        "Exaone4_5_", dict(QWEN2_VISION, num_key_value_heads=1), model_type="exaone4", head_dim=8, sliding_window=5, layer_types=["sliding_attention", "full_attention"],
        **rope(rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)), {}),
    "iquestcoder": ("IQuestCoder", "llama", dict(head_dim=12, attention_bias=True, tie_word_embeddings=False, **rope(500000.0)), dict(
        rope_parameters=None, rope_theta=500000.0, use_sliding_window=False)),
    "gpt_sw3": ("GPT2", "gpt2", dict(activation_function="gelu", max_position_embeddings=64), dict(model_type="gpt-sw3", n_inner=None)),
    "youtu-queries": ("Youtu", "deepseek2", dict(
        q_lora_rank=None, kv_lora_rank=16, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, num_key_value_heads=4, pad_token_id=0,
        tie_word_embeddings=False, **rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=128, mscale=1.0, mscale_all_dim=1.0)), {}),
    "mellum-default-rope": ("Mellum", "mellum", dict(
        head_dim=8, sliding_window=5, layer_types=["full_attention", "sliding_attention"], num_experts=4, num_experts_per_tok=2,
        moe_intermediate_size=12, norm_topk_prob=False), dict(rope_parameters=None)),
    "mellum-whole": ("Mellum", "mellum", dict(
        head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12, rope_parameters=dict(full_attention=dict(
            rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=128, attention_factor=1.25))), dict(layer_types=None)),
    "sarvam_moe-published": ("SarvamMoE", "bailingmoe2", dict(
        head_dim=8, num_hidden_layers=3, n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=16, n_shared_experts=2,
        first_k_dense_replace=1, pad_token_id=0, tie_word_embeddings=False, **rope(partial_rotary_factor=1.0)), sarvam_published),
    "cohere2_moe-pattern": ("Cohere2Moe", "cohere2moe", dict(
        num_hidden_layers=6, head_dim=8, sliding_window=5, layer_norm_eps=1e-5, rms_norm_eps=None, first_k_dense_replace=2, sliding_window_pattern=2,
        num_experts=4, num_experts_per_tok=2, intermediate_size=12, prefix_dense_intermediate_size=None, num_shared_experts=1,
        expert_selection_fn="softmax", logit_scale=0.25, pad_token_id=0, **rope()), dict(
            layer_types=None, mlp_layer_types=None, first_k_dense_replace=2)),
    "sarvam_mla-first": ("SarvamMLA", "deepseek2", dict(
        DOTS, num_key_value_heads=4, n_shared_experts=1, first_k_dense_replace=1, q_lora_rank=None, routed_scaling_factor=1.5,
        **rope(rope_type="yarn", factor=4.0, mscale=1.0, mscale_all_dim=1.0, beta_fast=32, beta_slow=1, original_max_position_embeddings=128)), sarvam_first),
    "dots3_note-release": ("Dots3Note", "dots3note", dict(
        DOTS, make=dots3_whole, num_hidden_layers=3, num_key_value_heads=4, q_lora_rank=20, head_dim=20, n_shared_experts=2, shared_experts_intermediate_size=16,
        routed_scaling_factor=1.5, index_topk=32, index_head_dim=16, index_n_heads=2, sliding_window=5,
        layer_types=["indexed_attention", "sliding_attention", "indexed_attention"], mlp_layer_types=["dense", "sparse", "sparse"],
        per_layer_config={1: dict(num_attention_heads=6, num_key_value_heads=6, kv_lora_rank=12, head_dim=14, qk_nope_head_dim=6, v_head_dim=8)},
        rope_parameters={"indexed_attention": dict(rope_type="default", rope_theta=10000.0), "sliding_attention": dict(rope_type="default", rope_theta=500.0)}), released),
    "laguna-default": ("Laguna", "laguna", dict(
        num_hidden_layers=3, head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12, shared_expert_intermediate_size=16, gating="per-element",
        moe_routed_scaling_factor=1.5, pad_token_id=0, tie_word_embeddings=False), dict(
            rope_parameters=None, layer_types=None, mlp_layer_types=None, num_attention_heads_per_layer=None)),
}
