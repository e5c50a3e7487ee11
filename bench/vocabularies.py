#!/usr/bin/env python3
"""How long a vocabulary of 256k tokens takes to load: from tokenizer.json, tokenizer.model and GGUF.

    bench/vocabularies.py BUILD/bin [--rounds N]

Needs the package sentencepiece. The pieces are made up: words of one to four syllables, so that most of them are two
other pieces in several ways, as those of real vocabularies are. `tokenize_json` of BUILD/bin loads each and tokenizes one
short text; the figures are the least processor and wall-clock times of N runs of the whole process (5), which begins with
reading the file and ends with freeing everything.
"""

import argparse
import itertools
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sentencepiece import sentencepiece_model_pb2 as sp_pb2

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "tests" / "golden" / "folders" / "llama"


def pieces(count):
    """Texts, best first: bytes, letters, then pairs of pieces that come before, half of them with a space in front."""
    rng = random.Random(1)
    letters = [chr(c) for c in itertools.chain(range(0x61, 0x7B), range(0x430, 0x450), range(0x4E00, 0x4F00))]
    found = dict.fromkeys(["\u2581", *letters])
    known = list(found)
    while len(found) < count:
        text = rng.choice(known[:2000]) + rng.choice(known[:400])
        if rng.random() < 0.4:
            text = "\u2581" + text.replace("\u2581", "")
        if "\u2581" not in text[1:] and len(text) < 12 and text not in found:
            found[text] = None
            known.append(text)
    return list(found)


def model(texts, unigram):
    proto = sp_pb2.ModelProto()
    proto.trainer_spec.model_type = 1 if unigram else 2
    proto.trainer_spec.byte_fallback = True
    proto.normalizer_spec.add_dummy_prefix = False
    proto.normalizer_spec.remove_extra_whitespaces = False
    kinds = sp_pb2.ModelProto.SentencePiece
    for text, kind in [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL)] + [
            (f"<0x{i:02X}>", kinds.BYTE) for i in range(256)]:
        proto.pieces.add(piece=text, score=0, type=kind)
    for i, text in enumerate(texts):
        proto.pieces.add(piece=text, score=-i / (1000 if unigram else 1), type=kinds.NORMAL)
    return proto


def tokenizer_json(proto, unigram):
    """As transformers writes the model."""
    vocab = {p.piece: i for i, p in enumerate(proto.pieces)}
    if unigram:
        body = {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": [[p.piece, p.score] for p in proto.pieces]}
    else:
        merges = [[t[:i], t[i:]] for t in (p.piece for p in proto.pieces if p.type == p.NORMAL) for i in range(1, len(t))
                  if t[:i] in vocab and t[i:] in vocab]
        body = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "vocab": vocab, "merges": merges}
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for i, t in enumerate(("<unk>", "<s>", "</s>"))]
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    return json.dumps({"version": "1.0", "added_tokens": added, "normalizer": space, "pre_tokenizer": None,
                       "post_processor": None, "decoder": None, "model": body}, ensure_ascii=False)


def seconds(program, path, *arguments, rounds):
    """Of the processor and of the clock."""
    def once():
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, path, *arguments], input=b'{"text": "a b"}\n', stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - begin
    runs = [once() for _ in range(rounds)]
    return min(r[0] for r in runs), min(r[1] for r in runs)


def measure(build, count, unigram, rounds):
    proto = model(pieces(count - 259), unigram)
    times = {}
    with tempfile.TemporaryDirectory() as temporary:
        for kind in ("tokenizer.json", "tokenizer.model"):
            folder = Path(temporary) / kind.replace(".", "-")
            shutil.copytree(MODEL, folder)
            if kind == "tokenizer.json":
                (folder / kind).write_text(tokenizer_json(proto, unigram))
            else:
                (folder / kind).write_bytes(proto.SerializeToString())
            times[f"folder, {kind}"] = seconds(build / "tokenize_json", folder, rounds=rounds)
            path = Path(temporary) / f"{kind}.gguf"
            subprocess.run([build / "runcible", "convert", folder, "-o", path], check=True, stderr=subprocess.DEVNULL)
            times[f"GGUF of {kind}"] = seconds(build / "tokenize_json", path, rounds=rounds)
            if kind == "tokenizer.json" and not unigram:
                times["GGUF, keys tokenizer.ggml.* alone"] = seconds(build / "tokenize_json", path, "keys", rounds=rounds)
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("| tokens | algorithm | from | processor, s | clock, s |\n|---|---|---|---|---|")
    for unigram in (False, True):
        for source, (processor, clock) in measure(options.build, 262144, unigram, options.rounds).items():
            print(f"| 262144 | {'Unigram' if unigram else 'BPE'} | {source} | {processor:.2f} | {clock:.2f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
