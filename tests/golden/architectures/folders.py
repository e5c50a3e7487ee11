#!/usr/bin/env python3
"""The models of make.py as Hugging Face folders, written by save_pretrained: TARGET/NAME for every case.

The weights and tokens are those of NAME.json, so a folder must give the recorded logits, up to the
rounding of weights that the folder holds in another form than the file (norms without the 1, logarithms).
Folders that are there already stay, so that those of classes that one release of transformers lacks can be
written with another one first.
Versions: ../requirements.txt.

    python folders.py TARGET [case ...]
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

from make import ALL_CASES, HERE, build, with_common
from t5_cases import T5_CASES, write_tokenizer_json

# make.py has made torch.float32 mean float64.
FLOAT32 = torch.from_numpy(np.zeros(1, np.float32)).dtype

# Written in several files. The others are in one.
SHARDED = {"mixtral": "100KB", "llama2": "60KB"}

# Sizes of its own in each layer, which no configuration of transformers says; and another file of a model that is there.
WITHOUT_FOLDER = {"llama-layers", "qwen3next-whole"}


def write(name, target):
    info = json.loads((HERE / f"{name}.json").read_text())
    case = with_common((T5_CASES | ALL_CASES)[name]())
    model = build(case, info["seed"]).to(FLOAT32)
    if name == "mamba2":  # its class does not say that the output's weights are the embeddings
        model._dynamic_tied_weights_keys = ["lm_head.weight"]
    if getattr(model.config, "use_bidirectional_attention", False):  # the class has halved it, and would again
        model.config.sliding_window = case["config"]["sliding_window"]
    model.save_pretrained(target / name, max_shard_size=SHARDED.get(name, "5GB"))
    if name in T5_CASES:
        write_tokenizer_json(target / name / "tokenizer.json")


def main():
    target = Path(sys.argv[1])
    # Theirs are the same in later releases, too, but of those that wrote the files.
    for name in sys.argv[2:] or (ALL_CASES if "bert" not in ALL_CASES else ALL_CASES | T5_CASES):
        if name not in WITHOUT_FOLDER and not (target / name).exists():
            write(name, target)
            print(f"{name:18} {sum(f.stat().st_size for f in (target / name).iterdir())} bytes")


if __name__ == "__main__":
    main()
