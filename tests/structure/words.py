#!/usr/bin/env python3
"""Checks that words and turns of phrase that read badly do not spread.

    tests/structure/words.py           fails where an area has more of a word than below
    tests/structure/words.py --list    prints each place in the areas that allow none

Comments, documentation and messages use the verbs of the field (reports, receives,
contains, supports) and nouns (a client, each request). A comment begins with a noun
phrase or a verb in the third person. The numbers are what is left; lower them when
texts improve, and never raise them.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = {".h", ".cc", ".c", ".py", ".ts", ".mjs", ".md", ".i", ".java", ".cs", ".go",
         ".rb", ".pm", ".lua", ".tcl", ".sh"}
COMMENT = r"^[ \t]*(?://|/\*+|\*|#)[ \t]*"

# Name -> pattern, and the most of each area.
AREAS = ("include", "docs", "src", "backends", "bindings", "examples")
WORDS = {
    "tell, told": (r"\b(?:[Tt]ells?|told)\b", (3, 1, 0, 0, 28, 56)),
    "beside": (r"\b[Bb]eside\b", (0, 0, 0, 0, 0, 7)),
    "whoever": (r"\b[Ww]hoever\b", (0, 0, 0, 0, 0, 0)),
    "somebody, nobody": (r"\b(?:[Ss]omebody|[Nn]obody)\b", (0, 0, 0, 0, 0, 12)),
    "of its own": (r"\bof (?:its|their|one's) own\b", (0, 2, 0, 0, 0, 2)),
    "anew": (r"\b[Aa]new\b", (0, 0, 0, 0, 0, 0)),
    "lack": (r"\black(?:s|ed)?\b", (0, 0, 0, 0, 0, 0)),
    "hear": (r"\b[Hh]ear[sd]?\b", (0, 0, 0, 0, 0, 13)),
    "what is no": (r"\bwhat (?:is|are) n(?:o|ot|one)\b", (0, 0, 0, 0, 0, 0)),
    "comments that begin with What": (COMMENT + r"What\b", (0, 0, 0, 0, 0, 0)),
    "comments that begin with Who": (COMMENT + r"Who(?:ever)?\b", (0, 0, 0, 0, 0, 0)),
}


def files_of(area):
    """The sources and pages of an area, but for models and golden numbers."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", area], check=False,
                            capture_output=True, text=True).stdout.split("\n")
    paths = [ROOT / name for name in listed if name]
    if not paths:
        paths = [path for path in (ROOT / area).rglob("*")
                 if not {"build", "node_modules"} & set(path.parts)]
    return [path for path in paths if path.suffix in KINDS and path.is_file()]


def places(texts, pattern):
    """File, line number and line of each match."""
    for path, text in sorted(texts.items()):
        lines = text.split("\n")
        for match in re.finditer(pattern, text, re.MULTILINE):
            number = text.count("\n", 0, match.start()) + 1
            yield path.relative_to(ROOT), number, lines[number - 1].strip()


def main():
    texts = [{path: path.read_text(errors="replace") for path in files_of(area)}
             for area in AREAS]
    wrong = []
    for name, (pattern, most) in WORDS.items():
        counts = []
        for area, limit, here in zip(AREAS, most, texts):
            found = list(places(here, pattern))
            counts.append(len(found))
            if "--list" in sys.argv and limit == 0:
                for place in found:
                    print(f"{place[0]}:{place[1]}: {place[2]}")
            if len(found) > limit:
                wrong.append(f"{area}: {len(found)} x {name}, of which {limit} were left")
        print(f"{name}: {tuple(counts)}")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
