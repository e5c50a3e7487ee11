#!/usr/bin/env python3
"""Puts a Go module into a folder as a module proxy serves it.

    proxy.py MODULE_FOLDER PATH VERSION PROXY_FOLDER
"""

import sys
import zipfile
from pathlib import Path


def main(folder, path, version, proxy):
    folder = Path(folder)
    served = Path(proxy, path, "@v")
    served.mkdir(parents=True, exist_ok=True)
    (served / "list").write_text(f"{version}\n", encoding="utf-8")
    (served / f"{version}.info").write_text(f'{{"Version": "{version}"}}', encoding="utf-8")
    (served / f"{version}.mod").write_bytes((folder / "go.mod").read_bytes())
    with zipfile.ZipFile(served / f"{version}.zip", "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, f"{path}@{version}/{file.relative_to(folder)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
