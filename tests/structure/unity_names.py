#!/usr/bin/env python3
"""Checks that files which a compiler may see as one have different names in their
unnamed namespaces.

    tests/structure/unity_names.py

Builds that join the sources of a room (CMAKE_UNITY_BUILD) join other files with each
new file and each size of a batch, so that a clash may come to light anywhere. Functions
with different parameters may have the same name. The check tries itself on planted
files first.
"""

import collections
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
AREAS = ("src", "backends")
# These, and files that take the place of others, are not joined.
SEPARATE = ("backends/cpu/kernels/", "src/engine/web/")
UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"^namespace ([\w:]+) \{\n", re.MULTILINE)
TYPE = r"(?:class|struct|enum class|enum) (\w+)(?: final)?(?: :| \{)"
CONSTANT = r"(?:static )?const(?:expr|init)? [^=({;]*?(k[A-Z]\w*)(?:\[[^]]*\])*(?: =|\(|\{)"
DECLARED = re.compile(rf"^(?:{TYPE}|{CONSTANT})", re.MULTILINE)
# A specialization names a type that exists.
SPECIALIZED = re.compile(r"^template <>\n.*$", re.MULTILINE)


def names_of(text):
    """The types and constants of the unnamed namespaces of a file, with the namespace
    around them."""
    for found in UNNAMED.finditer(text):
        around = [each.group(1) for each in NAMED.finditer(text[:found.start()])]
        for declared in DECLARED.finditer(SPECIALIZED.sub("", found.group(1))):
            name = declared.group(1) or declared.group(2)
            yield (around[-1] if around else "", name)


def violations(root):
    """A message for each name that two files of a room have."""
    for room in sorted(each for area in AREAS for each in (root / area).glob("*/")):
        files = collections.defaultdict(set)
        for path in sorted(room.rglob("*.cc")):
            if path.relative_to(root).as_posix().startswith(SEPARATE):
                continue
            for key in names_of(path.read_text(errors="replace")):
                files[key].add(path.relative_to(root).as_posix())
        for (around, name), owners in sorted(files.items()):
            if len(owners) > 1:
                yield f"{around}::{name} is in the unnamed namespaces of {', '.join(sorted(owners))}"


def check_itself():
    """Fails if a planted violation is not found, or what is allowed is."""
    with tempfile.TemporaryDirectory() as folder:
        room = pathlib.Path(folder) / "backends/room"
        room.mkdir(parents=True)
        for name, own in (("a", "struct A {\n};\n"), ("b", "class B final : public A {\n};\n")):
            (room / f"{name}.cc").write_text(
                "namespace rc {\nnamespace {\n\nclass Same {\n};\nconstexpr int kSame = 1;\n"
                f"{own}int function(int i) {{\n  const int kInside = 1;\n}}\n\n"
                "}  // namespace\n}  // namespace rc\n")
        found = list(violations(pathlib.Path(folder)))
    if [each.split(" ")[0] for each in found] != ["rc::Same", "rc::kSame"]:
        sys.exit(f"the check does not find what is planted: {found}")


def main():
    check_itself()
    sys.exit("\n".join(violations(ROOT)) or 0)


if __name__ == "__main__":
    main()
