#!/usr/bin/env python3
"""Tiny random models of RWKV 6 and 7, with the logits that the package rwkv computes for them in float64.

Writes what make.py does for each case: see README.md. Versions: ../requirements.txt and ../requirements-rwkv.txt.

    python make_rwkv.py
"""

import importlib
import importlib.metadata
import json
import os
import sys
from pathlib import Path

os.environ |= {"RWKV_JIT_ON": "0", "RWKV_CUDA_ON": "0", "RWKV_V7_ON": "0", "PYTORCH_JIT": "0"}

import gguf
import numpy as np
import torch

# The package asks for float32 in norms, decays and states; see make.py.
torch.float32 = torch.float = torch.float64
torch.Tensor.float = torch.Tensor.double
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

import rwkv.model

from vocabularies import N_VOCAB, write_tokenizer

HERE = Path(__file__).resolve().parent
VERSION = importlib.metadata.version("rwkv")
ORACLE = f"rwkv {VERSION}, torch {torch.__version__.split('+')[0]}, float64"
N_TOKENS = 40
WIDTH, HEADS, SIZE, INNER, LAYERS = 64, 4, 16, 96, 3
RANKS = {6: {"shift": 6, "decay": 10}, 7: {"w": 10, "a": 6, "v": 5, "g": 12}}
WITHOUT = {
    6: {"bonus": "time_faaaa", "shifts by row": "time_maa_w2", "shifts": ("time_maa_x", "time_maa_w", "time_maa_k", "time_maa_v", "time_maa_r", "time_maa_g"),
        "decay by row": "time_decay_w2", "shifts of channels": ("ffn.time_maa_k", "ffn.time_maa_r"), "biases of the norm of heads": "ln_x.bias",
        "norm of the embedding": "ln0.bias"},
    7: {"bonus": "r_k", "shifts": ("x_r", "x_w", "x_k", "x_v", "x_a", "x_g"), "decay by row": "att.w2", "rate by row": "att.a2",
        "first values by row": "att.v2", "k_a": "k_a", "shift of channels": "ffn.x_k", "biases of the norm of heads": "ln_x.bias",
        "norm of the embedding": "ln0.bias"},
}
NOTES = {
    6: "a state that fades by the column and by the row; shares of the row before that depend on the row; a bonus for the row itself; "
       "layer norms with biases, one of the embedding; norms of heads with epsilon 64e-5",
    7: "a delta rule whose state fades by the column and by the row; values mixed with those of the first layer; keys of length 1; "
       "layer norms with biases, one of the embedding; norms of heads with epsilon 64e-5",
}


def weights_of(version, seed):
    """By the names that the models are published under; exact in float32."""
    rng = np.random.default_rng(seed)
    out = {}

    def add(name, shape, scale, middle=0.0):
        out[name] = torch.from_numpy((middle + scale * rng.standard_normal(shape)).astype(np.float32).astype(np.float64))

    def norm(name, size=WIDTH):
        add(f"{name}.weight", (size,), 0.3, 1.0)
        add(f"{name}.bias", (size,), 0.3)

    def matrix(name, rows, columns, scale=1.2):
        add(name, (rows, columns), scale / np.sqrt(columns))

    def turned(name, rows, columns, scale=1.2):
        add(name, (rows, columns), scale / np.sqrt(rows))

    add("emb.weight", (N_VOCAB, WIDTH), 0.35)
    for i in range(LAYERS):
        block, att, ffn = f"blocks.{i}.", f"blocks.{i}.att.", f"blocks.{i}.ffn."
        for name in (["ln0"] if i == 0 else []) + ["ln1", "ln2", "att.ln_x"]:
            norm(block + name)
        for name in ("receptance", "key", "value", "output") + (("gate",) if version == 6 else ()):
            matrix(f"{att}{name}.weight", WIDTH, WIDTH)
        if version == 6:
            for letter in "xwkvrg":
                add(f"{att}time_maa_{letter}", (1, 1, WIDTH), 0.3, 0.5)
            turned(att + "time_maa_w1", WIDTH, 5 * RANKS[6]["shift"])
            add(att + "time_maa_w2", (5, RANKS[6]["shift"], WIDTH), 0.3)
            add(att + "time_decay", (1, 1, WIDTH), 1.0, -1.5)
            turned(att + "time_decay_w1", WIDTH, RANKS[6]["decay"])
            turned(att + "time_decay_w2", RANKS[6]["decay"], WIDTH)
            add(att + "time_faaaa", (HEADS, SIZE), 0.5)
            for letter in "kr":
                add(f"{ffn}time_maa_{letter}", (1, 1, WIDTH), 0.3, 0.5)
            matrix(ffn + "receptance.weight", WIDTH, WIDTH)
        else:
            for letter in "rwkvag":
                add(f"{att}x_{letter}", (1, 1, WIDTH), 0.3, 0.5)
            for letter, middle in (("w", -1.0), ("a", 0.0), ("v", 0.0)):
                if letter == "v" and i == 0:
                    continue
                add(f"{att}{letter}0", (1, 1, WIDTH), 1.0, middle)
            for letter, rank in RANKS[7].items():
                if letter == "v" and i == 0:
                    continue
                turned(f"{att}{letter}1", WIDTH, rank)
                turned(f"{att}{letter}2", rank, WIDTH)
            add(att + "k_k", (1, 1, WIDTH), 0.3, 0.9)
            add(att + "k_a", (1, 1, WIDTH), 0.3, 0.8)
            add(att + "r_k", (HEADS, SIZE), 0.3)
            add(ffn + "x_k", (1, 1, WIDTH), 0.3, 0.5)
        matrix(ffn + "key.weight", INNER, WIDTH)
        matrix(ffn + "value.weight", WIDTH, INNER)
    norm("ln_out")
    matrix("head.weight", N_VOCAB, WIDTH, 2.5)
    return out


