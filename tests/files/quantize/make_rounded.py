#!/usr/bin/env python3
"""Writes rounded.h beside it: rows, and what the PyPI package gguf makes of them.

    python make_rounded.py            # writes the file
    python make_rounded.py --check    # fails if it would change
"""

import sys
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import quantize

FILE = Path(__file__).resolve().with_name("rounded.h")
TYPES = ["F16", "BF16", "Q4_0", "Q5_0", "Q8_0"]


def rows():
    generator = np.random.default_rng(17)
    blocks = [generator.standard_normal(32) * scale
              for scale in (1.0, 0.02, 300.0, 1e-4, 1e-7)]
    blocks.append(np.zeros(32))
    blocks.append(-np.zeros(32))
    blocks.append(np.arange(-16, 16) / 2)  # ties everywhere
    blocks.append(np.arange(32) - 127.0)
    ends = np.zeros(32)
    ends[[3, 20]] = 5.0, -5.0  # the first of equals decides
    blocks.append(ends)
    blocks.append(-ends)
    blocks.append(np.where(np.arange(32) == 31, 65504.0, 1.0))
    return np.concatenate(blocks).astype(np.float32)


def numbers(name, values, width):
    lines = [", ".join(values[i:i + width]) for i in range(0, len(values), width)]
    body = ",\n    ".join(lines)
    return f" {name}[] = {{\n    {body}}};\n"


def text():
    source = rows()
    parts = ["// Made by make_rounded.py.\n#pragma once\n\n#include <cstdint>\n\n"
             "namespace rc::test {\n\n// clang-format off\n"
             "// Bits of f32.\n"
             "inline constexpr uint32_t" +
             numbers("kRows", [f"{bits:#010x}" for bits in source.view(np.uint32)], 6)]
    for name in TYPES:
        data = quantize(source.reshape(1, -1), GGMLQuantizationType[name])
        data = np.ascontiguousarray(data).view(np.uint8).ravel()
        parts.append("inline constexpr uint8_t" +
                     numbers(f"kRounded{name}", [f"{byte}" for byte in data], 18))
    parts.append("// clang-format on\n\n}  // namespace rc::test\n")
    return "".join(parts)


def main():
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if text() == FILE.read_text() else "rounded.h differs from the package's")
    FILE.write_text(text())


if __name__ == "__main__":
    main()
