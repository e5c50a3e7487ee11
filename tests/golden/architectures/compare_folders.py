#!/usr/bin/env python3
"""Writes every case as a Hugging Face folder and compares what the engine makes of it with what is recorded.

    python compare_folders.py BUILD/bin/test_model [FOLDER]

The folders are written to FOLDER, or to a temporary one. Prints a row for each case: whether the tensors are
those of NAME.gguf, and the normalized mean squared error of the logits on each backend. Folders that are in FOLDER
already stay (see folders.py). Versions: ../requirements.txt.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLUMNS = ("tensors", "reference", "cpu")


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
                kind, case = test["name"].split("/")
                backend, name = case.split("_", 1)
                failed = "failures" in test
                if kind.startswith("Logits"):
                    rows.setdefault(name, {})[backend] = test.get("error", "-") + (" FAILED" if failed else "")
                elif test["result"] == "COMPLETED":
                    rows.setdefault(name, {})["tensors"] = "others" if failed else "same"
    print(f"{'case':20}" + "".join(f"{column:>16}" for column in COLUMNS))
    for name, columns in sorted(rows.items()):
        print(f"{name:20}" + "".join(f"{columns.get(column, '-'):>16}" for column in COLUMNS))
    print(f"{len(rows)} cases")
    sys.exit(result.returncode or not rows)


if __name__ == "__main__":
    main()