def logits_of(version, weights, tokens):
    os.environ["RWKV_V7_ON"] = "1" if version == 7 else "0"
    importlib.reload(rwkv.model)
    torch.load = lambda *args, **kwargs: {name: w.clone() for name, w in weights.items()}  # doubles cannot be saved here
    with torch.no_grad():
        model = (rwkv.model.RWKV_x070 if version == 7 else rwkv.model.RWKV)("model", "cpu fp32")
        out, _ = model.forward(list(tokens), None, full_output=True)
    assert out.dtype == torch.float64 and out.shape == (len(tokens), N_VOCAB), (out.dtype, out.shape)
    return out.numpy()


MAP = {"ln0": "token_embd_norm", "ln1": "attn_norm", "ln2": "attn_norm_2", "att.ln_x": "time_mix_ln", "att.receptance": "time_mix_receptance",
       "att.key": "time_mix_key", "att.value": "time_mix_value", "att.output": "time_mix_output", "att.gate": "time_mix_gate",
       "ffn.key": "channel_mix_key", "ffn.value": "channel_mix_value", "ffn.receptance": "channel_mix_receptance",
       "att.time_maa_x": "time_mix_lerp_x", "att.time_maa_w1": "time_mix_w1", "att.time_maa_w2": "time_mix_w2",
       "att.time_decay": "time_mix_decay", "att.time_decay_w1": "time_mix_decay_w1", "att.time_decay_w2": "time_mix_decay_w2",
       "att.time_faaaa": "time_mix_first", "ffn.time_maa_k": "channel_mix_lerp_k", "ffn.time_maa_r": "channel_mix_lerp_r",
       "ffn.x_k": "channel_mix_lerp_k", "att.k_k": "time_mix_k_k", "att.k_a": "time_mix_k_a", "att.r_k": "time_mix_r_k"}


