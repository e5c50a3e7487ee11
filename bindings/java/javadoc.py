"""Writes the sources of the package with the comments of the C headers.

    javadoc.py HEADER_FOLDER SOURCE_FOLDER OUTPUT_FOLDER

In a comment of Java {@rc NAME} stands for the comment of a name of the headers,
{@rc STRUCT.MEMBER} for that of a member.
"""

import html
import re
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "swig"))

from comments import read_comments, without_c  # noqa: E402


def _class_of(status):
    """RC_E_NOT_FOUND is RuncibleException.NotFound."""
    words = status[len("RC_E_"):].split("_")
    name = "".join(word.capitalize() for word in words)
    return f"RuncibleException.{name}"


def _javadoc(text):
    text = html.escape(without_c(text), quote=False).replace("@", "&#64;")
    text = text.replace("*/", "*&#47;")
    text = re.sub(r"\bRC_E_\w+\b",
                  lambda found: f"{{@link {_class_of(found.group())}}}", text)
    text = re.sub(r"\bNULL\b", "null", text)
    return re.sub(r"\n\n+", "\n\n<p>", text.strip())


def main(headers, source, output):
    comments = read_comments(headers)

    def expanded(found):
        name = found.group(1)
        if name not in comments:
            sys.exit(f"{path}: the headers have no comment for {name}")
        lines = _javadoc(comments[name]).split("\n")
        return "\n * ".join(lines)

    for path in sorted(Path(source).rglob("*.java")):
        text = re.sub(r"\{@rc\s+([\w.]+)\}", expanded,
                      path.read_text(encoding="utf-8"))
        to = Path(output) / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
