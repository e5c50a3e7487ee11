#!/usr/bin/env python3
"""The models of plain_cases.py: for each NAME.gguf, NAME.json and NAME.logits.f32, as make.py writes them.

The numbers are numpy's, in float64, of the file's own tensors. llama.cpp must agree up to the rounding of its float32: it is the
independent implementation, and NAME.json says how near it is. With TARGET, writes the same models as Hugging Face folders to TARGET/NAME.
Versions: ../requirements.txt and llama-cpp-python 0.3.36.

    python make_plain.py [--folders TARGET] [case ...]
"""

import argparse
import functools
import json
import math
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import save_file

import plain_encoders
import plain_forward
from plain_cases import PLAIN_CASES
from vocabularies import N_VOCAB, write_tokenizer

HERE = Path(__file__).resolve().parent
N_TOKENS = 40

# Where llama.cpp computes otherwise on purpose, which the notes of the cases say, and where many layers add up what it rounds.
NEAR = {"baichuan": 1e-11, "baichuan-slopes": 1e-11, "codeshell": 1e-6, "jina-bert-v2": 1e-6, "jina-bert-v2-apart": 1e-6}
NEAR_OTHERWISE = 1e-12


def draw(shapes, seed):
    """Exact in float32, large enough that all of them matter."""
    rng = np.random.default_rng(seed)
    tensors = {}
    for name, shape in shapes.items():
        a = rng.standard_normal(shape)
        if len(shape) == 1:
            a = 0.5 * a if name.endswith("bias") else 1.0 + 0.3 * a
        elif any(part in name for part in ("embed", "wte")):
            a = 0.35 * a
        elif name in ("lm_head.weight", "output.weight"):
            a = 2.5 / math.sqrt(shape[1]) * a
        else:
            a = 1.2 / math.sqrt(shape[1]) * a
        tensors[name] = a.astype(np.float32)
    return tensors


def write_file(path, name, c, tensors):
    config = c["config"]
    w = gguf.GGUFWriter(path, c["arch"])
    w.add_type(gguf.GGUFType.MODEL)
    w.add_name(f"golden {name}")
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_block_count(config["num_hidden_layers"])
    w.add_context_length(config["max_position_embeddings"])
    w.add_embedding_length(config["hidden_size"])
    w.add_feed_forward_length(config["intermediate_size"])
    w.add_head_count(config["num_attention_heads"])
    if c["kv"]:
        w.add_head_count_kv(config["num_key_value_heads"])
    c["keys"](w, config)
    write_tokenizer(w, c["arch"], config)
    known = {name: known for known, name in gguf.MODEL_ARCH_NAMES.items()}
    names = gguf.get_tensor_name_map(known[c["arch"]], config["num_hidden_layers"])
    for key, a in c["layout"](tensors, config).items():
        out = key if key.startswith("rope_factors") else names.get_name(key, try_suffixes=(".weight", ".bias"))
        assert out, key
        w.add_tensor(out, np.ascontiguousarray(a, dtype=np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def write_folder(folder, c, tensors):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(c["config"], indent=1) + "\n")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def nmse(actual, expected):
    return float(((actual - expected) ** 2).sum() / (expected ** 2).sum())


def beside_llama_cpp(name, path, tokens, width, encoder, numbers):
    from llama_cpp_numbers import numbers as of_llama_cpp
    theirs = of_llama_cpp(path, tokens, width, encoder)
    if name == "minicpm-old":  # up to a factor
        theirs = theirs * (256 / 32) ** 2
    if encoder:  # with its GELU, to see that all the rest is the same
        numbers = plain_encoders.encode(path, tokens, jina_gelu=plain_forward.gelu_tanh)
    error = nmse(theirs, numbers)
    assert error < NEAR.get(name, NEAR_OTHERWISE), (name, error)
    return error


def make(name, c, tensors):
    path, encoder = HERE / f"{name}.gguf", c["arch"].startswith("jina-bert")
    write_file(path, name, c, tensors)
    rng = np.random.default_rng(c["seed"] + 1000)
    tokens = [1] + [int(t) for t in rng.integers(3, N_VOCAB, N_TOKENS - 1)]
    compute = functools.partial(plain_encoders.encode if encoder else plain_forward.forward, path, tokens)
    numbers = compute()
    effect = {}
    for what, changes in c["without"].items():
        other = compute({f"{c['arch']}.{key}": value for key, value in changes.items()})
        effect[what] = round(float(np.abs(other - numbers).max()), 4)
        assert effect[what] > 4e-4 * numbers.std(), (name, what, effect)
    error = beside_llama_cpp(name, path, tokens, numbers.shape[1], encoder, numbers)
    numbers.astype("<f4").tofile(HERE / f"{name}.logits.f32")
    info = {"case": name, "architecture": c["arch"], "tokens": tokens, "n_vocab": N_VOCAB,
            "oracle": f"numpy {np.__version__}, float64; llama.cpp of llama-cpp-python 0.3.36, F32, differs by an NMSE of {error:.1e}",
            "seed": c["seed"], "logits_std": round(float(numbers.std()), 3), "max_logit_change_without": effect, "note": c["note"]}
    if encoder:
        info["width"] = c["config"]["hidden_size"]
    (HERE / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")
    print(f"{name:18} std {numbers.std():.2f}  llama.cpp {error:.1e}  {effect}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folders", type=Path)
    arguments.add_argument("cases", nargs="*")
    arguments = arguments.parse_args()
    for name in arguments.cases or PLAIN_CASES:
        c = PLAIN_CASES[name]()
        tensors = draw(c["shapes"](c["config"]), c["seed"])
        if arguments.folders:
            write_folder(arguments.folders / name, c, tensors)
        else:
            make(name, c, tensors)


if __name__ == "__main__":
    main()
