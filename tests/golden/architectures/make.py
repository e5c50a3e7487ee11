#!/usr/bin/env python3
"""Tiny random models of each architecture, with the logits that transformers computes for them.

For every case it writes NAME.gguf (F32 weights, laid out as llama.cpp's converter does),
NAME.json and NAME.logits.f32. See README.md. Versions: ../requirements.txt.

    python make.py [case ...]
"""

import json
import math
import sys
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers
from transformers import (BertConfig, BertModel, Ernie4_5Config, Ernie4_5ForCausalLM, Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM,
                          Gemma3TextConfig, GemmaConfig, GemmaForCausalLM, GptOssConfig, GptOssForCausalLM,
                          GraniteConfig, GraniteForCausalLM, GraniteMoeHybridConfig, GraniteMoeHybridForCausalLM,
                          LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, MixtralConfig,
                          MixtralForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM,
                          Qwen3MoeConfig, Qwen3MoeForCausalLM, SeedOssConfig, SeedOssForCausalLM, SmolLM3Config,
                          SmolLM3ForCausalLM)
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaMLP

HERE = Path(__file__).resolve().parent
ORACLE = f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}, eager attention, float64"

# The models ask for float32 in norms, softmax, router, rotary tables and recurrent layers even when the
# weights are double. Here "float32" means float64 while a model is built and run, so that nothing is rounded.
torch.float32 = torch.float = torch.float64
torch.Tensor.float = torch.Tensor.double
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

# ---------------------------------------------------------------- tokenizer: a small "llama" vocabulary

PIECES = ["\u2581", "\u2581a", "e", "t", "a", "o", "n", "i", "th", "in", "\u2581th", "the", "\u2581the"]


