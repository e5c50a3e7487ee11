#!/usr/bin/env python3
"""Compares Runcible's reading of tokenizer.json with the tokenizers package.

    python compare_json.py BUILD/bin/tokenize_json [--count N] [--seed S] [NAME...]

For each kind of json_kinds.py (all, or those named) it generates N texts (100,000) and compares the ids, with the special
tokens added, and the text that they decode to with and without special tokens. Prints a table and the first differences;
the status is 1 if there are any.
"""

import argparse
import functools
import json
import random
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

from tokenizers import normalizers

from json_kinds import kinds
from texts import TEXTS

RANGES = [(0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F),
          (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x20A0, 0x214F), (0x2460, 0x24FF),
          (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFF00, 0xFFEF),
          (0x1D400, 0x1D7FF), (0x1F100, 0x1F1FF), (0x1F300, 0x1F6FF), (0x20000, 0x2A6DF)]
SPACES = " \t\n\r\v\f\x85\xa0\u1680\u180e\u2003\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
MARKS = "\u0300\u0301\u0308\u0323\u0345\u05b0\u064b\u093c\u0e34\u20dd\u3099\u309a\u0f71"
EMOJI = ["👩🏽‍🚀", "🇩🇪", "👨‍👩‍👧‍👦", "☕️", "1️⃣", "🏴\U000e0067\U000e0062\U000e007f", "🫠"]
CODE = ["don't", "I'LL", "we've", "x'S", "'ſ", "1234567", "३४५", "ⅷ", "①", "foo_bar", "//", "==", "...", "!?", "``", "ß", "İ",
        "ﬁ", "ΑΣ", "가각", "가", "가", "Å", "각", "ﷺ", "▁", "▁▁", "Ġ", "##", "</w>", "<0x0A>", "do not", " n't"]


def generate(rng, names):
    """A text of up to some twenty parts; now and then a long run."""
    parts = []
    for _ in range(rng.choice([1, 2, 4, 8, 16])):
        kind = rng.random()
        if kind < 0.22:
            parts.append(rng.choice(WORDS))
        elif kind < 0.34:
            low, high = rng.choice(RANGES)
            parts.append("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 6))))
        elif kind < 0.5:
            parts.append("".join(rng.choice(SPACES[:4] if rng.random() < 0.6 else SPACES)
                                 for _ in range(rng.choice([1, 1, 1, 2, 3, 7]))))
        elif kind < 0.58:
            parts.append("".join(rng.choice(MARKS) for _ in range(rng.randint(1, 4))))
        elif kind < 0.64:
            parts.append(rng.choice(EMOJI))
        elif kind < 0.76:
            parts.append(rng.choice(CODE))
        elif kind < 0.8:
            parts.append("".join(chr(rng.randint(0, 0x9F)) for _ in range(rng.randint(1, 3))))
        elif kind < 0.88 and names:
            name = rng.choice(names)
            parts.append(name if rng.random() < 0.8 else name[:rng.randint(1, len(name))])
        elif kind < 0.882:
            parts.append(rng.choice(["a", " ", "é", "\u0301", "中", "\n", "x", "'"]) * rng.choice([70, 300]))
        else:
            parts.append(" " if rng.random() < 0.7 else "")
    text = "".join(parts)
    return "".join(c for c in text if is_old(c))


@functools.cache
def is_old(c):
    """Whether the Unicode tables of both sides know the character; those of the package's normalizers are old."""
    return not 0xD800 <= ord(c) < 0xE000 and unicodedata.category(c) != "Cn" and all(
        getattr(normalizers, form)().normalize_str(c) == unicodedata.normalize(form, c) for form in ("NFD", "NFKD"))


WORDS = sorted({w for t in TEXTS for w in t.split()})


def compare(program, name, tokenizer, texts):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        path.write_text(tokenizer.to_str())
        lines = "".join(json.dumps({"text": t}) + "\n" for t in texts)
        done = subprocess.run([program, path], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    differences = 0
    for text, line, encoded in zip(texts, done.stdout.decode().split("\n"), tokenizer.encode_batch(texts)):
        got = json.loads(line)
        want = {"ids": encoded.ids, "text": tokenizer.decode(encoded.ids),
                "shown": tokenizer.decode(encoded.ids, skip_special_tokens=False)}
        if got != want:
            differences += 1
            if differences <= 3:
                print(f"{name}: {ascii(text)}\n  want {ascii(want)}\n  got  {ascii(got)}")
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_intermixed_args()
    rows = []
    for name, make in kinds().items():
        if options.names and name not in options.names:
            continue
        tokenizer = make()
        added = [t.content for t in tokenizer.get_added_tokens_decoder().values()]
        rng = random.Random(f"{options.seed} {name}")
        texts = [generate(rng, added) for _ in range(options.count)]
        rows.append((name, len(texts), compare(options.program, name, tokenizer, texts)))
        print(f"{name:32} {rows[-1][1]:8} texts {rows[-1][2]:6} differences", flush=True)
    return 1 if any(row[2] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
