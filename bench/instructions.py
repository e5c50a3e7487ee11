#!/usr/bin/env python3
"""Counts the instructions of a token, which machines that others use too do not disturb.

    bench/instructions.py RUNCIBLE [MODEL...]            prints them beside those that are kept
    bench/instructions.py --keep RUNCIBLE [MODEL...]     keeps them, in instructions.json

RUNCIBLE is the command. A MODEL is what it can load (builtin:fable if none is named). For each level of instructions
that valgrind knows, a run of the command under callgrind is subtracted from one with more tokens, so that loading is
not counted. Exit code 1 if a token takes 2% more instructions than are kept for this compiler; counts of other
compilers are not compared.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

KEPT = Path(__file__).resolve().parent / "instructions.json"
TOLERANCE = 0.02
LEVELS = ["baseline", "avx2"]
# Per case the options of two runs, and how many tokens the second evaluates more.
CASES = {
    "prompt": (["--prompts", "32", "--batches", "1", "-n", "2"], ["--prompts", "96", "--batches", "1", "-n", "2"], 64),
    "decode": (["--prompts", "32", "--batches", "1", "-n", "2"], ["--prompts", "32", "--batches", "1", "-n", "34"], 32),
    "decode of 8": (["--prompts", "32", "--batches", "8", "-n", "2"],
                    ["--prompts", "32", "--batches", "8", "-n", "18"], 8 * 16),
}


def count(command, model, level, options):
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", command, "bench", model, "--backend", "cpu",
         "--threads", "1", "--repetitions", "1", *options],
        env={**os.environ, "RUNCIBLE_ISA": level}, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"{command} bench {model} under valgrind: exit code {run.returncode}\n{run.stderr[-2000:]}")
    return int(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="keep the counts instead of comparing them")
    parser.add_argument("command", metavar="RUNCIBLE")
    parser.add_argument("models", metavar="MODEL", nargs="*")
    arguments = parser.parse_args()

    compiler = subprocess.run([os.environ.get("CXX", "g++"), "--version"], capture_output=True, text=True)
    compiler = compiler.stdout.partition("\n")[0]
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    ours = kept.setdefault(compiler, {})
    if not ours and not arguments.keep:
        print(f"no counts are kept for {compiler}; they are shown alone")
    worse = 0
    for model in arguments.models or ["builtin:fable"]:
        for level in LEVELS:
            for case, (fewer, more, tokens) in CASES.items():
                found = round((count(arguments.command, model, level, more)
                               - count(arguments.command, model, level, fewer)) / tokens)
                name = f"{Path(model).stem}, {level}, {case}"
                before = ours.get(name)
                change = "" if before is None else f"{(found / before - 1) * 100:+.1f}%"
                if before is not None and not arguments.keep and found > before * (1 + TOLERANCE):
                    worse += 1
                    change += f", more than {TOLERANCE:.0%}"
                print(f"{name:40}{found:12,} instructions a token  {change}", flush=True)
                ours[name] = found
    if arguments.keep:
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    if worse:
        sys.exit(f"{worse} of them take more instructions than before. If that is worth it, keep the new counts: "
                 f"bench/instructions.py --keep {arguments.command}")


if __name__ == "__main__":
    main()
