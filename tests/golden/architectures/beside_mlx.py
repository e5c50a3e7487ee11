#!/usr/bin/env python3
"""Folders of plain_cases.py and earlier_cases.py in mlx-lm, on the CPU: how far its logits are from those recorded here.

A second independent implementation of models that transformers has no class for; it reads the folder, not the file.
Versions: mlx-lm 0.32.2, mlx and mlx-cpu 0.32.4.

    python make_plain.py --folders TARGET; python beside_mlx.py TARGET [case ...]
"""

import json
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
from mlx_lm.utils import load_model

HERE = Path(__file__).resolve().parent
CASES = ("minicpm", "minicpm-old", "internlm2", "qwen", "deepseek", "bailingmoe", "dbrx")


def changes(config):
    """What mlx-lm takes in place of what the folder says."""
    if config["model_type"] == "minicpm":  # it takes the embeddings for the missing matrix of logits only if they are not said to be tied
        return {"tie_word_embeddings": False}
    return {}


def main():
    target = Path(sys.argv[1])
    worst = 0.0
    for name in sys.argv[2:] or CASES:
        info = json.loads((HERE / f"{name}.json").read_text())
        expected = np.fromfile(HERE / f"{name}.logits.f32", "<f4").reshape(-1, info["n_vocab"]).astype(np.float64)
        config = json.loads((target / name / "config.json").read_text())
        model, _ = load_model(target / name, model_config=changes(config))
        actual = np.array(model(mx.array([info["tokens"]]))[0].astype(mx.float32)).astype(np.float64)
        error = float(((actual - expected) ** 2).sum() / (expected ** 2).sum())
        worst = max(worst, error)
        print(f"{name:12} NMSE {error:.1e}")
    sys.exit(1 if worst > 1e-9 else 0)


if __name__ == "__main__":
    main()
