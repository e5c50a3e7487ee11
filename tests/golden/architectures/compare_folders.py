#!/usr/bin/env python3
"""Writes every case as a Hugging Face folder and compares what the engine makes of it with what is recorded.

    python compare_folders.py BUILD/bin/test_model [FOLDER] > folders.md

The folders are written to FOLDER, or to a temporary one. Prints a row for each case: the version of transformers
that wrote the folder, whether the tensors are those of NAME.gguf, and the normalized mean squared error of the
logits, for each backend from the folder and from the file that converting the folder gives. Backends without a
device on this machine have "-". Folders that are in FOLDER already stay (see folders.py). Versions:
../requirements.txt.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BACKENDS = ("reference", "cpu", "opencl", "vulkan")
BARS = {"reference": "1e-9", "cpu": "1e-7", "opencl": "1e-7", "vulkan": "1e-7"}
LOGITS = {"LogitsAreThoseOfTransformers": "folder", "ConvertedLogitsAreThoseOfTransformers": "file"}


def architecture_of(name):
    from gguf import GGUFReader
    return GGUFReader(HERE / f"{name}.gguf").get_field("general.architecture").contents()


def run(program, folder, report):
    environment = {**os.environ, "RUNCIBLE_TEST_FOLDERS": str(folder)}
    environment.setdefault("RUNCIBLE_PLUGIN_PATH", str(Path(program).parent.parent / "lib"))
    return subprocess.run([program, "--gtest_filter=*WrittenFolders*", f"--gtest_output=json:{report}"],
                          env=environment, stdout=subprocess.DEVNULL).returncode


def rows_of(report):
    rows = {}
    for suite in json.loads(report.read_text())["testsuites"]:
        for test in suite["testsuite"]:
            kind, case = test["name"].split("/")
            backend, name = case.split("_", 1)
            failed = "failures" in test
            if kind in LOGITS:
                error = f"{float(test['error']):.1e}" if "error" in test else "-"
                rows.setdefault(name, {})[backend, LOGITS[kind]] = error + (" FAILED" if failed else "")
            elif test["result"] == "COMPLETED":
                rows.setdefault(name, {})["tensors"] = "others" if failed else "same"
    return rows


def print_table(rows, folder):
    names = {path.name.replace("-", "_"): path.name for path in folder.iterdir()}
    print("# Folders of transformers, and the files that converting them gives\n")
    print("Normalized mean squared error of the logits beside those that transformers gives in float64; weights in F32.")
    print("`python compare_folders.py BUILD/bin/test_model FOLDER > folders.md` makes this page (see there). A row fails")
    print("at " + ", ".join(f"{bar} on {backend}" for backend, bar in BARS.items()) + ".\n")
    columns = [f"{backend}, {source}" for backend in BACKENDS for source in ("folder", "file")]
    header = ["case", "architecture", "transformers", "tensors", *columns]
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for key, cells in sorted(rows.items()):
        name = names[key]
        version = json.loads((folder / name / "config.json").read_text()).get("transformers_version", "-")
        print("| " + " | ".join([name, architecture_of(name), version, cells.get("tensors", "-"), *(
            cells.get((backend, source), "-") for backend in BACKENDS for source in ("folder", "file"))]) + " |")
    failed = sum("FAILED" in cell or cell == "others" for cells in rows.values() for cell in cells.values())
    print(f"\n{len(rows)} cases of {len({architecture_of(names[key]) for key in rows})} architectures, {failed} failures.")


def main():
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else temporary)
        subprocess.run([sys.executable, str(HERE / "folders.py"), str(folder)], check=True, cwd=HERE,
                       env={**os.environ, "TRANSFORMERS_VERBOSITY": "error"}, stdout=subprocess.DEVNULL)
        report = Path(temporary) / "report.json"
        status = run(program, folder, report)
        rows = rows_of(report)
        print_table(rows, folder)
    sys.exit(status or not rows)


if __name__ == "__main__":
    main()
