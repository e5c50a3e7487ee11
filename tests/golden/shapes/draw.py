#!/usr/bin/env python3
"""Writes models of odd shapes as folders, with the logits that transformers computes for them in float64.

    python draw.py TARGET [--count 200] [--seed 1] [--each] [--types type ...]

TARGET/TYPE is a model of each type as bases.py has it; TARGET/TYPE-NUMBER one with up to four changes of its settings, of COUNT in all;
with --each TARGET/TYPE-CHANGE has that change alone, for all of them. Each folder has config.json and the weights, in F32, BF16 or F16,
in one file or in shards, and also tokens.json and logits.f32. A draw is replaced by another one if transformers refuses it, if its logits
are not finite, or if its router decides by less than 0.005 (0.03 for weights in BF16 and F16, with which the cpu backend rounds).
"""

import argparse
import json
import random
import shutil
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

from bases import bases, make

ENCODERS = {"bert", "eurobert", "nomic_bert"}  # ../architectures and ../embeddings have them

N_TOKENS = 24
MARGIN = {"F32": 0.005, "BF16": 0.03, "F16": 0.03}
FLOAT32 = torch.from_numpy(np.zeros(1, np.float32)).dtype
TYPES = {"F32": FLOAT32, "BF16": torch.bfloat16, "F16": torch.float16}


def heads(rng, text):
    shared = rng.choice([1, 2, 3])
    kv = rng.choice([1, 2, 3, 5])
    width = rng.choice([4, 6, 8, 10, 12, 16, 20])
    if "num_attention_heads" in text and not isinstance(text["num_attention_heads"], list):
        text["num_attention_heads"] = kv * shared
        if text.get("num_key_value_heads") is not None:
            text["num_key_value_heads"] = kv
        if text.get("head_dim"):
            text["head_dim"] = width
        elif "hidden_size" in text:
            text["hidden_size"] = kv * shared * width


def sizes(rng, text):
    for key in ("intermediate_size", "moe_intermediate_size", "ffn_dim", "n_inner", "shared_expert_intermediate_size", "shared_intermediate_size"):
        if isinstance(text.get(key), int) and text[key]:
            text[key] = rng.choice([8, 12, 20, 28, 33, 40, 51])
    if text.get("head_dim") and "hidden_size" in text and "ssm" not in str(text) and "mamba" not in str(text):
        text["hidden_size"] = rng.choice([20, 24, 36, 44, 60])
    text["vocab_size"] = rng.choice([67, 80, 101])


def biases(rng, text):
    for key in ("attention_bias", "mlp_bias", "use_bias", "use_qkv_bias", "bias", "qkv_bias", "attn_qkv_bias"):
        if isinstance(text.get(key), bool):
            text[key] = not text[key]


def ropes(rng, text):
    rope = text.get("rope_parameters")
    if not rope or "rope_type" not in rope and "rope_theta" not in rope:
        return
    kept = {key: rope[key] for key in ("partial_rotary_factor", "mrope_section") if key in rope}
    kind = rng.choice(["default", "linear", "dynamic", "yarn", "llama3"])
    rope = dict(kept, rope_type=kind, rope_theta=rng.choice([500.0, 10000.0, 1e6]))
    if kind != "default":
        rope["factor"] = rng.choice([2.0, 3.5, 8.0])
    if kind == "yarn":
        rope["original_max_position_embeddings"] = text.get("max_position_embeddings", 512) // 4
        rope |= rng.choice([{}, dict(attention_factor=1.25), dict(beta_fast=16.0, beta_slow=2.0), dict(mscale=0.7, mscale_all_dim=0.5)])
    if kind == "llama3":
        rope |= dict(low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)
    text["rope_parameters"] = rope


def windows(rng, text):
    if isinstance(text.get("sliding_window"), int):
        text["sliding_window"] = rng.choice([1, 3, 7, 16, 100])
    if text.get("layer_types") and len(set(text["layer_types"])) > 1:
        rng.shuffle(text["layer_types"])


def experts(rng, text):
    used = rng.choice([1, 2, 3])
    for key in ("num_experts", "num_local_experts", "n_routed_experts"):
        if isinstance(text.get(key), int) and text[key]:
            text[key] = rng.choice([4, 6, 12])
    if isinstance(text.get("num_experts_per_tok"), int):
        text["num_experts_per_tok"] = used
    if isinstance(text.get("norm_topk_prob"), bool):
        text["norm_topk_prob"] = rng.random() < 0.7
    if isinstance(text.get("n_group"), int):
        groups = rng.choice([(1, 1), (2, 1), (2, 2)])
        text["n_group"], text["topk_group"] = groups
    if isinstance(text.get("routed_scaling_factor"), float):
        text["routed_scaling_factor"] = rng.choice([1.0, 2.5])


def functions(rng, text):
    for key in ("hidden_act", "hidden_activation", "activation_function"):
        if text.get(key):
            text[key] = rng.choice(["silu", "gelu", "gelu_pytorch_tanh", "relu", "relu2", "gelu_new"])


def ties(rng, text):
    text["tie_word_embeddings"] = not text.get("tie_word_embeddings", False)


def layers(rng, text):
    count = rng.choice([1, 3, 4])
    if "num_hidden_layers" in text and len(text.get("layer_types") or []) in (0, text["num_hidden_layers"]):
        kinds = text.get("layer_types")
        text["num_hidden_layers"] = count
        if kinds:
            text["layer_types"] = [kinds[i % len(kinds)] for i in range(count)]


