#!/usr/bin/env python3
"""Compares Runcible's pre-tokenizers by name (tokenizer.ggml.pre) with the tokenizers package.

    python compare_pre.py BUILD/bin/tokenize_json [--count N] [--seed S] [NAME...]

For each name of PRE in make.py and of pre_names.py (all, or those named) it writes the vocabulary of make.py as a GGUF file
with that name and compares the ids of N generated texts (100,000) with those of the package. With --llama-cpp the other
side is llama.cpp (llama-cpp-python) instead of the package, with the same file; it takes some expressions in other ways
than the models have them.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf

from compare_converted import ids_of_llama_cpp, ids_of_runcible
from compare_json import generate
from make import CONTROLS, PRE, USER, bpe_tokenizer, train_bpe
from pre_names import MORE


def cuts():
    """Name: (NFC, steps, ignore_merges)."""
    found = {name: (nfc, steps, note == "ignore_merges" or name == "tekken") for name, (nfc, steps, note) in PRE.items()}
    # Where the package and the files part ways, what files mean; see README.md.
    found["deepseek-llm"] = (False, [r"\p{N}+" if s == "digits" else s for s in PRE["deepseek-llm"][1]], False)
    found["falcon"] = (False, [s for s in PRE["falcon"][1] if s != "number"], False)
    for names, (steps, ignore_merges) in MORE.items():
        found |= {name: (False, steps, ignore_merges) for name in names.split()}
    return found


def write(path, name, vocab, merges):
    w = gguf.GGUFWriter(path, "llama")
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre(name)
    w.add_token_list(vocab + CONTROLS + [USER])
    w.add_token_types([gguf.TokenType.NORMAL] * len(vocab) + [gguf.TokenType.CONTROL] * len(CONTROLS)
                      + [gguf.TokenType.USER_DEFINED])
    w.add_token_merges([" ".join(m) for m in merges])
    w.add_bos_token_id(len(vocab))
    w.add_eos_token_id(len(vocab))
    w.add_add_bos_token(False)
    for add in (w.add_context_length, w.add_embedding_length, w.add_block_count, w.add_feed_forward_length, w.add_head_count):
        add(1)
    w.add_layer_norm_rms_eps(1e-5)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--llama-cpp", action="store_true")
    options = parser.parse_intermixed_args()
    vocab, merges = train_bpe()
    bad = 0
    done = {}  # alike names have alike answers
    for name, cut in cuts().items():
        if options.names and name not in options.names:
            continue
        if repr(cut) not in done:
            tokenizer = bpe_tokenizer(vocab, merges, *cut)
            rng = random.Random(f"{options.seed} {name}")
            texts = [generate(rng, [*CONTROLS, USER, "<sentinel:12>", "IMGIMGABCZ"]) for _ in range(options.count)]
            done[repr(cut)] = texts, [e.ids for e in tokenizer.encode_batch(texts)]
        texts, want = done[repr(cut)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "vocabulary.gguf"
            write(path, name, vocab, merges)
            got = ids_of_runcible(options.program, path, texts)
            if options.llama_cpp:
                want = ids_of_llama_cpp(path, texts) or sys.exit(f"{name}: llama.cpp does not load it")
        different = [(t, w, g) for t, w, g in zip(texts, want, got, strict=True) if w != g]
        for text, w, g in different[:2]:
            print(f"{name}: {ascii(text)[:200]}\n  want {str(w)[:300]}\n  got  {str(g)[:300]}")
        print(f"{name:24} {len(texts):8} texts {len(different):6} differences", flush=True)
        bad += len(different) > 0
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
