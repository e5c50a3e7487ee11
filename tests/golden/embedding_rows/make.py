#!/usr/bin/env python3
"""Logits that transformers computes where embedding rows take the place of tokens.

For every case it writes NAME.json, NAME.rows.f32 and NAME.logits.f32; see README.md. Versions: ../requirements.txt.

    python make.py [case ...]
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM

HERE = Path(__file__).resolve().parent
FOLDERS = HERE.parent / "folders"
sys.path.insert(0, str(HERE.parent / "architectures"))
from make import ORACLE  # noqa: E402, and from here on torch.float32 means float64

# Name of a folder: what the model multiplies rows with that it is given, which the engine does not.
CASES = {"llama": 1.0, "gemma3": 1.0, "gpt2": 1.0, "mixtral": 1.0, "granitemoehybrid": 2.5}

# Positions of rows: a run of several, and one of one.
ROWS = [3, 4, 5, 6, 12]


def main():
    for index, (name, factor) in enumerate(CASES.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        model = AutoModelForCausalLM.from_pretrained(FOLDERS / name, attn_implementation="eager", dtype=torch.float64).eval()
        info = json.loads((FOLDERS / f"{name}.json").read_text())
        tokens = torch.tensor([info["tokens"]])
        table = model.get_input_embeddings()
        with torch.no_grad():
            embedded = table(tokens).double()
            spread = embedded.std().item() * factor
            rows = np.random.default_rng(index).normal(0, spread, (len(ROWS), embedded.shape[-1])).astype("<f4")
            embedded[0, ROWS] = torch.from_numpy(rows.astype(np.float64)) / factor
            logits = model(inputs_embeds=embedded, use_cache=False).logits[0].numpy()
        rows.tofile(HERE / f"{name}.rows.f32")
        logits.astype("<f4").tofile(HERE / f"{name}.logits.f32")
        given = [-1 if i in ROWS else token for i, token in enumerate(info["tokens"])]
        (HERE / f"{name}.json").write_text(json.dumps({"case": name, "tokens": given, "oracle": ORACLE}, indent=1) + "\n")
        print(f"{name:18} std {logits.std():.2f}")


if __name__ == "__main__":
    main()
