#!/usr/bin/env python3
"""Writes codebooks.h next to this file from the grids in the PyPI package gguf.

    python make_codebooks.py            # writes the file
    python make_codebooks.py --check    # fails if it would change
"""

import sys
from pathlib import Path

import gguf.quants

FILE = Path(__file__).resolve().with_name("codebooks.h")

# enumerator, class of the package, bits of a digit
BOOKS = [
    ("IQ2_XXS", 2),
    ("IQ2_XS", 2),
    ("IQ2_S", 2),
    ("IQ3_XXS", 3),
    ("IQ3_S", 3),
    ("IQ1_S", 2),
]
WORDS_PER_LINE = 18

HEAD = """\
// Made by make_codebooks.py. The codebooks of GGUF's IQ types: entries of 4 or
// 8 digits, of which tables (formats.h) say what they stand for. An entry is
// four hexadecimal digits here; digit i begins at bit i times its width.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rc {

template <size_t kLength>
constexpr auto entries_of_text(const char (&text)[kLength]) {
  std::array<uint16_t, kLength / 4> entries = {};
  for (size_t i = 0; i < kLength / 4; ++i) {
    unsigned bits = 0;
    for (size_t k = 4 * i; k < 4 * i + 4; ++k) {
      const int digit = text[k] <= '9' ? text[k] - '0' : text[k] - 'a' + 10;
      bits = bits << 4 | static_cast<unsigned>(digit);
    }
    entries[i] = static_cast<uint16_t>(bits);
  }
  return entries;
}
"""


def entries(name, width):
    book = getattr(gguf.quants, name)
    book.init_grid()
    digits = {value: digit for digit, value in enumerate(book.grid_map)}
    for row in book.grid.reshape(book.grid_shape):
        yield sum(digits[int(value)] << (width * i) for i, value in enumerate(row))


def text():
    parts = [HEAD]
    for name, width in BOOKS:
        words = [f"{entry:04x}" for entry in entries(name, width)]
        lines = ["".join(words[i:i + WORDS_PER_LINE]) for i in range(0, len(words), WORDS_PER_LINE)]
        body = "\n".join(f'    "{line}"' for line in lines)
        parts.append(f"\ninline constexpr auto k{name.replace('_', '')}Entries = entries_of_text(\n{body});\n")
    parts.append("\n}  // namespace rc\n")
    return "".join(parts)


def main():
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if text() == FILE.read_text() else "codebooks.h differs from the package's")
    FILE.write_text(text())


if __name__ == "__main__":
    main()
