#!/usr/bin/env python3
"""Copies the Ruby of the package, with the comments of the C headers in place of
the lines ":header: NAME", so that there is no second text.

    documented.py HEADER_FOLDER FROM_FOLDER TO_FOLDER
"""

import re
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "swig"))

from comments import read_comments  # noqa: E402

_MARK = re.compile(r"^( *)# :header: (\S+)\n", re.MULTILINE)

# What only C has to be told.
_OF_C = [
    r"\*\w+ is the caller's(; see \w+)?\.",
    r"\*\w+ (\[\*count\] )?is to be freed with rc_free(; it is NULL if "
    r"\*count is 0)?\.",
    r"; \*\w+ is to be freed with rc_free(?=\.)",
    r"\*\w+ has \*\w+ bytes and a terminating zero[;,] free it with rc_free\.",
    r"\*\w+ is NUL-terminated and the caller's, to be freed with rc_free\.",
    r", to be freed with rc_free; NULL if \*count is 0",
    r"The strings live as long as the (list|handle)[.,]",
    r"\*\w+ is the session's, valid until its next decode, request or end\.",
]


def _error_names(source):
    """The names of the exceptions, by those of the statuses."""
    return dict(re.findall(r":header: (\w+)\n +class (\w+)", source))


def _translated(text, errors):
    for pattern in _OF_C:
        text = re.sub(pattern.replace(" ", r"\s+"), "", text)
    text = re.sub(r"\bRC_E_\w+\b",
                  lambda found: errors.get(found.group(), found.group()), text)
    text = re.sub(r"\bNULL\b", "nil", text)
    return re.sub(r"(?<=\S) {2,}", " ", text).strip()


def _comment_of(name, comments, errors):
    """The lines of a comment; of a struct, with a list of its members."""
    known = [_translated(comments[name], errors)] if name in comments else []
    for member, text in comments.items():
        if member.startswith(name + ".") and not name.endswith(".h"):
            words = " ".join(_translated(text, errors).split())
            known.append(f"{member[len(name) + 1:]}:: {words}")
    if not known:
        sys.exit(f"no header has a comment of {name}")
    return "\n\n".join(known).splitlines()


def main(headers, source, destination):
    comments = read_comments(headers)
    files = {path: path.read_text(encoding="utf-8")
             for path in Path(source).rglob("*.rb")}
    errors = _error_names("".join(files.values()))

    def written(mark):
        indent, name = mark.groups()
        return "".join(f"{indent}# {line}".rstrip() + "\n"
                       for line in _comment_of(name, comments, errors))

    for path, text in files.items():
        made = Path(destination) / path.relative_to(source)
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(_MARK.sub(written, text), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
