#!/usr/bin/env python3
"""Tiny models as Hugging Face folders, written by save_pretrained, with the logits that transformers computes.

For every case it writes the folder NAME, NAME.json and NAME.logits.f32. See README.md. Versions: ../requirements.txt.

    python make.py [case ...]
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import (BertConfig, BertModel, DeepseekV3Config, DeepseekV3ForCausalLM, FalconConfig, FalconForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig, Glm4MoeConfig,
                          Glm4MoeForCausalLM, GPT2Config, GPT2LMHeadModel, GptOssConfig, GptOssForCausalLM, GraniteMoeHybridConfig,
                          GraniteMoeHybridForCausalLM, Llama4ForCausalLM, Llama4TextConfig, LlamaConfig, LlamaForCausalLM, MixtralConfig, MixtralForCausalLM,
                          Qwen2Config, Qwen2ForCausalLM)

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "architectures"))
from make import ORACLE, fill, logits_of, router_margin  # noqa: E402

# make.py has made torch.float32 mean float64.
FLOAT32 = torch.from_numpy(np.zeros(1, np.float32)).dtype

N_TOKENS = 20

COMMON = dict(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
              num_key_value_heads=2, max_position_embeddings=512, rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2,
              tie_word_embeddings=True, attn_implementation="eager")

# Name: architecture as fill() knows it, model, configuration, type of the weights, size of a shard, settings.
CASES = {
    "llama": ("llama", LlamaForCausalLM, LlamaConfig, torch.bfloat16, "12KB", dict(
        tie_word_embeddings=False, rope_theta=500000.0,
        rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                          original_max_position_embeddings=64))),
    "mixtral": ("llama", MixtralForCausalLM, MixtralConfig, torch.float16, "20KB", dict(
        num_local_experts=4, num_experts_per_tok=2, sliding_window=8)),
    "qwen2": ("qwen2", Qwen2ForCausalLM, Qwen2Config, torch.bfloat16, "1GB", dict(use_sliding_window=False)),
    "gemma3": ("gemma3", Gemma3ForCausalLM, Gemma3TextConfig, torch.bfloat16, "1GB", dict(
        num_hidden_layers=3, head_dim=16, num_attention_heads=2, num_key_value_heads=1, query_pre_attn_scalar=16,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"], sliding_window=8, rope_theta=1000000.0,
        rope_local_base_freq=10000.0, rope_scaling=dict(rope_type="linear", factor=4.0))),
    "gpt_oss": ("gpt-oss", GptOssForCausalLM, GptOssConfig, torch.bfloat16, "1GB", dict(
        intermediate_size=16, head_dim=16, num_attention_heads=4, num_key_value_heads=1, num_local_experts=3, num_experts_per_tok=2,
        sliding_window=8, rope_theta=150000.0,
        rope_scaling=dict(rope_type="yarn", factor=8.0, beta_fast=32.0, beta_slow=1.0, truncate=False,
                          original_max_position_embeddings=64))),
    "granitemoehybrid": ("granitehybrid", GraniteMoeHybridForCausalLM, GraniteMoeHybridConfig, torch.bfloat16, "1GB", dict(
        num_hidden_layers=2, layer_types=["mamba", "attention"], shared_intermediate_size=32, num_local_experts=0,
        num_experts_per_tok=0, mamba_n_heads=4, mamba_d_head=16, mamba_expand=2, mamba_d_state=8, mamba_n_groups=1, mamba_d_conv=4,
        mamba_conv_bias=True, mamba_proj_bias=False, mamba_chunk_size=16, position_embedding_type="nope",
        embedding_multiplier=2.5, residual_multiplier=0.4375, attention_multiplier=0.375, logits_scaling=1.25)),
    "bert": ("bert", lambda config: BertModel(config, add_pooling_layer=True), BertConfig, FLOAT32, "1GB", dict(
        num_hidden_layers=1, max_position_embeddings=32, hidden_act="gelu", layer_norm_eps=1e-12)),
    "gpt2": ("gpt2", GPT2LMHeadModel, GPT2Config, torch.float16, "1GB", dict(max_position_embeddings=32, n_inner=48)),
    "falcon": ("falcon", FalconForCausalLM, FalconConfig, torch.bfloat16, "1GB", dict(
        new_decoder_architecture=True, num_kv_heads=2, ffn_hidden_size=64, bias=False, alibi=False)),
    "glm4_moe": ("glm4moe", Glm4MoeForCausalLM, Glm4MoeConfig, torch.bfloat16, "1GB", dict(
        head_dim=8, partial_rotary_factor=0.5, attention_bias=True, use_qk_norm=True, n_routed_experts=5, num_experts_per_tok=2,
        moe_intermediate_size=16, n_shared_experts=1, first_k_dense_replace=1, routed_scaling_factor=1.5, norm_topk_prob=True)),
    "deepseek_v3": ("deepseek2", DeepseekV3ForCausalLM, DeepseekV3Config, torch.bfloat16, "1GB", dict(
        rms_norm_eps=1e-6, q_lora_rank=12, kv_lora_rank=16, qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=10, num_key_value_heads=4,
        n_routed_experts=4, n_group=1, topk_group=1, num_experts_per_tok=2, moe_intermediate_size=16, n_shared_experts=1,
        first_k_dense_replace=1, routed_scaling_factor=1.5, norm_topk_prob=True)),
    "llama4": ("llama4", Llama4ForCausalLM, Llama4TextConfig, torch.bfloat16, "1GB", dict(
        num_hidden_layers=4, head_dim=8, intermediate_size=8, intermediate_size_mlp=24, num_local_experts=3, num_experts_per_tok=1,
        interleave_moe_layer_step=2, attention_chunk_size=8, floor_scale=4, attn_scale=0.5, attention_bias=False)),
}


def build(case, seed):
    arch, model, config, dtype, _, settings = case
    model = model(config(**{**COMMON, **settings})).double().eval()
    fill(model, arch, seed)
    selection = [b for name, b in model.named_buffers() if name.endswith("e_score_correction_bias")]
    for p in [*model.parameters(), *selection]:  # exact in the type of the folder
        p.data.copy_(p.data.to(dtype).double())
    return model


def main():
    for index, (name, case) in enumerate(CASES.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        arch, _, _, dtype, shard, settings = case
        seed = 10 * (index + 1)
        while True:  # a draw where no token is near a change of experts
            tokens = [1] + [int(t) for t in np.random.default_rng(seed).integers(3, COMMON["vocab_size"], N_TOKENS - 1)]
            model = build(case, seed)
            margin = router_margin(dict(config=settings), model, tokens)
            if margin is None or margin > 0.02:
                break
            seed += 1
        logits = logits_of(model, tokens)
        logits.astype("<f4").tofile(HERE / f"{name}.logits.f32")
        info = {"case": name, "tokens": tokens, "oracle": ORACLE, "seed": seed, "logits_std": round(float(logits.std()), 3)}
        (HERE / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")
        shutil.rmtree(HERE / name, ignore_errors=True)
        model.to(dtype).save_pretrained(HERE / name, max_shard_size=shard)
        for file in (HERE / name).iterdir():
            file.chmod(0o644)
        print(f"{name:18} {sum(f.stat().st_size for f in (HERE / name).iterdir()):7} bytes, std {logits.std():.2f}")


if __name__ == "__main__":
    main()
