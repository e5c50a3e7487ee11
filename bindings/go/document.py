"""Writes the comments of the C headers into the Go sources of a module.

    document.py HEADER_FOLDER FILE.go...

A line "//runcible:doc rc_session_fork" becomes the comment of that declaration,
without what only C has to be told, and with names of Go for those of C.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "swig"))

from comments import read_comments, without_c  # noqa: E402

_LINE = re.compile(r"^([ \t]*)//runcible:doc (\S+)\n", re.MULTILINE)
# What follows such a line: a method, a function or type, a constant.
_DECLARED = re.compile(
    r"//runcible:doc (\w+)\n\s*"
    r"(?:func \(\w+ \*(\w+)\) (\w+)|(?:func|type) (\w+)|(\w+) +(?:\w+ +)?=)")


def _go_names(sources):
    """The names of Go, by those of C."""
    names = {"NULL": "nil"}
    for source in sources.values():
        for c, receiver, method, plain, constant in _DECLARED.findall(source):
            name = f"{receiver}.{method}" if method else plain or constant
            names.setdefault(c, name)
    return names


def main(headers, paths):
    comments = read_comments(headers)
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    names = _go_names(sources)

    def comment(found):
        indent, name = found.groups()
        if name not in comments:
            sys.exit(f"the headers have no comment of {name}")
        text = re.sub(r"\w+", lambda word: names.get(word.group(), word.group()),
                      without_c(comments[name]))
        return "".join(f"{indent}// {line}".rstrip() + "\n"
                       for line in text.splitlines())

    for path, source in sources.items():
        path.write_text(_LINE.sub(comment, source), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], [Path(name) for name in sys.argv[2:]])
