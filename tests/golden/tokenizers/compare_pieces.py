#!/usr/bin/env python3
"""Compares Runcible's reading of tokenizer.model with the sentencepiece package.

    python compare_pieces.py BUILD/bin/tokenize_json [--count N] [--seed S] [NAME...]

For each model of pieces.py (all, or those named) it generates N texts (100,000) and compares the ids. Prints a table and
the first differences; the status is 1 if there are any.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import sentencepiece

from compare_json import generate
from pieces import MODELS, SYMBOLS, train

FOLDER = Path(__file__).resolve().parent.parent / "folders" / "llama"


def compare(program, name, model, texts):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        shutil.copytree(FOLDER, path)
        (path / "tokenizer.model").write_bytes(model)
        lines = "".join(json.dumps({"text": t, "parse_special": False, "add_special": False}) + "\n" for t in texts)
        done = subprocess.run([program, path], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    differences = 0
    for text, line, want in zip(texts, done.stdout.decode().split("\n"), processor.encode(texts)):
        got = json.loads(line).get("ids")
        if got != want:
            differences += 1
            if differences <= 3:
                print(f"{name}: {ascii(text)}\n  want {want}\n  got  {got}")
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_intermixed_args()
    found = False
    for name in MODELS:
        if options.names and name not in options.names:
            continue
        rng = random.Random(f"{options.seed} {name}")
        texts = [generate(rng, SYMBOLS + ["<mask>", "</s>", "<unk>"]) for _ in range(options.count)]
        differences = compare(options.program, name, train(name), texts)
        print(f"{name:32} {len(texts):8} texts {differences:6} differences", flush=True)
        found = found or differences > 0
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
