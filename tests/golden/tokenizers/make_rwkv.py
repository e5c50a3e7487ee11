#!/usr/bin/env python3
"""A small vocabulary of the kind "rwkv", and the ids that the package rwkv gives for the texts of make.py.

Versions: ../requirements.txt and ../requirements-rwkv.txt.

    python make_rwkv.py
"""

import collections
import json
import tempfile
from pathlib import Path

import gguf
from rwkv.rwkv_tokenizer import TRIE_TOKENIZER

from texts import TEXTS

HERE = Path(__file__).resolve().parent


def pieces():
    """All bytes, and what the texts have most often, characters cut in two included."""
    counts = collections.Counter()
    for text in TEXTS:
        data = text.encode()
        for size in range(2, 9):
            counts.update(data[i:i + size] for i in range(len(data) - size + 1))
    best = sorted(counts, key=lambda piece: (-counts[piece] * (len(piece) - 1), piece))[:300]
    return [bytes([b]) for b in range(256)] + sorted(best)


def write(path, tokens):
    """As llama.cpp's converter does: what is no printable ASCII is escaped as in Python."""
    w = gguf.GGUFWriter(path, "rwkv6")
    w.add_tokenizer_model("rwkv")
    w.add_token_list([b"<s>"] + [repr(t)[2:-1].encode("ascii") for t in tokens] + [b"[PAD0]"])
    w.add_token_types([gguf.TokenType.CONTROL] + [gguf.TokenType.NORMAL] * len(tokens) + [gguf.TokenType.UNUSED])
    w.add_uint32("tokenizer.ggml.eot_token_id", 1 + tokens.index(b"\n\n"))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()


def main():
    tokens = pieces()
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as f:
        f.writelines(f"{i} {t!r} {len(t)}\n" for i, t in enumerate(tokens, 1))
        f.flush()
        tokenizer = TRIE_TOKENIZER(f.name)
    write(HERE / "rwkv.gguf", tokens)
    cases = []
    for text in TEXTS + ["a<s>b", "'quotes' and \"quotes\"", "\\n is no line, nor is \\x0a", "\x00\x01\x7f"]:
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        cases.append({"text": text, "parse_special": False, "ids": ids, "decoded": text})
    lines = [json.dumps(c, ensure_ascii=True, separators=(", ", ": ")) for c in cases]
    (HERE / "rwkv.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(tokens) + 2} tokens, {len(cases)} texts, {sum(len(c['ids']) for c in cases)} ids")


if __name__ == "__main__":
    main()
