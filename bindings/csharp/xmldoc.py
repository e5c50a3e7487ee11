"""Writes the sources of the package with the comments of the C headers.

    xmldoc.py HEADER_FOLDER SOURCE_FOLDER OUTPUT_FOLDER

In a comment of C# {@rc NAME} stands for the comment of a name of the headers,
{@rc STRUCT.MEMBER} for that of a member.
"""

import html
import re
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "swig"))

from comments import without_c, write_expanded  # noqa: E402


# Others would be those of System.
_CLASSES = {
    "RC_E_OUT_OF_MEMORY": "HostMemoryException",
    "RC_E_TIMEOUT": "WaitTimeoutException",
}


def _class_of(status):
    """RC_E_NOT_FOUND is NotFoundException."""
    words = status[len("RC_E_"):].split("_")
    name = "".join(word.capitalize() for word in words) + "Exception"
    return _CLASSES.get(status, name)


def _xml(text):
    text = re.sub(r"\bRC_E_\w+\b", lambda found: _class_of(found.group()),
                  html.escape(without_c(text), quote=False))
    text = re.sub(r"\bNULL\b", "null", text)
    paragraphs = re.split(r"\n\n+", text.strip())
    if len(paragraphs) == 1:
        return paragraphs[0]
    return "\n".join(f"<para>{paragraph}</para>" for paragraph in paragraphs)


if __name__ == "__main__":
    write_expanded(*sys.argv[1:], ".cs", "/// ", _xml)