def epsilons(rng, text):
    for key in ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", "norm_epsilon"):
        if isinstance(text.get(key), float):
            text[key] = rng.choice([1e-6, 1e-3, 0.1])


CHANGES = [heads, sizes, biases, ropes, windows, experts, ties, layers, epsilons]


def some_changes(rng):
    rare = [functions] if rng.random() < 0.1 else []  # one that most types have no other of
    return rng.sample(CHANGES, rng.choice([1, 2, 3, 4])) + rare


def changed(config, rng, changes):
    """A configuration with those of the changes that it can have, and their names."""
    whole = config.to_dict()
    nested = config.get_text_config() is not config
    text = whole["text_config"] if nested else whole
    before = json.dumps(whole, sort_keys=True, default=str)
    names = []
    for change in changes:
        change(rng, text)
        after = json.dumps(whole, sort_keys=True, default=str)
        if after != before:
            names.append(change.__name__)
        before = after
    for key in ("_attn_implementation", "dtype", "torch_dtype", "transformers_version"):
        whole.pop(key, None)
    return type(config)(**whole, attn_implementation="eager"), names


def model_of(base, config, dtype, seed):
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    model = base["model"](config).double().eval()
    model.set_experts_implementation("eager") if hasattr(model, "set_experts_implementation") else None
    make.fill(model, base["arch"], seed)
    for p in [*model.parameters(), *(b for n, b in model.named_buffers() if n.endswith((*make.SELECTION, "layer_scalar")))]:
        p.data.copy_(p.data.to(TYPES[dtype]).double())
    return model


def wrap(folder, model_type, name, prefix):
    """Makes the folder of a text model that of one that sees pictures."""
    text = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(dict(
        model_type=model_type, architectures=[name], text_config=text, tie_word_embeddings=text["tie_word_embeddings"])))
    weights = folder / "model.safetensors"
    head = prefix.removesuffix("model.") if prefix.endswith(".model.") else ""
    save_file({prefix + key.removeprefix("model.") if key.startswith("model.") else head + key: a for key, a in load_file(weights).items()}, weights,
              metadata=dict(format="pt"))


def write(folder, base, config, rng, names):
    """False where the draw has to be replaced."""
    dtype = rng.choice(list(TYPES)) if names else "F32"
    seed = rng.randrange(1 << 30)
    text = config.get_text_config()
    tokens = [1] + [rng.randrange(3, text.vocab_size) for _ in range(N_TOKENS - 1)]
    model = model_of(base, config, dtype, seed)
    used = base["used"] or getattr(text, "num_experts_per_tok", None)
    used = used if any("gate" in name or "router" in name for name, m in model.named_modules() if not name.endswith("gate_proj")) else None
    margin = make.router_margin(dict(config={}, experts_used=used), model, tokens) if used else None
    logits = make.logits_of(model, tokens)
    if not np.isfinite(logits).all() or logits.std() < 0.05 or margin is not None and margin < MARGIN[dtype]:
        return False
    shutil.rmtree(folder, ignore_errors=True)
    model.to(TYPES[dtype]).save_pretrained(folder, max_shard_size=rng.choice(["40KB", "5GB"]) if names else "5GB")
    if "renamed" in base:
        config_file = folder / "config.json"
        config_file.write_text(json.dumps(json.loads(config_file.read_text()) | dict(model_type=base["renamed"])))
    if "wrapped" in base:
        wrap(folder, *base["wrapped"])
    logits.astype("<f4").tofile(folder / "logits.f32")
    (folder / "tokens.json").write_text(json.dumps(dict(type=folder.name.rsplit("-", 1)[0], tokens=tokens, dtype=dtype, changes=names)))
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("target", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--types", nargs="*")
    arguments = parser.parse_args()
    made = bases()[0]
    types = arguments.types or sorted(t for t in made if t not in ENCODERS)
    refused = {}
    for model_type in types:
        rng = random.Random(f"{arguments.seed} {model_type}")
        for attempt in range(20):
            try:
                if write(arguments.target / model_type, made[model_type], made[model_type]["config"], rng, []):
                    break
            except Exception as e:
                refused[model_type] = f"{type(e).__name__}: {e}"
                break
        else:
            refused[model_type] = "no draw with a margin"
    rng = random.Random(arguments.seed)
    good = [t for t in types if t not in refused and "wrapped" not in made[t]]
    for model_type in good if arguments.each else []:
        for change in CHANGES:
            for attempt in range(4):
                try:
                    config, names = changed(made[model_type]["config"], rng, [change])
                    if not names or write(arguments.target / f"{model_type}-{change.__name__}", made[model_type], config, rng, names):
                        break
                except Exception:  # no such model
                    continue
    number, attempts = 0, 0
    while number < arguments.count and attempts < 20 * arguments.count:
        attempts += 1
        model_type = good[number % len(good)] if attempts % 8 else rng.choice(good)
        try:
            config, names = changed(made[model_type]["config"], rng, some_changes(rng))
            if not names or not write(arguments.target / f"{model_type}-{number}", made[model_type], config, rng, names):
                continue
        except Exception as e:  # no such model
            refused.setdefault("draws", []).append(f"{model_type}: {type(e).__name__}: {str(e)[:100]}")
            continue
        number += 1
        if number % 20 == 0:
            print(number, flush=True)
    print(json.dumps(refused, indent=1))


if __name__ == "__main__":
    main()
