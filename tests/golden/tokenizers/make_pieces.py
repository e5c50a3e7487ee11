#!/usr/bin/env python3
"""Writes some models of pieces.py as pieces/NAME.model and what sentencepiece gives with them as pieces/NAME.json, and
seeds of the fuzz target.

    python make_pieces.py
"""

import json
import random
from pathlib import Path

import sentencepiece

from compare_json import generate
from pieces import SYMBOLS, train
from texts import SPECIAL_TEXTS, TEXTS

SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "pieces"
HERE = Path(__file__).resolve().parent / "pieces"
NAMES = ["bpe", "bpe-no-prefix", "bpe-prefix", "unigram-plain", "unigram-rules"]


def main():
    HERE.mkdir(exist_ok=True)
    SEEDS.mkdir(exist_ok=True)
    for name in NAMES:
        model = train(name)
        (HERE / f"{name}.model").write_bytes(model)
        seed = len(model).to_bytes(2, "little") + model + " A <tool>\n\n text, aé ﬁx".encode()
        (SEEDS / name).write_bytes(seed)
        rng = random.Random(name)
        names = SYMBOLS + ["</s>", "<unk>"]
        texts = TEXTS + [s.format("<s>", "<tool>", "▁▁") for s in SPECIAL_TEXTS] + [generate(rng, names) for _ in range(40)]
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        lines = [json.dumps({"text": t, "ids": processor.encode(t)}) for t in texts]
        (HERE / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
