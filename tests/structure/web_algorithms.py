#!/usr/bin/env python3
"""Checks that what pages compile uses only those algorithms of std::ranges that the C++
library of Emscripten has.

    tests/structure/web_algorithms.py

That library has none of them; src/web/emscripten/libcxx/algorithm adds those in use. The
check tries itself on a planted file first.
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ADDED = "src/web/emscripten/libcxx/algorithm"
AREAS = ("src", "backends")
# What pages do not have of these.
ELSEWHERE = ("src/base/platform/posix/", "src/cli/", "src/probe/", "backends/blas/",
             "backends/cuda/", "backends/opencl/", "backends/rocm/", "backends/streams/",
             "backends/vulkan/")
KINDS = {".h", ".cc"}
USE = re.compile(r"\bstd::ranges::(\w+)")
ADDITION = re.compile(r"^\} (\w+);$", re.MULTILINE)
# Of <functional>, where the library has them.
FUNCTIONS = {"equal_to", "greater", "greater_equal", "less", "less_equal", "not_equal_to"}


def violations(root, known):
    """A message for each use of an algorithm that is not known."""
    for area in AREAS:
        for path in sorted((root / area).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in KINDS or name.startswith(ELSEWHERE):
                continue
            lines = path.read_text(errors="replace").split("\n")
            for number, line in enumerate(lines, 1):
                for used in USE.findall(line):
                    if used not in known:
                        yield (f"{name}:{number}: pages are compiled without "
                               f"std::ranges::{used}; use std::{used}, or add it to {ADDED}")


def check_itself(known):
    """Fails if a planted violation is not found, or what is allowed is."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "src/engine").mkdir(parents=True)
        (root / "src/engine/planted.cc").write_text(
            "auto a = std::ranges::find(x, 1);\n"
            "std::ranges::sort(x, std::ranges::greater());\n"
            "auto b = std::ranges::search(x, y);\n")
        found = list(violations(root, known))
    if len(found) != 1 or not found[0].startswith("src/engine/planted.cc:3: "):
        sys.exit(f"the check does not find what is planted: {found}")


def main():
    added = set(ADDITION.findall((ROOT / ADDED).read_text()))
    known = added | FUNCTIONS
    check_itself(known)
    wrong = list(violations(ROOT, known))
    print(f"{len(added)} algorithms are added for pages")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
