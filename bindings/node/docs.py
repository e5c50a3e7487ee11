"""Copies the TypeScript of the package, with the comments of the C headers where
it says "@c NAME NAME", and those of the members of a struct above the members
of an interface that says "@c STRUCT".

    docs.py HEADER_FOLDER SOURCE_FOLDER OUTPUT_FOLDER
"""

import re
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "api"))

from comments import read_comments, without_c  # noqa: E402


def _classes(source):
    """The names of the exceptions, by those of the statuses."""
    text = (source / "errors.ts").read_text(encoding="utf-8")
    return dict(re.findall(r"@c (RC_E_\w+) \*/\nexport class (\w+)", text))


def _translated(text, classes):
    text = re.sub(r"\bRC_E_\w+\b",
                  lambda found: classes.get(found.group(), found.group()),
                  without_c(text))
    return re.sub(r"\bNULL\b", "null", text).replace("*/", "* /")


def _comment(indent, text):
    if "\n" not in text and len(indent + text) < 72:
        return f"{indent}/** {text} */"
    lines = [f"{indent} * {line}".rstrip() for line in text.splitlines()]
    return "\n".join([f"{indent}/**", *lines, f"{indent} */"])


class _Writer:
    """Writes the lines of a file with their comments."""

    def __init__(self, comments, classes):
        self.comments = comments
        self.classes = classes
        self.lines = []
        self.struct = None  # of C, of the interface that is open

    def add(self, line):
        marker = re.fullmatch(r"([ \t]*)/\*\* @c (.*?) \*/", line)
        member = re.match(r"  (?:readonly )?(\w+)\??:", line)
        if marker:
            names = marker.group(2).split()
            self.struct = names[-1]
            self.describe(marker.group(1), names)
            return
        if line == "}":
            self.struct = None
        if member and self.struct and not self.lines[-1].endswith("*/"):
            name = re.sub("[A-Z]", lambda found: "_" + found.group().lower(),
                          member.group(1))
            self.describe("  ", [f"{self.struct}.{name}"])
        self.lines.append(line)

    def describe(self, indent, names):
        texts = [_translated(self.comments.get(name, ""), self.classes)
                 for name in names]
        text = "\n\n".join(filter(None, texts))
        if text:
            self.lines.append(_comment(indent, text))


def main(headers, source, output):
    comments = read_comments(headers)
    source, output = Path(source), Path(output)
    classes = _classes(source)
    output.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.ts")):
        writer = _Writer(comments, classes)
        for line in path.read_text(encoding="utf-8").splitlines():
            writer.add(line)
        (output / path.name).write_text("\n".join(writer.lines) + "\n",
                                        encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
