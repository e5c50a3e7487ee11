#!/usr/bin/env python3
"""Records what the tokenizers package gives for the kinds of json_kinds.py: json/NAME.json, and seeds for the fuzz target.

Each file is {"tokenizer": the tokenizer.json, "cases": [{"text", "ids", "decoded", "shown"}]}; the ids are with the special
tokens around the text, "decoded" is without special tokens and "shown" with them.

    python make_json.py
"""

import json
import random
from pathlib import Path

from compare_json import generate
from json_kinds import kinds
from texts import TEXTS

HERE = Path(__file__).resolve().parent
SEEDS = HERE.parent.parent / "fuzz" / "seeds" / "tokenizer_json"


def shrunk(text):
    """The JSON with few tokens, as a seed should be small."""
    tokenizer = json.loads(text)
    model = tokenizer["model"]
    if isinstance(model["vocab"], dict):
        kept = {k: i for i, k in enumerate(list(model["vocab"])[:40])}
        model["merges"] = [m for m in model.get("merges", []) if all(x in kept for x in (*m, "".join(m)))]
        if model["type"] != "BPE":
            del model["merges"]
        model["vocab"] = kept
    else:
        model["vocab"] = model["vocab"][:40]
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode()


def main():
    (HERE / "json").mkdir(exist_ok=True)
    SEEDS.mkdir(parents=True, exist_ok=True)
    for name, make in kinds().items():
        tokenizer = make()
        added = [t.content for t in tokenizer.get_added_tokens_decoder().values()]
        rng = random.Random(name)
        cases = []
        for text in TEXTS[::3] + [generate(rng, added) for _ in range(40)]:
            ids = tokenizer.encode(text).ids
            cases.append({"text": text, "ids": ids, "decoded": tokenizer.decode(ids),
                          "shown": tokenizer.decode(ids, skip_special_tokens=False)})
        lines = ",\n".join(json.dumps(c) for c in cases)
        state = json.dumps(json.loads(tokenizer.to_str()))
        (HERE / "json" / f"{name}.json").write_text(f'{{"tokenizer": {state},\n"cases": [\n{lines}\n]}}\n')
        seed = shrunk(tokenizer.to_str())
        if len(seed) < 8000:
            (SEEDS / name).write_bytes(len(seed).to_bytes(2, "little") + seed + "Hello  <tool> wörld\n".encode())


if __name__ == "__main__":
    main()
