#!/usr/bin/env python3
"""Records what the tokenizers package gives for the names of pre-tokenizers in pre_names.py: pre_names.json.

The vocabulary is that of bpe-gpt-2.gguf; the ids are of each of "texts", for all of the names of an entry.

    python make_pre.py
"""

import json
import random
from pathlib import Path

from compare_json import generate
from make import bpe_tokenizer, train_bpe
from pre_names import MORE
from texts import TEXTS

HERE = Path(__file__).resolve().parent


def main():
    rng = random.Random(1)
    texts = TEXTS[15:60] + [generate(rng, ["<sentinel:12>", "IMGIMGABCZ"]) for _ in range(60)]
    texts = [t for t in texts if len(t) < 90]
    vocab, merges = train_bpe()
    entries = []
    for names, (steps, ignore_merges) in MORE.items():
        tokenizer = bpe_tokenizer(vocab, merges, False, steps, ignore_merges)
        entries.append({"names": names.split(), "ids": [e.ids for e in tokenizer.encode_batch(texts)]})
    lines = ",\n".join(json.dumps(e, separators=(",", ":")) for e in entries)
    (HERE / "pre_names.json").write_text(f'{{"texts": {json.dumps(texts)},\n"entries": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
