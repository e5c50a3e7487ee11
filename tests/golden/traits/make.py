#!/usr/bin/env python3
"""Tiny models with a trait that few of their kind have, as folders of today's transformers, with the logits that it computes.

For every case it writes the folder NAME, NAME.json and NAME.logits.f32. See README.md. Versions: ../requirements-5.txt.

    python make.py [case ...]
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "architectures"))
from make import ORACLE, fill, logits_of, router_margin  # noqa: E402
from families import FAMILIES  # noqa: E402

N_TOKENS = 20

COMMON = dict(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
              num_key_value_heads=2, max_position_embeddings=512, rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2,
              tie_word_embeddings=True, attn_implementation="eager", experts_implementation="eager")

MAMBA = dict(mamba_n_heads=4, mamba_d_head=16, mamba_expand=2, mamba_d_state=8, mamba_n_groups=1, mamba_d_conv=4,
             mamba_conv_bias=True, mamba_proj_bias=False, mamba_chunk_size=16)
GRANITE = dict(embedding_multiplier=2.5, residual_multiplier=0.4375, attention_multiplier=0.375, logits_scaling=1.25)
NEMOTRON_H = dict(head_dim=8, mamba_num_heads=4, mamba_head_dim=16, ssm_state_size=8, n_groups=2, conv_kernel=4, chunk_size=16,
                  layer_norm_epsilon=1e-5, tie_word_embeddings=False)
GLM = dict(head_dim=8, attention_bias=True, use_qk_norm=True, n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=16,
           n_shared_experts=1, first_k_dense_replace=1, routed_scaling_factor=1.5)
QWEN = dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=16)
LLAMA4 = dict(num_hidden_layers=4, head_dim=8, intermediate_size=8, intermediate_size_mlp=24, num_local_experts=3,
              num_experts_per_tok=1, interleave_moe_layer_step=2, attention_chunk_size=8, floor_scale=4, attn_scale=0.5,
              attention_bias=False)

# Name: name of the classes, architecture as fill() knows it, settings of its configuration, changes of config.json (None takes a
# member away).
CASES = {
    "gemma3-softcaps": ("Gemma3", "gemma3", dict(
        num_hidden_layers=3, head_dim=16, num_attention_heads=2, num_key_value_heads=1, query_pre_attn_scalar=16,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"], sliding_window=8, attn_logit_softcapping=2.0,
        final_logit_softcapping=3.0), {}),
    "apertus-default-rope": ("Apertus", "apertus", dict(rope_parameters=dict(
        rope_type="llama3", rope_theta=12000000.0, factor=8.0, original_max_position_embeddings=8192, low_freq_factor=1.0,
        high_freq_factor=4.0)), dict(rope_parameters=None, rope_theta=None, rope_scaling=None)),
    "gpt_oss-default-rope": ("GptOss", "gpt-oss", dict(
        intermediate_size=16, head_dim=16, num_attention_heads=4, num_key_value_heads=1, num_local_experts=3, num_experts_per_tok=2,
        sliding_window=8), dict(rope_parameters=None)),
    "llama-dynamic": ("Llama", "llama", dict(rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, factor=4.0)), {}),
    "llama-attention_factor": ("Llama", "llama", dict(rope_parameters=dict(
        rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=128, attention_factor=1.5)), {}),
    "nemotron_h-steps": ("NemotronH", "nemotron_h", dict(
        NEMOTRON_H, layers_block_type=["linear_attention", "full_attention", "mlp"], time_step_min=0.4), {}),
    "mamba2-steps": ("Mamba2", "mamba2", dict(
        num_heads=4, head_dim=16, expand=2, state_size=8, n_groups=1, conv_kernel=4, chunk_size=16, layer_norm_epsilon=1e-5,
        time_step_limit=(0.1, 0.5)), {}),
    "nemotron_h-latent_experts": ("NemotronH", "nemotron_h", dict(
        NEMOTRON_H, layers_block_type=["mlp", "linear_attention", "moe"], n_routed_experts=6, num_experts_per_tok=2, n_group=2, topk_group=1,
        moe_latent_size=16, moe_intermediate_size=16, moe_shared_expert_intermediate_size=24, norm_topk_prob=False), {}),
    "granitemoehybrid-steps": ("GraniteMoeHybrid", "granitehybrid", dict(
        MAMBA, **GRANITE, num_hidden_layers=2, layer_types=["linear_attention", "full_attention"], shared_intermediate_size=32,
        num_local_experts=0, num_experts_per_tok=0, position_embedding_type="rope", attention_bias=True, time_step_limit=(0.0, 0.3)), {}),
    "falcon_h1-steps": ("FalconH1", "falcon-h1", dict(
        mamba_d_ssm=32, mamba_n_heads=4, mamba_d_head=8, mamba_n_groups=1, mamba_d_state=8, mamba_d_conv=4, mamba_chunk_size=16, head_dim=8,
        mamba_expand=2, time_step_limit=(0.4, float("inf"))), {}),
    "ministral3-default-rope": ("Ministral3", "mistral3", dict(head_dim=8, tie_word_embeddings=False), dict(rope_parameters=None)),
    "gpt2-erf": ("GPT2", "gpt2", dict(activation_function="gelu", n_inner=48, max_position_embeddings=64), {}),
    "nemotron_h-experts": ("NemotronH", "nemotron_h", dict(
        NEMOTRON_H, layers_block_type=["linear_attention", "moe", "full_attention", "moe"], n_routed_experts=6, num_experts_per_tok=2,
        n_shared_experts=1, moe_intermediate_size=16, moe_shared_expert_intermediate_size=24, routed_scaling_factor=1.5), {}),
    "granitemoehybrid-h": ("GraniteMoeHybrid", "granitehybrid", dict(
        MAMBA, **GRANITE, num_hidden_layers=2, layer_types=["linear_attention", "full_attention"], shared_intermediate_size=32,
        intermediate_size=16, num_local_experts=4, num_experts_per_tok=2, position_embedding_type=None), {}),
    "granite-biases": ("Granite", "granite", dict(GRANITE, mlp_bias=True, attention_bias=True), {}),
    "gpt_neox-tanh": ("GPTNeoX", "gptneox", dict(
        hidden_act="gelu_fast", use_parallel_residual=True, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5)), {}),
    "llama4-no-head-norms": ("Llama4Text", "llama4", dict(LLAMA4, use_qk_norm=False), {}),
    "glm4_moe-groups": ("Glm4Moe", "glm4moe", dict(GLM, n_group=3, topk_group=2, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5)), {}),
    "glm4_moe-wide": ("Glm4Moe", "glm4moe", dict({**GLM, "n_routed_experts": 4}, hidden_size=64, rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5)), {}),
    "qwen2_moe-shares": ("Qwen2Moe", "qwen2moe", dict(QWEN, shared_expert_intermediate_size=24, norm_topk_prob=True), {}),
    "qwen3_moe-shares": ("Qwen3Moe", "qwen3moe", dict(QWEN, head_dim=8, norm_topk_prob=False), {}),
    "olmoe-shares": ("Olmoe", "olmoe", dict(num_experts=5, num_experts_per_tok=2, intermediate_size=16, norm_topk_prob=True), {}),
} | FAMILIES

# Of configurations with classes that are others' for the rest.
MODELS = {"GPT2": "GPT2LMHeadModel", "Exaone": "LlamaForCausalLM", "InternLM3": "LlamaForCausalLM",
          "IQuestCoder": "LlamaForCausalLM", "SarvamMoE": "Glm4MoeForCausalLM", "SarvamMLA": "DeepseekV3ForCausalLM"}


def build(name, seed):
    kind, arch, settings = CASES[name][:3]
    config = settings.get("make") or getattr(transformers, "Gemma3TextConfig" if kind == "Gemma3" else f"{kind}Config")
    end = "ForConditionalGeneration" if "make" in settings else "ForCausalLM"
    model_class = getattr(transformers, MODELS.get(kind, kind.removesuffix("Text") + end))
    model = model_class(config(**{key: value for key, value in (COMMON | settings).items() if key != "make"})).double().eval()
    fill(model, arch, seed)
    selection = [b for n, b in model.named_buffers() if n.endswith("e_score_correction_bias")]
    for p in [*model.parameters(), *selection]:  # exact in the type of the folder
        p.data.copy_(p.data.to(torch.bfloat16).double())
    return model


def main():
    seeds = {name: start + 10 * index for start, cases in ((1000, CASES), (3000, FAMILIES)) for index, name in enumerate(cases)}
    for name in CASES:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        settings, changes = CASES[name][2:4]
        seed = seeds[name]
        while True:  # a draw where no token is near a change of experts
            tokens = [1] + [int(t) for t in np.random.default_rng(seed).integers(3, COMMON["vocab_size"], N_TOKENS - 1)]
            model = build(name, seed)
            margin = router_margin(dict(config=settings), model, tokens)
            if margin is None or margin > 0.005:
                break
            seed += 1
        logits = logits_of(model, tokens)
        logits.astype("<f4").tofile(HERE / f"{name}.logits.f32")
        info = {"case": name, "tokens": tokens, "oracle": ORACLE, "seed": seed, "logits_std": round(float(logits.std()), 3)}
        (HERE / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")
        shutil.rmtree(HERE / name, ignore_errors=True)
        model.to(torch.bfloat16).save_pretrained(HERE / name)
        path = HERE / name / "config.json"
        config = json.loads(path.read_text())
        if callable(changes):
            config, changes = changes(config), {}
        for key, value in changes.items():
            config.pop(key, None)
            if value is not None:
                config[key] = value
        path.write_text(json.dumps(config, indent=2) + "\n")
        for change in CASES[name][4:]:
            weights = HERE / name / "model.safetensors"
            save_file(change(load_file(weights)), weights, metadata=dict(format="pt"))
        for file in (HERE / name).iterdir():
            file.chmod(0o644)
        print(f"{name:24} {sum(f.stat().st_size for f in (HERE / name).iterdir()):7} bytes, std {logits.std():.2f}", flush=True)


if __name__ == "__main__":
    main()
