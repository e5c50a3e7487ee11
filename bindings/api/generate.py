#!/usr/bin/env python3
"""Writes the sources of a package of a language: the hand-written sources in its
folder, completed from the C headers.

    generate.py LANGUAGE HEADER_FOLDER SOURCE_FOLDER OUTPUT_FOLDER
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from headers import read_api  # noqa: E402
from language import write  # noqa: E402


def main(name, headers, source, output):
    module = importlib.import_module("languages." + name)
    write(module.Made(read_api(headers)), Path(source), Path(output))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
