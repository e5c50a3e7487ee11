"""Writes the docstrings of the package, from the comments of the C headers.

    docstrings.py HEADER_FOLDER OUTPUT.py
"""

import pprint
import re
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "api"))

from comments import read_comments, without_c  # noqa: E402


def _error_names():
    """The names of the exceptions, by those of the statuses."""
    source = (_HERE / "src" / "runcible" / "errors.py").read_text(encoding="utf-8")
    return dict(re.findall(r'documented\("(\w+)"\)\nclass (\w+)', source))


def _translated(text, errors):
    text = re.sub(r"\bRC_E_\w+\b",
                  lambda found: errors.get(found.group(), found.group()),
                  without_c(text))
    return re.sub(r"\bNULL\b", "None", text)


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