def vocabulary():
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + PIECES
    scores = [0.0] * 259 + [-float(i) for i in range(len(PIECES))]
    types = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    types += [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(PIECES)
    return tokens, scores, types


def word_pieces():
    """Of the "bert" tokenizer: pieces that begin a word begin with U+2581, others go on."""
    signs = [chr(c) for c in range(ord("!"), ord("~") + 1)]
    words = ["the", "and", "of", "to", "in", "fox", "lion"]
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + ["\u2581" + s for s in signs + words] + signs


N_VOCAB = len(vocabulary()[0])
N_TOKENS = 40

# ---------------------------------------------------------------- cases

COMMON = dict(vocab_size=N_VOCAB, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
              num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=2048,
              rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False)


def case(arch, model, config, note, without, **settings):
    """`without`: changes of the configuration that must change the logits, to prove that the case sees them."""
    return dict(arch=arch, model=model, config={**COMMON, **settings}, make=config, note=note, without=without)


CASES = {
    "llama2": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "Plain Llama: grouped heads, adjacent-pair rope (q and k rows permuted), separate output matrix.",
        {"rope base 500": dict(rope_theta=500.0), "epsilon 0.1": dict(rms_norm_eps=0.1)}),
    "llama3": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "rope_freqs.weight holds a divisor per frequency (1 for short waves, factor for long ones, smooth between: "
        "here 3, 3 and 26 frequencies); the angle is position * base^(-2i/d) / rope_freqs[i]. Tied embeddings: no output.weight. "
        "head_dim 64, one kv head for two query heads; head_dim * heads != hidden.",
        {"rope_freqs": dict(rope_scaling=None)},
        num_attention_heads=2, num_key_value_heads=1, head_dim=64, intermediate_size=64, rope_theta=500000.0, tie_word_embeddings=True,
        rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                          original_max_position_embeddings=64)),
    "mistral": lambda: case(
        "llama", MistralForCausalLM, MistralConfig,
        "Sliding window 12 in every layer: position i sees j when 0 <= i - j < 12. Mistral converts to architecture llama; "
        "the converter of llama.cpp writes no window for it, this file does: llama.attention.sliding_window.",
        {"window": dict(sliding_window=None), "window 13": dict(sliding_window=13)},
        head_dim=16, intermediate_size=64, sliding_window=12),
    "smollm": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "SmolLM shape: 3 query heads over 1 kv head, tied embeddings, hidden 48.",
        {"rope base 10000": dict(rope_theta=10000.0)},
        hidden_size=48, num_attention_heads=3, num_key_value_heads=1, rope_theta=100000.0,
        tie_word_embeddings=True),
    "llama-linear": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "llama.rope.scaling.type = linear, factor 4: positions are divided by 4. As many kv heads as query heads.",
        {"scaling": dict(rope_scaling=None)},
        num_key_value_heads=4, intermediate_size=64, tie_word_embeddings=True,
        rope_scaling=dict(rope_type="linear", factor=4.0)),
    "llama-yarn": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "llama.rope.scaling.type = yarn, factor s = 4, original context L = 512, beta_fast 32, beta_slow 1 (defaults, not written). "
        "dim(r) = d * ln(L / (2 pi r)) / (2 ln base), d = head_dim; low = max(0, floor(dim(beta_fast))), "
        "high = min(d - 1, ceil(dim(beta_slow))): floor and ceil are taken (HF truncate = true); here low = 1, high = 8. "
        "ramp(i) = clamp((i - low) / (high - low), 0, 1) over the pair index i = 0 .. d/2 - 1. "
        "frequency(i) = base^(-2i/d) * ((1 - ramp(i)) + ramp(i) / s). "
        "Both cos and sin are multiplied by the attention factor 0.1 ln(s) + 1 = 1.13863, on q and on k, "
        "so attention scores grow by its square. No attn_factor key is written: it is derived from the factor.",
        {"scaling": dict(rope_scaling=None),
         "floor and ceil": dict(rope_scaling=dict(rope_type="yarn", factor=4.0, truncate=False,
                                                  original_max_position_embeddings=512)),
         "attention factor": dict(rope_scaling=dict(rope_type="yarn", factor=4.0, attention_factor=1.0,
                                                    original_max_position_embeddings=512))},
        num_attention_heads=2, num_key_value_heads=1, intermediate_size=64, tie_word_embeddings=True,
        rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=512)),
    "qwen2": lambda: case(
        "qwen2", Qwen2ForCausalLM, Qwen2Config,
        "Biases on q, k and v; half-split rope (rows not permuted); no rope scaling; tied embeddings.",
        {"rope base 10000": dict(rope_theta=10000.0)},
        rope_theta=1000000.0, rms_norm_eps=1e-6, use_sliding_window=False, intermediate_size=64,
        tie_word_embeddings=True),
    "qwen3": lambda: case(
        "qwen3", Qwen3ForCausalLM, Qwen3Config,
        "RMS norm over each head of q and of k before rope; head_dim 24 with hidden 64 and 4 heads; tied embeddings.",
        {"rope base 10000": dict(rope_theta=10000.0)},
        head_dim=24, intermediate_size=64, rope_theta=1000000.0, rms_norm_eps=1e-6, tie_word_embeddings=True),
    "gemma2": lambda: case(
        "gemma2", Gemma2ForCausalLM, Gemma2Config,
        "Norms before and after attention and feed-forward; GeGLU with the tanh approximation; embeddings multiplied by sqrt(hidden); "
        "query scale 1/sqrt(head_dim); attention soft cap 4 (before the mask), final soft cap 6; window 10 in layers 0 and 2, "
        "none in layer 1; half-split rope; norm weights are stored with the 1 added; tied embeddings. "
        "The converter writes no rope.freq_base and no rope.dimension_count for gemma2: base 10000 over head_dim is implied.",
        {"window": dict(sliding_window=4096), "window 11": dict(sliding_window=11),
         "attention soft cap": dict(attn_logit_softcapping=None),
         "final soft cap": dict(final_logit_softcapping=None), "scale of hidden/heads": dict(query_pre_attn_scalar=12),
         "tanh": dict(hidden_activation="gelu")},
        hidden_size=48, head_dim=16, intermediate_size=64, num_hidden_layers=3, rms_norm_eps=1e-6,
        query_pre_attn_scalar=16, attn_logit_softcapping=4.0, final_logit_softcapping=6.0, sliding_window=10,
        tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh"),
    "mixtral": lambda: case(
        "llama", MixtralForCausalLM, MixtralConfig,
        "4 experts, 2 used: softmax over all router logits, the best 2 kept and divided by their sum (the same as a softmax over "
        "the best 2). gate = w1, down = w2, up = w3, stacked per layer. Feed-forward length is that of an expert. "
        "head_dim 12, hidden 48.",
        {"two experts (top 1)": dict(num_experts_per_tok=1)},
        hidden_size=48, intermediate_size=32, num_local_experts=4, num_experts_per_tok=2, rope_theta=1000000.0, sliding_window=None),
    "qwen3moe": lambda: case(
        "qwen3moe", Qwen3MoeForCausalLM, Qwen3MoeConfig,
        "6 experts of length 16, 3 used: softmax over all, best 3 kept and divided by their sum (norm_topk_prob; no key says so: "
        "the architecture implies it); q and k norms; head_dim 24; tied embeddings. feed_forward_length is written but no layer uses it.",
        {"division by the sum": dict(norm_topk_prob=False)},
        head_dim=24, intermediate_size=96, moe_intermediate_size=16, num_experts=6, num_experts_per_tok=3,
        norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[], rope_theta=1000000.0, rms_norm_eps=1e-6,
        tie_word_embeddings=True),
    "llama-biases": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "attention_bias and mlp_bias: biases on q, k, v (those of q and k permuted as their rows), on the output of attention, and on "
        "gate, up and down of the feed-forward part. Tied embeddings.",
        {f"bias of {name}": dict(zeroed=f"{name}_proj.bias") for name in ("q", "k", "v", "o", "gate", "up", "down")},
        intermediate_size=64, attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
    "gpt-oss": lambda: case(
        "gpt-oss", GptOssForCausalLM, GptOssConfig,
        "A sink per head: one more term exp(sink) in the sum of the softmax, without a value. Window 10 in layer 0, none in "
        "layer 1. Biases on q, k, v, on the output of attention, on the router and on the products of the experts (stacked, "
        "[experts, size]). 5 experts, 3 used: softmax over the best 3, the same as over all and then divided by their sum. "
        "gate and up are interleaved in the model and separate in the file; with g = min(gate, 7) and u = clamp(up, -7, 7) an expert "
        "gives down(g sigmoid(1.702 g) (u + 1)). yarn with truncate = false: the ends of the ramp are not rounded; no key says so, the "
        "architecture implies it. The norm before the feed-forward part is named post_attention_norm.",
        {"sinks": dict(zeroed="self_attn.sinks"), "window": dict(sliding_window=4096), "window 11": dict(sliding_window=11),
         "limit": dict(modules=dict(limit=1e9)), "1.702": dict(modules=dict(alpha=1.0)),
         "floor and ceil": dict(rope_scaling=dict(rope_type="yarn", factor=8.0, beta_fast=32.0, beta_slow=1.0, truncate=True,
                                                  original_max_position_embeddings=256)),
         **{f"bias of {name}": dict(zeroed=name + "bias")
            for name in ("q_proj.", "o_proj.", "router.", "gate_up_proj_", "down_proj_")}},
        num_attention_heads=4, num_key_value_heads=1, head_dim=16, intermediate_size=32, tie_word_embeddings=True,
        num_local_experts=5, num_experts_per_tok=3, sliding_window=10, rope_theta=150000.0,
        rope_scaling=dict(rope_type="yarn", factor=8.0, beta_fast=32.0, beta_slow=1.0, truncate=False,
                          original_max_position_embeddings=256)),
    "llama-layers": lambda: case(
        "llama", LlamaForCausalLM, LlamaConfig,
        "Layers of different sizes: head_count, head_count_kv and feed_forward_length are arrays with a number for each layer. "
        "head_dim 16; tied embeddings.",
        {"rope base 500": dict(rope_theta=500.0)},
        head_dim=16, tie_word_embeddings=True,
        layers=[dict(num_attention_heads=4, num_key_value_heads=2, intermediate_size=64),
                dict(num_attention_heads=3, num_key_value_heads=3, intermediate_size=40),
                dict(num_attention_heads=6, num_key_value_heads=1, intermediate_size=72)]),
    "smollm3": lambda: case(
        "smollm3", SmolLM3ForCausalLM, SmolLM3Config,
        "Every fourth layer has no rotary embedding; no key says so: the architecture implies it. q and k rows permuted as for llama. "
        "Tied embeddings.",
        {"layers without rope": dict(no_rope_layer_interval=3)},
        num_hidden_layers=4, hidden_size=48, intermediate_size=48, num_attention_heads=3, num_key_value_heads=1,
        rope_theta=2000000.0, no_rope_layer_interval=4, use_sliding_window=False, pad_token_id=0, tie_word_embeddings=True),
    "gemma": lambda: case(
        "gemma", GemmaForCausalLM, GemmaConfig,
        "GeGLU with the tanh approximation; embeddings multiplied by sqrt(hidden); norm weights are stored with the 1 added; one kv "
        "head; head_dim 24; half-split rope; tied embeddings. No rope.freq_base is written: 10000 is implied.",
        {"rope base 500": dict(rope_theta=500.0), "tanh": dict(hidden_act="gelu", hidden_activation="gelu")},
        hidden_size=48, head_dim=24, intermediate_size=64, num_key_value_heads=1, rms_norm_eps=1e-6,
        tie_word_embeddings=True, hidden_act="gelu_pytorch_tanh", hidden_activation="gelu_pytorch_tanh"),
    "gemma3": lambda: case(
        "gemma3", Gemma3ForCausalLM, Gemma3TextConfig,
        "As gemma2 without soft caps, with norms on q and k. Layers 0 to 4 have a window of 10 and rotate with base 10000 and without "
        "scaling, which no key says; layer 5 sees all and rotates with the base of the file and linear scaling, factor 4. Norm weights "
        "are stored with the 1 added, those of q and k too.",
        {"window": dict(sliding_window=4096), "window 11": dict(sliding_window=11), "scaling": dict(rope_scaling=None),
         "local base": dict(rope_local_base_freq=1000000.0), "scale of hidden/heads": dict(query_pre_attn_scalar=24)},
        hidden_size=48, head_dim=16, intermediate_size=32, num_hidden_layers=6, num_attention_heads=2, num_key_value_heads=1,
        rms_norm_eps=1e-6, query_pre_attn_scalar=16, sliding_window=10, rope_theta=1000000.0, rope_local_base_freq=10000.0,
        rope_scaling=dict(rope_type="linear", factor=4.0), tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh"),
    "seed-oss": lambda: case(
        "seed_oss", SeedOssForCausalLM, SeedOssConfig,
        "Biases on q, k and v but not on the output; head_dim 24; half-split rope; the norm before the feed-forward part is named "
        "post_attention_norm; tied embeddings.",
        {f"bias of {name}": dict(zeroed=f"{name}_proj.bias") for name in ("q", "k", "v")},
        head_dim=24, intermediate_size=64, rope_theta=10000000.0, rms_norm_eps=1e-6, attention_bias=True,
        attention_out_bias=False, mlp_bias=False, attention_dropout=0.0, residual_dropout=0.0, tie_word_embeddings=True),
    "ernie4_5": lambda: case(
        "ernie4_5", Ernie4_5ForCausalLM, Ernie4_5Config,
        "Rope over adjacent pairs with rows that are not permuted: the model itself has them so. head_dim 16; tied embeddings.",
        {"rope base 10000": dict(rope_theta=10000.0)},
        head_dim=16, intermediate_size=64, rope_theta=500000.0, use_bias=False, tie_word_embeddings=True),
    "granitehybrid": lambda: case(
        "granitehybrid", GraniteMoeHybridForCausalLM, GraniteMoeHybridConfig,
        "Mamba-2 in layers 0, 2 and 3, attention in layer 1: head_count_kv is an array with 0 for a recurrent layer. ssm_in gives "
        "z (128), x (128), B (16), C (16) and dt (8 heads) in this order; x, B and C pass a causal convolution over 4 tokens per channel "
        "(the last tap is that of the present token), its bias and silu. With t = softplus(dt + ssm_dt.bias) and a = ssm_a (negative, "
        "-exp(A_log)) each head of 16 has S = exp(a t) S + t x B^T, from S = 0, and y = S C + ssm_d x; then the RMS norm of y silu(z), "
        "gate first, over each of the groups (here 1), and ssm_out. Attention has no rotary embedding, which rope.scaling.finetuned = false "
        "says, but q and k rows are permuted all the same. embedding_scale multiplies the embeddings, residual_scale what each half of a "
        "layer adds, attention.scale the scores in place of 1/sqrt(head_dim); logit_scale divides the logits. expert_count is 0: the "
        "feed-forward part is that of the shared expert, under the names of a dense one. Tied embeddings.",
        {"embedding scale": dict(embedding_multiplier=1.0), "residual scale": dict(residual_multiplier=1.0),
         "attention scale": dict(attention_multiplier=0.25), "logit scale": dict(logits_scaling=1.0),
         "no rope": dict(position_embedding_type="rope"), "bias of conv1d": dict(zeroed="conv1d.bias"), "D": dict(zeroed="mamba.D"),
         "bias of dt": dict(zeroed="dt_bias"), "A": dict(zeroed="A_log"),
         "state": dict(filled=("A_log", 20.0))},  # exp(-exp(20) t) = 0: nothing of the past is kept
        num_hidden_layers=4, layer_types=["mamba", "attention", "mamba", "mamba"], shared_intermediate_size=96,
        num_local_experts=0, num_experts_per_tok=0, mamba_n_heads=8, mamba_d_head=16, mamba_expand=2, mamba_d_state=16,
        mamba_n_groups=1, mamba_d_conv=4, mamba_conv_bias=True, mamba_proj_bias=False, mamba_chunk_size=16,
        position_embedding_type="nope", embedding_multiplier=2.5, residual_multiplier=0.4375, attention_multiplier=0.375,
        logits_scaling=1.25, tie_word_embeddings=True),
    "granite": lambda: case(
        "granite", GraniteForCausalLM, GraniteConfig,
        "Llama (q and k rows permuted) with four scales: embedding_scale multiplies the embeddings, residual_scale what each half of a "
        "layer adds, attention.scale the scores in place of 1/sqrt(head_dim); logit_scale divides the logits. Tied embeddings.",
        {"embedding scale": dict(embedding_multiplier=1.0), "residual scale": dict(residual_multiplier=1.0),
         "attention scale": dict(attention_multiplier=0.25), "logit scale": dict(logits_scaling=1.0),
         "rope base 500": dict(rope_theta=500.0)},
        embedding_multiplier=3.0, residual_multiplier=0.625, attention_multiplier=0.4375, logits_scaling=1.25, tie_word_embeddings=True),
    "bert": lambda: case(
        "bert", lambda config: BertModel(config, add_pooling_layer=False), BertConfig,
        "An encoder: the rows of the file of logits are those of the last layer, as wide as the model. A row sees all positions. The "
        "embedding is that of the token, of its position and of type 0, added and then normed. Norms are of the sums with the residual "
        "and have weights and biases; biases on all products; the feed-forward part is a GELU (with erf) without a gate.",
        {"rows behind": dict(is_decoder=True), "positions": dict(zeroed="position_embeddings.weight"),
         "token types": dict(zeroed="token_type_embeddings.weight"), "epsilon 0.1": dict(layer_norm_eps=0.1),
         "erf": dict(hidden_act="gelu_new"),
         **{f"bias of {name}": dict(zeroed=f"{name}.bias")
            for name in ("query", "value", "attention.output.dense", "intermediate.dense", "attention.output.LayerNorm",
                         "embeddings.LayerNorm")}},
        vocab_size=len(word_pieces()), intermediate_size=128, num_hidden_layers=3, max_position_embeddings=64, type_vocab_size=2,
        hidden_act="gelu"),
}

# ---------------------------------------------------------------- weights


def fill(model, arch, seed):
    """Random weights that are exact in float32 (as stored in the file), large enough that all of them matter."""
    rng = np.random.default_rng(seed)
    for name, p in model.named_parameters():
        shape = tuple(p.shape)
        if name.lower().endswith("norm.weight") or "layernorm" in name:
            w = 1.0 + 0.3 * rng.standard_normal(shape)
        elif name.endswith("A_log"):  # here A
            w = np.exp(rng.uniform(math.log(0.3), math.log(4.0), shape))
        elif name.endswith("dt_bias"):  # steps from 0.05 to 1.5
            w = np.log(np.expm1(np.exp(rng.uniform(math.log(0.05), math.log(1.5), shape))))
        elif name.endswith("mamba.D"):
            w = rng.standard_normal(shape)
        elif name.endswith("conv1d.weight"):
            w = 1.2 / math.sqrt(shape[2]) * rng.standard_normal(shape)
        elif name.endswith("bias"):
            w = 0.5 * rng.standard_normal(shape)
        elif "embed_tokens" in name or "_embeddings" in name:
            w = 0.35 * rng.standard_normal(shape)
        elif "lm_head" in name:
            w = 2.5 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        elif name.endswith("sinks"):
            w = 2.0 * rng.standard_normal(shape)
        elif name.endswith("gate_up_proj"):  # large enough for the limit
            w = 4.0 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        elif name.endswith("output.dense.weight") and "attention" not in name:  # so that erf and tanh differ enough
            w = 4.0 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        elif any(part in name for part in ("q_proj", "k_proj", "query", "key")):
            w = 1.3 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        else:
            w = 1.2 / math.sqrt(shape[1]) * rng.standard_normal(shape)
        w = w.astype(np.float32).astype(np.float64)
        if arch.startswith("gemma") and "norm" in name:
            w = w - 1.0  # the file holds 1 + weight
        if name.endswith("A_log"):
            w = np.log(w)  # the file holds -exp(A_log)
        with torch.no_grad():
            p.copy_(torch.from_numpy(np.array(w)))


def build(c, seed, changes=None):
    changes = dict(changes or {})
    zeroed = changes.pop("zeroed", None)  # the end of a parameter's name
    filled, value_of_filled = changes.pop("filled", (None, 0.0))  # likewise, and the value
    attributes = changes.pop("modules", {})  # of whatever modules have them
    settings = {**c["config"], **changes}
    layers = settings.pop("layers", [])  # sizes that each layer has of its own
    if layers:
        settings["num_hidden_layers"] = len(layers)
    config = c["make"](**settings, attn_implementation="eager")
    model = c["model"](config)
    for i, sizes in enumerate(layers):
        own = c["make"](**{**settings, **sizes}, attn_implementation="eager")
        model.model.layers[i].self_attn = LlamaAttention(own, i)
        model.model.layers[i].mlp = LlamaMLP(own)
    model = model.double().eval()
    fill(model, c["arch"], seed)
    for name, p in model.named_parameters():
        if zeroed and name.endswith(zeroed):
            p.data.zero_()
        if filled and name.endswith(filled):
            p.data.fill_(value_of_filled)
    for module in model.modules():
        for attribute, value in attributes.items():
            if hasattr(module, attribute):
                setattr(module, attribute, value)
    return model


def tokens_for(seed, arch):
    rng = np.random.default_rng(seed + 1000)
    if arch == "bert":
        pieces = word_pieces()
        words = rng.integers(pieces.index("[MASK]") + 1, len(pieces), N_TOKENS - 2)
        return [pieces.index("[CLS]")] + [int(t) for t in words] + [pieces.index("[SEP]")]
    return [1] + [int(t) for t in rng.integers(3, N_VOCAB, N_TOKENS - 1)]


def logits_of(model, tokens):
    with torch.no_grad():
        result = model(input_ids=torch.tensor([tokens]), use_cache=False)
    out = (result.logits if "logits" in result else result.last_hidden_state)[0]
    assert out.dtype == torch.float64
    return out.numpy()


def router_margin(c, model, tokens):
    """Smallest distance between the last expert used and the first one not used."""
    if not c["config"].get("num_experts_per_tok"):
        return None
    k = c["config"]["num_experts_per_tok"]
    logits = []
    for name, module in model.named_modules():
        if name.endswith((".router", ".gate")) and hasattr(module, "weight"):
            module.register_forward_pre_hook(lambda m, args: logits.append(torch.nn.functional.linear(
                args[0].reshape(-1, m.weight.shape[1]), m.weight, getattr(m, "bias", None))))
    logits_of(model, tokens)
    for module in model.modules():
        module._forward_pre_hooks.clear()
    best = torch.stack(logits).sort(-1, descending=True).values
    return float((best[..., k - 1] - best[..., k]).min())


# ---------------------------------------------------------------- the file, as llama.cpp's converter writes it


def permute(w, heads):
    """HF rotates halves of a head, GGUF's llama rotates adjacent pairs: interleave the rows of each head."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def llama3_factors(config):
    s = config.rope_scaling
    d = config.head_dim
    out = []
    for i in range(0, d, 2):
        wave = 2 * math.pi * config.rope_theta ** (i / d)
        turns = s["original_max_position_embeddings"] / wave
        if turns > s["high_freq_factor"]:
            out.append(1.0)
        elif turns < s["low_freq_factor"]:
            out.append(s["factor"])
        else:
            smooth = (turns - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"])
            out.append(1.0 / ((1.0 - smooth) / s["factor"] + smooth))
    return np.array(out, dtype=np.float32)


def hybrid_tensors(key, a, config):
    """Tensors of a recurrent layer or a shared expert, under names that the map of names knows."""
    if key.endswith("A_log"):
        a = -np.exp(a)
        rounded = a.astype(np.float32).astype(np.float64)
        assert np.allclose(rounded, a, rtol=1e-15, atol=0), key  # fill() took the logarithm of a float32
        a = rounded
    if key.endswith(("A_log", ".D")):
        a = a.reshape(-1, 1)
    if key.endswith("conv1d.weight"):
        a = a.squeeze(1)
    if key.endswith("mamba.norm.weight"):
        a = a.reshape(config.mamba_n_groups, -1)
    a32 = np.ascontiguousarray(a, dtype=np.float32)
    assert np.array_equal(a32.astype(np.float64), a), key
    if "input_linear" in key:
        gate, up = np.split(a32, 2)
        return {key.replace("shared_mlp.input_linear", f"mlp.{which}_proj"): part for which, part in (("gate", gate), ("up", up))}
    return {key.replace("shared_mlp.output_linear", "mlp.down_proj").replace(".dt_bias", ".dt_proj.bias"): a32}


def write_tokenizer(w, arch, config):
    if arch == "bert":
        pieces = word_pieces()
        w.add_token_type_count(config.type_vocab_size)
        w.add_tokenizer_model("bert")
        w.add_tokenizer_pre("bert-bge")
        w.add_token_list(pieces)
        w.add_token_types([gguf.TokenType.CONTROL if p[0] == "[" and len(p) > 1 else gguf.TokenType.NORMAL for p in pieces])
        for key, p in [("unknown", "[UNK]"), ("seperator", "[SEP]"), ("padding", "[PAD]"), ("cls", "[CLS]"), ("mask", "[MASK]")]:
            w.add_uint32(f"tokenizer.ggml.{key}_token_id", pieces.index(p))
        return
    tokens, scores, types = vocabulary()
    w.add_tokenizer_model("llama")
    w.add_tokenizer_pre("default")
    w.add_token_list(tokens)
    w.add_token_scores(scores)
    w.add_token_types(types)
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_unk_token_id(0)
    w.add_add_bos_token(True)
    w.add_add_eos_token(False)
    if arch.startswith("gemma"):
        w.add_add_space_prefix(False)


def write(path, name, c, model):
    arch, set_, config = c["arch"], c["config"], model.config
    granite, hybrid = arch.startswith("granite"), arch == "granitehybrid"
    w = gguf.GGUFWriter(path, arch)
    w.add_type(gguf.GGUFType.MODEL)
    w.add_name(f"golden {name}")
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_block_count(config.num_hidden_layers)
    w.add_context_length(2**20 if hybrid else config.max_position_embeddings)
    w.add_embedding_length(config.hidden_size)
    each = lambda key: [layer[key] for layer in set_["layers"]] if "layers" in set_ else getattr(config, key)
    heads, kv_heads = each("num_attention_heads"), each("num_key_value_heads")
    w.add_feed_forward_length(each("intermediate_size"))
    w.add_head_count(heads)
    if arch == "bert":
        w.add_layer_norm_eps(config.layer_norm_eps)
        w.add_causal_attention(False)
        w.add_pooling_type(gguf.PoolingType.CLS)
    else:
        w.add_head_count_kv([kv_heads if kind == "attention" else 0 for kind in config.layer_types] if hybrid else kv_heads)
        w.add_layer_norm_rms_eps(config.rms_norm_eps)
    if set_.get("head_dim"):
        w.add_key_length(config.head_dim)
        w.add_value_length(config.head_dim)
    if arch not in ("gemma", "gemma2", "bert"):
        w.add_rope_freq_base(config.rope_theta)
    if arch == "llama" or granite:
        w.add_vocab_size(config.vocab_size)
        w.add_rope_dimension_count(set_.get("head_dim") or config.hidden_size // config.num_attention_heads)
    scaling = set_.get("rope_scaling")
    if scaling and scaling["rope_type"] in ("linear", "yarn"):
        w.add_rope_scaling_type(gguf.RopeScalingType(scaling["rope_type"]))
        w.add_rope_scaling_factor(scaling["factor"])
        if scaling["rope_type"] == "yarn":
            w.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])
    if set_.get("sliding_window"):
        w.add_sliding_window(set_["sliding_window"])
    if arch == "gemma2":
        w.add_attn_logit_softcapping(config.attn_logit_softcapping)
        w.add_final_logit_softcapping(config.final_logit_softcapping)
    if set_.get("num_experts_per_tok"):
        w.add_expert_count(set_.get("num_local_experts") or set_["num_experts"])
        w.add_expert_used_count(set_["num_experts_per_tok"])
    if set_.get("moe_intermediate_size"):
        w.add_expert_feed_forward_length(set_["moe_intermediate_size"])
    if arch == "gpt-oss":
        w.add_expert_feed_forward_length(config.intermediate_size)
    if granite:
        w.add_attention_scale(config.attention_multiplier)
        w.add_embedding_scale(config.embedding_multiplier)
        w.add_residual_scale(config.residual_multiplier)
        w.add_logit_scale(config.logits_scaling)
    if hybrid:
        w.add_expert_count(0)
        w.add_expert_used_count(0)
        w.add_expert_shared_feed_forward_length(config.shared_intermediate_size)
        w.add_ssm_conv_kernel(config.mamba_d_conv)
        w.add_ssm_state_size(config.mamba_d_state)
        w.add_ssm_group_count(config.mamba_n_groups)
        w.add_ssm_inner_size(config.mamba_expand * config.hidden_size)
        w.add_ssm_time_step_rank(config.mamba_n_heads)
        w.add_rope_scaling_finetuned(False)

    write_tokenizer(w, arch, config)

    known = {name: known for known, name in gguf.MODEL_ARCH_NAMES.items()}
    names = gguf.get_tensor_name_map(known[arch], config.num_hidden_layers)
    tensors, experts = {}, {}
    for key, p in model.named_parameters():
        a = p.detach().numpy()
        if arch.startswith("gemma") and key.endswith("norm.weight"):
            a = a + 1.0
        of_layer = lambda counts: counts[int(key.split(".")[2])] if isinstance(counts, list) else counts
        if (arch in ("llama", "smollm3") or granite) and "q_proj" in key:
            a = permute(a, of_layer(heads))
        if (arch in ("llama", "smollm3") or granite) and "k_proj" in key:
            a = permute(a, of_layer(kv_heads))
        if ".mamba." in key or ".shared_mlp." in key:
            tensors.update(hybrid_tensors(key, a, config))
            continue
        a32 = np.ascontiguousarray(a, dtype=np.float32)
        assert np.array_equal(a32.astype(np.float64), a), key
        if arch == "gpt-oss" and ".experts." in key:
            layer = key.split(".")[2]
            end = "bias" if key.endswith("_bias") else "weight"
            if end == "weight":  # the model multiplies from the other side
                a32 = a32.swapaxes(1, 2)
            parts = {"gate": a32[:, ::2], "up": a32[:, 1::2]} if "gate_up" in key else {"down": a32}
            for which, part in parts.items():
                w.add_tensor(f"blk.{layer}.ffn_{which}_exps.{end}", np.ascontiguousarray(part))
            continue
        if ".experts." in key:
            base, rest = key.split(".experts.")
            index, which, _ = rest.split(".")
            if which in ("w1", "w2", "w3"):
                merged = base.replace("model.", "").replace("block_sparse_moe", "feed_forward") + f".experts.{which}"
            else:
                merged = f"{base}.experts.{which}"
            experts.setdefault(merged, {})[int(index)] = a32
            continue
        tensors[key] = a32
    for key, parts in experts.items():
        tensors[key + ".weight"] = np.stack([parts[i] for i in range(len(parts))])
    if scaling and scaling["rope_type"] == "llama3":
        w.add_tensor("rope_freqs.weight", llama3_factors(config))
    for key, a in tensors.items():
        out = names.get_name(key, try_suffixes=(".weight", ".bias"))
        assert out, key
        if key.endswith(".sinks"):
            out += ".weight"
        w.add_tensor(out, a)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


# ---------------------------------------------------------------- main


def main():
    for index, (name, describe) in enumerate(CASES.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        c = describe()
        seed = 100 * (index + 1)
        while True:  # a draw where no token is near a change of experts
            tokens = tokens_for(seed, c["arch"])
            model = build(c, seed)
            margin = router_margin(c, model, tokens)
            if margin is None or margin > 0.02:
                break
            seed += 1
        logits = logits_of(model, tokens)
        effect = {}
        for what, changes in c["without"].items():
            try:
                other = logits_of(build(describe(), seed, changes), tokens)
            except RuntimeError as e:
                raise RuntimeError(f"{name}, without {what}") from e
            effect[what] = round(float(np.abs(other - logits).max()), 4)
            assert effect[what] > 4e-4 * logits.std(), (name, what, effect)  # the tests allow 1e-4
        write(HERE / f"{name}.gguf", name, c, model)
        logits.astype("<f4").tofile(HERE / f"{name}.logits.f32")
        info = {"case": name, "architecture": c["arch"], "tokens": tokens, "n_vocab": c["config"]["vocab_size"], "oracle": ORACLE,
                "seed": seed, "logits_std": round(float(logits.std()), 3),
                "max_logit_change_without": effect, "note": c["note"]}
        if c["arch"] == "bert":
            info["width"] = c["config"]["hidden_size"]
        if margin is not None:
            info["smallest_router_margin"] = round(margin, 4)
        (HERE / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")
        print(f"{name:14} std {logits.std():.2f}  max {np.abs(logits).max():.2f}  {effect}"
              + (f"  margin {margin:.3f}" if margin is not None else ""))


if __name__ == "__main__":
    main()
