#!/usr/bin/env python3
"""Measures engines that have to share the processors.

    crowded.py [options] MODEL.gguf...

Two processes at once, each with as many threads as there are processors, are
compared with one alone, and a process with twice as many threads as processors
with one that has as many. What is printed is the median of the rounds; every
round measures everything once, so that each ratio is of one round.

Two processes start together and do the same several times over; each tells the
median of its rates, so that what it measured alone, at the ends, does not count.

Then loops keep the processors busy, at several priorities: see busy.py. With
--venv, the environment of compare.py, llama.cpp is measured in the same crowd.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import busy
from report import ROOT, print_table, revision

TOGETHER_GOAL = 0.90  # of one alone
MORE_THREADS_GOAL = 0.85  # of as many threads as processors


def start(arguments, model, kind, threads):
    what = (["--prompts", arguments.prompt, "--batches", 1, "-n", 2] if kind == "prompt"
            else ["--prompts", 1, "--batches", 1, "-n", arguments.tokens])
    command = [arguments.build / "bin" / "runcible", "bench", model, "--json", "--backend", "cpu",
               "--threads", threads, "--context", max(arguments.prompt, arguments.tokens) + 16,
               "--repetitions", arguments.repetitions, *what]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)


def rates(kind, processes):
    """Of each process; all are waited for before one of them may have failed."""
    reports = [process.communicate()[0] for process in processes]
    for process in processes:
        if process.returncode != 0:
            sys.exit(f"runcible bench ended with status {process.returncode}")
    return [next(one["tokens_per_second"] for one in json.loads(report)["results"] if one["kind"] == kind)
            for report in reports]


def measure_round(arguments, model, kind):
    """Tokens per second alone, of two together, and with twice the threads."""
    cores = arguments.cores
    alone, = rates(kind, [start(arguments, model, kind, cores)])
    both = rates(kind, [start(arguments, model, kind, cores) for _ in range(2)])
    more, = rates(kind, [start(arguments, model, kind, 2 * cores)])
    return {"alone": alone, "together": both, "more_threads": more}


def summarize(arguments, kind, rounds):
    cores = arguments.cores
    rows = []
    for what, goal, value in (
            ("two at once", TOGETHER_GOAL, lambda one: sum(one["together"])),
            (f"{2 * cores} threads", MORE_THREADS_GOAL, lambda one: one["more_threads"])):
        ratio = statistics.median(value(one) / one["alone"] for one in rounds)
        rows.append({"what": f"{kind}, {what}", "alone": statistics.median(one["alone"] for one in rounds),
                     "crowded": statistics.median(value(one) for one in rounds), "ratio": ratio, "goal": goal})
    return rows


def beside_engines(arguments, model):
    rounds = {kind: [measure_round(arguments, model, kind) for _ in range(arguments.rounds)]
              for kind in ("prompt", "decode")}
    rows = [row for kind, found in rounds.items() for row in summarize(arguments, kind, found)]
    print_table(["what", "alone, tok/s", "crowded, tok/s", "ratio", "goal", ""],
                [[row["what"], f"{row['alone']:.1f}", f"{row['crowded']:.1f}", f"{row['ratio']:.2f}",
                  f"{row['goal']:.2f}", "met" if row["ratio"] >= row["goal"] else "MISSED"] for row in rows])
    return {"rounds": rounds, "summary": rows}


def beside_loops(arguments, model):
    def ours(kind):
        return rates(kind, [start(arguments, model, kind, arguments.cores)])[0]

    rounds = [busy.measure(arguments, model, ours) for _ in range(arguments.rounds)]
    rows = busy.summarize(rounds)
    print_table(busy.head(rows), [busy.cells(row) for row in rows])
    return {"rounds": rounds, "summary": rows}


PARTS = {"engines": beside_engines, "loops": beside_loops}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, metavar="MODEL.gguf", nargs="+")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure")
    parser.add_argument("--venv", type=Path, help="the environment of compare.py, for llama.cpp beside loops")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "bench",
                        help="the build of Runcible (default: that of bench/run.sh)")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)),
                        help="processors; threads of one engine (default: as many as this process may use)")
    parser.add_argument("--prompt", type=int, default=256, help="tokens of a prompt")
    parser.add_argument("--tokens", type=int, default=64, help="of a generation")
    parser.add_argument("--repetitions", type=int, default=5, help="in each process")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, help="a file for the figures, as JSON")
    arguments = parser.parse_args()

    figures = {}
    for model in arguments.models:
        for part in arguments.parts:
            print(f"{model.stem}, beside {part}")
            figures.setdefault(model.stem, {})[part] = PARTS[part](arguments, model)
    load = os.getloadavg()[1]
    print(f"load average {load:.2f}")
    if arguments.output:
        arguments.output.write_text(json.dumps({
            "revision": revision(), "cores": arguments.cores,
            "load_average_at_end": round(load, 2), "models": figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
