#!/usr/bin/env python3
"""Prints the ranges in src/text/tokenizer_json/characters.cc where the package's Unicode tables differ from Unicode 14.

    python old_tables.py
"""

import unicodedata

from tokenizers import normalizers, pre_tokenizers

PUNCTUATION = pre_tokenizers.Punctuation("removed")
CLEAN = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
ACCENTS = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
MARKS = normalizers.StripAccents()


def ranges(chars):
    out = []
    for c in chars:
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return ",".join(f"{{0x{a:X}, 0x{b:X}}}" for a, b in out)


def main():
    assert unicodedata.unidata_version == "14.0.0"
    found = {"Punctuation": [], "BertControl": [], "NonspacingMark": [], "Mark": []}
    for c in [*range(128, 0xD800), *range(0xE000, 0x110000)]:
        text, category = chr(c), unicodedata.category(chr(c))
        if (not PUNCTUATION.pre_tokenize_str(text)) != (category[0] == "P"):
            found["Punctuation"].append(c)
        if c != 0xFFFD and (not CLEAN.normalize_str(text)) != (category in ("Cc", "Cf", "Co")):
            found["BertControl"].append(c)
        if category == "Cn" or unicodedata.decomposition(text):
            continue
        if (not ACCENTS.normalize_str(text)) != (category == "Mn"):
            found["NonspacingMark"].append(c)
        if (not MARKS.normalize_str(text)) != (category[0] == "M"):
            found["Mark"].append(c)
    for name, chars in found.items():
        print(f"constexpr Range kOther{name}[] = {{{ranges(chars)}}};")


if __name__ == "__main__":
    main()
