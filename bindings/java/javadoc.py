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

from comments import without_c, write_expanded  # noqa: E402


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


if __name__ == "__main__":
    write_expanded(*sys.argv[1:], ".java", " * ", _javadoc)
