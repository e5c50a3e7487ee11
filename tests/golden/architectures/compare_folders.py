#!/usr/bin/env python3
"""Writes every case as a Hugging Face folder and compares what the engine makes of it with the recorded logits.

    python compare_folders.py BUILD/bin/test_model [FOLDER]

The folders are written to FOLDER, or to a temporary one. Prints a row for each case: the normalized mean
squared error on each backend. Versions: ../requirements.txt.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BACKENDS = ("reference", "cpu")


def main():
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else temporary)
        subprocess.run([sys.executable, str(HERE / "folders.py"), str(folder)], check=True, cwd=HERE,
                       env={**os.environ, "TRANSFORMERS_VERBOSITY": "error"}, stdout=subprocess.DEVNULL)
        report = Path(temporary) / "report.json"
        result = subprocess.run([program, "--gtest_filter=*WrittenFolders*", f"--gtest_output=json:{report}"],
                                env={**os.environ, "RUNCIBLE_TEST_FOLDERS": str(folder)}, stdout=subprocess.DEVNULL)
        rows = {}
        for suite in json.loads(report.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                backend, name = test["name"].split("/")[-1].split("_", 1)
                failed = " FAILED" if "failures" in test else ""
                rows.setdefault(name, {})[backend] = test.get("error", "-") + failed
    print(f"{'case':16}" + "".join(f"{backend:>16}" for backend in BACKENDS))
    for name, errors in sorted(rows.items()):
        print(f"{name:16}" + "".join(f"{errors.get(backend, '-'):>16}" for backend in BACKENDS))
    print(f"{len(rows)} cases")
    sys.exit(result.returncode or not rows)


if __name__ == "__main__":
    main()
