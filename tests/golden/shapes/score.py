#!/usr/bin/env python3
"""What the engine computes from the folders of draw.py, from the files that it converts them to, and from those of llama.cpp's converter.

    python score.py BUILD/bin/runcible TARGET > score.md

Prints the normalized mean squared error of the logits for each of them on the backends reference and cpu, or the words of a refusal, and
fails where that of a folder or of a file made from it is above the bar: 1e-9 on reference, 1e-5 on cpu, which rounds what meets weights of BF16 and F16.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

BARS = {"reference": 1e-9, "cpu": 1e-5}


def logits_of(program, model, tokens, backend):
    """The rows, or the words of an error."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "logits"
        run = subprocess.run([program, "run", model, "--prompt-tokens", ",".join(map(str, tokens)), "-n", "0", "--raw-logits", out, "--backend", backend,
                              "--cache-dtype", "f32"],
                             capture_output=True, text=True)
        if run.returncode:
            return run.stderr.strip().splitlines()[-1].removeprefix("runcible: ") if run.returncode > 0 and run.stderr else f"ended with {run.returncode}"
        return np.fromfile(out, "<f4").reshape(len(tokens), -1)


class Row:
    def __init__(self, program, folder):
        self.folder = folder
        info = json.loads((folder / "tokens.json").read_text())
        self.type, self.changes = info["type"], info["changes"]
        expected = np.fromfile(folder / "logits.f32", "<f4").reshape(len(info["tokens"]), -1).astype(np.float64)
        converted, given = folder / "converted.gguf", folder / "by_llama_cpp.gguf"
        converted.unlink(missing_ok=True)
        conversion = subprocess.run([program, "convert", folder, converted], capture_output=True, text=True)
        self.cells, self.wrong = {}, []
        for source, path in (("folder", folder), ("converted", converted), ("llama.cpp", given)):
            for backend, bar in BARS.items():
                if source == "converted" and conversion.returncode:
                    self.cells[source, backend] = "refused: " + conversion.stderr.strip().splitlines()[-1].removeprefix("runcible: ")
                    continue
                if not path.exists():
                    self.cells[source, backend] = "-"
                    continue
                actual = logits_of(program, path, info["tokens"], backend)
                if isinstance(actual, str):
                    self.cells[source, backend] = "refused: " + actual
                    continue
                error = float(((actual - expected) ** 2).sum() / (expected ** 2).sum()) if actual.shape == expected.shape else float("inf")
                self.cells[source, backend] = f"{error:.1e}"
                if not error < bar:
                    self.wrong.append((source, backend))
                    self.cells[source, backend] += " WRONG"

    def is_right(self, source):
        return all(not self.cells[source, backend].startswith(("refused", "-")) for backend in BARS) and not any(s == source for s, b in self.wrong)


def main():
    program, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    rows = [Row(program, path.parent) for path in sorted(target.glob("*/tokens.json"))]
    columns = [(source, backend) for source in ("folder", "converted", "llama.cpp") for backend in BARS]
    print("| model | changes | " + " | ".join(f"{source}, {backend}" for source, backend in columns) + " |")
    print("|" + "---|" * (2 + len(columns)))
    for row in rows:
        print(f"| {row.folder.name} | {', '.join(row.changes)} | " + " | ".join(row.cells[c].replace("|", "/") for c in columns) + " |")
    for source in ("folder", "converted", "llama.cpp"):
        right = sum(row.is_right(source) for row in rows)
        wrong = sum(any(s == source for s, b in row.wrong) for row in rows)
        absent = sum(row.cells[source, "cpu"] == "-" for row in rows)
        print(f"\n{source}: {right} right, {wrong} wrong, {len(rows) - right - wrong - absent} refused, {absent} not made, of {len(rows)}")
    sys.exit(any(source != "llama.cpp" for row in rows for source, backend in row.wrong))


if __name__ == "__main__":
    main()