def tensors_of(version, weights, fused):
    """As llama.cpp's converter lays them out."""
    whole = {"emb.weight": "token_embd.weight", "head.weight": "output.weight", "ln_out.weight": "output_norm.weight",
             "ln_out.bias": "output_norm.bias"}
    out, shares = {}, {}
    for name, w in weights.items():
        a = w.numpy().astype(np.float32)
        if name in whole:
            out[whole[name]] = a
            continue
        _, layer, rest = name.split(".", 2)
        if rest.startswith("ln0."):
            out["token_embd_norm." + rest[4:]] = a
            continue
        stem, end = (rest.rsplit(".", 1) if rest.endswith((".weight", ".bias")) else (rest, "weight"))
        prefix = f"blk.{layer}."
        if version == 7 and stem.startswith("att.x_") or version == 6 and stem in [f"att.time_maa_{c}" for c in "wkvrg"]:
            shares.setdefault(int(layer), {})[stem[-1]] = a
            continue
        if stem in ("att.time_maa_w1", "att.time_decay_w1", "att.time_decay_w2") or len(stem) == 6 and stem[-1] in "12":
            a = a.T
        if stem == "att.time_maa_w2":
            a = a.transpose(0, 2, 1)
        if stem == "att.r_k":
            a = a.reshape(-1)
        elif stem not in ("att.time_maa_x", "ffn.time_maa_k", "ffn.time_maa_r", "ffn.x_k"):
            a = a.squeeze()
        target = MAP.get(stem) or "time_mix_" + stem[4:]
        out[f"{prefix}{target}.{end}"] = np.ascontiguousarray(a)
        if layer == "0" and target in ("time_mix_a0", "time_mix_a1", "time_mix_a2"):  # not used, but there
            out[f"{prefix}{target.replace('_a', '_v')}.{end}"] = np.ascontiguousarray(a)
    for layer, of in shares.items():
        if fused:
            order = "rwkvag" if version == 7 else "wkvrg"
            out[f"blk.{layer}.time_mix_lerp_fused.weight"] = np.stack([of[c] for c in order])
        else:
            for letter, a in of.items():
                out[f"blk.{layer}.time_mix_lerp_{letter}.weight"] = a
    return out


def write(name, version, weights, fused):
    w = gguf.GGUFWriter(HERE / f"{name}.gguf", f"rwkv{version}")
    w.add_type(gguf.GGUFType.MODEL)
    w.add_name(f"golden {name}")
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_block_count(LAYERS)
    w.add_context_length(1 << 20)
    w.add_embedding_length(WIDTH)
    w.add_feed_forward_length(INNER)
    w.add_layer_norm_eps(1e-5)
    w.add_wkv_head_size(SIZE)
    w.add_head_count(0)
    if version == 6:
        w.add_rescale_every_n_layers(2 if not fused else 0)
        w.add_time_mix_extra_dim(RANKS[6]["shift"])
        w.add_time_decay_extra_dim(RANKS[6]["decay"])
    else:
        w.add_decay_lora_rank(RANKS[7]["w"])
        w.add_iclr_lora_rank(RANKS[7]["a"])
        w.add_value_residual_mix_lora_rank(RANKS[7]["v"])
        w.add_gate_lora_rank(RANKS[7]["g"])
    write_tokenizer(w, f"rwkv{version}", None)
    for tensor, a in tensors_of(version, weights, fused).items():
        # What comes behind the halving of the residual is halved with it.
        if version == 6 and not fused and tensor.endswith(("time_mix_output.weight", "channel_mix_value.weight")):
            a = a / np.float32(2 ** (int(tensor.split(".")[1]) // 2))
        w.add_tensor(tensor, a)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def main():
    for name, version, fused in (("rwkv6", 6, True), ("rwkv6-halved", 6, False), ("rwkv7", 7, True)):
        seed = 61000 + version
        rng = np.random.default_rng(seed + 1000)
        tokens = [1] + [int(t) for t in rng.integers(3, N_VOCAB, N_TOKENS - 1)]
        weights = weights_of(version, seed)
        logits = logits_of(version, weights, tokens)
        effect = {}
        for what, ends in WITHOUT[version].items():
            other = {k: torch.zeros_like(v) if k.endswith(ends) else v for k, v in weights.items()}
            effect[what] = round(float(np.abs(logits_of(version, other, tokens) - logits).max()), 4)
            assert effect[what] > 4e-4 * logits.std(), (name, what, effect)
        write(name, version, weights, fused)
        logits.astype("<f4").tofile(HERE / f"{name}.logits.f32")
        note = NOTES[version] + ("; separate shares, and a residual that is halved behind each second layer" if not fused else "")
        info = {"case": name, "architecture": f"rwkv{version}", "tokens": tokens, "n_vocab": N_VOCAB, "oracle": ORACLE, "seed": seed,
                "logits_std": round(float(logits.std()), 3), "max_logit_change_without": effect, "note": note}
        (HERE / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")
        print(f"{name:14} std {logits.std():.2f}  max {np.abs(logits).max():.2f}  {effect}", file=sys.stderr)


if __name__ == "__main__":
    main()
