"""The command: ``python -m runcible run``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Becomes the command that comes with the package."""
    command = os.path.join(os.path.dirname(__file__), "bin", "runcible")
    os.execv(command, ["runcible", *sys.argv[1:]])


if __name__ == "__main__":
    main()
