#!/usr/bin/env python3
"""Compares what `runcible convert` makes of a folder's tokenizer.json with the tokenizers package.

    python compare_converted.py BUILD/bin [--count N] [--seed S] [NAME...]

Each kind of json_kinds.py (all, or those named) is put beside the weights of ../folders/llama and converted. For N
generated texts (10,000) the ids of the package are compared with those of Runcible by the file, of Runcible by the
keys tokenizer.ggml.* of it alone, and, if llama-cpp-python can be imported, of llama.cpp. "-" stands where a file has no
such keys; why is printed, as convert does. Texts are generated without the names of added tokens, which programs find
by rules of their own, unless --names is given.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from compare_json import generate
from json_kinds import kinds

HERE = Path(__file__).resolve().parent

try:
    import llama_cpp
except ImportError:
    llama_cpp = None


def convert(program, tokenizer, folder):
    shutil.copytree(HERE.parent / "folders" / "llama", folder / "model")
    (folder / "model" / "tokenizer.json").write_text(tokenizer.to_str())
    config = folder / "model" / "config.json"
    values = json.loads(config.read_text())
    values.pop("bos_token_id")
    values.pop("eos_token_id")
    config.write_text(json.dumps(values))
    (folder / "model" / "generation_config.json").unlink()
    done = subprocess.run([program, "convert", folder / "model", "-o", folder / "model.gguf"], check=True,
                          env={**os.environ, "RUNCIBLE_LOG": "warning"}, stderr=subprocess.PIPE)
    for line in done.stderr.decode().splitlines():
        if "tokenizer.ggml" in line:
            print(f"  {line[line.index(': its') if ': its' in line else line.index(': by'):]}")
    return folder / "model.gguf"


def ids_of_runcible(program, path, texts, *arguments):
    lines = "".join(json.dumps({"text": t}) + "\n" for t in texts)
    done = subprocess.run([program, path, *arguments], input=lines.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    if done.returncode:
        return None
    return [json.loads(line)["ids"] for line in done.stdout.splitlines()]


def ids_of_llama_cpp(path, texts):
    """In a process of its own, as it may end it."""
    done = subprocess.run([sys.executable, __file__, "--llama-cpp", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          input="".join(json.dumps(t) + "\n" for t in texts).encode())
    if done.returncode:
        return None
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_llama_cpp(path):
    model = llama_cpp.Llama(path, vocab_only=True, verbose=False)
    for line in sys.stdin:
        text = json.loads(line).encode()
        print(json.dumps(model.tokenize(text, add_bos=True, special=True)))


def count(name, who, texts, want, got):
    if got is None:
        return "-"
    different = [(t, w, g) for t, w, g in zip(texts, want, got, strict=True) if w != g]
    for text, w, g in different[:2]:
        print(f"  {who}: {ascii(text)[:200]}\n    want {str(w)[:300]}\n    got  {str(g)[:300]}")
    return len(different)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--names", dest="added", action="store_true")
    options = parser.parse_intermixed_args()
    print(f"{'':32} {'texts':>8} {'file':>8} {'keys':>8} {'llama.cpp':>10}")
    bad = 0
    for name, make in kinds().items():
        if options.names and name not in options.names:
            continue
        tokenizer = make()
        added = [t.content for t in tokenizer.get_added_tokens_decoder().values()]
        rng = random.Random(f"{options.seed} {name}")
        texts = [generate(rng, added if options.added else []) for _ in range(options.count)]
        if not options.added:
            texts = [t for t in texts if not any(a in t for a in added)]
        want = [e.ids for e in tokenizer.encode_batch(texts)]
        with tempfile.TemporaryDirectory() as temporary:
            path = convert(Path(options.build) / "runcible", tokenizer, Path(temporary))
            reader = Path(options.build) / "tokenize_json"
            row = [count(name, "file", texts, want, ids_of_runcible(reader, path, texts)),
                   count(name, "keys", texts, want, ids_of_runcible(reader, path, texts, "keys")),
                   count(name, "llama.cpp", texts, want, ids_of_llama_cpp(path, texts)) if llama_cpp else "-"]
        print(f"{name:32} {len(texts):8} {row[0]:>8} {row[1]:>8} {row[2]:>10}", flush=True)
        bad += row[0] != 0
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--llama-cpp"]:
        run_llama_cpp(sys.argv[2])
    else:
        sys.exit(main())
