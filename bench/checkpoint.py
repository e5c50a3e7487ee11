#!/usr/bin/env python3
"""Prints the row of docs/checkpoints.md for a published model.

    bench/checkpoint.py MODEL TEXT [--backend cpu] [--runcible PATH]

MODEL is a GGUF file, or a folder as transformers writes them; TEXT is a file of
UTF-8, such as the test set of WikiText-2 (wiki.test.raw). The row has the model's
name, the hash of its weights, the device, the perplexity of the text in windows of
512 tokens with its standard error, and the first 20 tokens of the most probable
text after "The capital of France is".
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys

PROMPT = "The capital of France is"


def weights(model):
    """The files whose bytes decide what the model computes."""
    if model.is_file():
        return [model]
    files = sorted(model.glob("*.safetensors"))
    if not files:
        sys.exit(f"{model}: neither a file nor a folder with *.safetensors")
    return files


def sha256(files):
    """Of one file, or of the hashes of several in the order of their names."""
    hashes = []
    for file in files:
        hashed = hashlib.sha256()
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                hashed.update(block)
        hashes.append(hashed.hexdigest())
    if len(hashes) == 1:
        return hashes[0]
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def call(runcible, *arguments):
    done = subprocess.run([runcible, *arguments, "--json"],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)  # the command has said why
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("text", type=pathlib.Path)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--runcible", default="runcible")
    arguments = parser.parse_args()
    files = weights(arguments.model)
    common = [str(arguments.model), "--backend", arguments.backend]
    evaluated = call(arguments.runcible, "evaluate", *common[:1],
                     str(arguments.text), *common[1:])
    generated = call(arguments.runcible, "run", *common, "-p", PROMPT,
                     "--temperature", "0", "--max-tokens", "20",
                     "--ignore-eos")
    perplexity = evaluated["text"]["perplexity"]
    print("|", " | ".join([
        arguments.model.name, sha256(files)[:16], arguments.backend,
        f"{perplexity['value']:.4f} ± {perplexity['error']:.4f}",
        " ".join(map(str, generated["tokens"]))]), "|")


if __name__ == "__main__":
    main()
