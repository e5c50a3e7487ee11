"""Writes the docstrings of the package, from the comments of the C headers.

    docstrings.py HEADER_FOLDER OUTPUT.py
"""

import pprint
import re
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "swig"))

from comments import read_comments  # noqa: E402

# What only C has to be told, and what is said instead.
_OF_C = [
    (r"\*\w+ is the caller's(; see \w+)?\.", ""),
    (r"\*\w+ (\[\*count\] )?is to be freed with rc_free(; it is NULL if "
     r"\*count is 0)?\.", ""),
    (r"; \*\w+ is to be freed with rc_free\.", "."),
    (r"\*\w+ has \*\w+ bytes and a terminating zero[;,] free it with rc_free\.",
     ""),
    (r"\*\w+ is NUL-terminated and the caller's, to be freed with rc_free\.",
     ""),
    (r"\*\w+ is NUL-terminated and lives as long as the handle; it changes",
     "It changes"),
    (r", to be freed with rc_free; NULL if \*count is 0", ""),
    (r"The strings live as long as the list\.", ""),
    (r"The strings live as long as the handle, ", ""),
    (r"\*\w+ is the session's, valid until its next decode, request or end\.",
     ""),
]


def _error_names():
    """The names of the exceptions, by those of the statuses."""
    source = (_HERE / "src" / "runcible" / "errors.py").read_text(encoding="utf-8")
    return dict(re.findall(r'documented\("(\w+)"\)\nclass (\w+)', source))


def _translated(text, errors):
    for pattern, instead in _OF_C:
        text = re.sub(pattern.replace(" ", r"\s+"), instead, text)
    text = re.sub(r"\bRC_E_\w+\b",
                  lambda found: errors.get(found.group(), found.group()), text)
    text = re.sub(r"\bNULL\b", "None", text)
    text = re.sub(r"[ \t]+(?=\n|$)", "", text)
    return re.sub(r"(?<=\S) {2,}", " ", text).strip()


def _with_members(comments, errors):
    """The comments, those of structs with a list of their members."""
    whole = {}
    for name, text in comments.items():
        struct, _, member = name.partition(".")
        if member and member != "h":
            before = whole.setdefault(struct, "")
            line = f"{member}: {_translated(text, errors)}"
            whole[struct] = f"{before}\n\n{line}".strip()
        else:
            text = _translated(text, errors)
            whole[name] = f"{text}\n\n{whole[name]}" if name in whole else text
    return whole


def main(headers, output):
    comments = _with_members(read_comments(headers), _error_names())
    Path(output).write_text(
        '"""Made by docstrings.py of the comments of the C headers."""\n\n'
        "from typing import Dict\n\n"
        f"comments: Dict[str, str] = {pprint.pformat(comments)}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
