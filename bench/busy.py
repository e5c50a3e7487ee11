"""Processors that others keep busy: rows of crowded.py.

Loops that do nothing run beside an engine with as many threads as processors.
What the kernel then gives such a program is measured with threads that do
nothing either, right before and after: a generation should get most of its
speed alone times that share.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

SHARE_GOAL = 0.80  # of the speed alone, times the share of the processors
PEER_GOAL = 2.0  # times llama.cpp

NICE = (0, 5, 19)
LOOPS = (1, 2, 6)

SPIN = """
import sys, time
wall, used = time.monotonic(), time.process_time()
while time.monotonic() - wall < float(sys.argv[1]): pass
print((time.process_time() - used) / (time.monotonic() - wall))
"""
SPIN_SECONDS = 1.0


@contextlib.contextmanager
def busy(count, nice):
    """`count` loops of that niceness."""
    loops = [subprocess.Popen(["nice", "-n", str(nice), "sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()


def share(cores):
    """Of the time of that many processors, what as many threads get now."""
    spinners = [subprocess.Popen([sys.executable, "-c", SPIN, str(SPIN_SECONDS)], stdout=subprocess.PIPE, text=True)
                for _ in range(cores)]
    return sum(float(spinner.communicate()[0]) for spinner in spinners) / cores


def peer_rates(arguments, model):
    """Of llama.cpp: prompt and decode."""
    jobs = {"threads": arguments.cores, "prompts": [arguments.prompt], "decodes": [{"batch": 1, "depth": 4}],
            "tokens": arguments.tokens, "repetitions": arguments.repetitions}
    out = subprocess.run([arguments.venv / "bin" / "python", Path(__file__).parent / "peer.py", model,
                          json.dumps(jobs)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {one["kind"]: one["tokens_per_second"] for one in json.loads(out)["results"]}


def measure(arguments, model, ours):
    """A round: speeds beside each number of loops of each niceness, and alone right before and after."""
    def once():
        before = share(arguments.cores)
        rates = {kind: ours(kind) for kind in ("prompt", "decode")}
        return {"share": (before + share(arguments.cores)) / 2, "ours": rates}

    def peer():
        return {"peer": peer_rates(arguments, model) if arguments.venv else {}}

    alone = once()
    rows = [{"loops": 0, "nice": 0, **alone, "alone": alone, **peer()}]
    for nice in NICE:
        for loops in LOOPS:
            with busy(loops, nice):
                row = {"loops": loops, "nice": nice, **once(), **peer()}
            before, alone = alone, once()
            row["alone"] = {"share": (before["share"] + alone["share"]) / 2,
                            "ours": {kind: (before["ours"][kind] + alone["ours"][kind]) / 2 for kind in alone["ours"]}}
            rows.append(row)
    return rows


def summarize(rounds):
    """A row for each crowd and kind; ratios are medians of those of the rounds."""
    rows = []
    for kind in ("prompt", "decode"):
        for i, first in enumerate(rounds[0]):
            crowds = [one[i] for one in rounds]
            row = {
                "kind": kind, "loops": first["loops"], "nice": first["nice"],
                "tokens_per_second": statistics.median(now["ours"][kind] for now in crowds),
                "share": statistics.median(now["share"] / now["alone"]["share"] for now in crowds),
                "of_share": statistics.median(now["ours"][kind] / now["alone"]["ours"][kind]
                                              / (now["share"] / now["alone"]["share"]) for now in crowds),
            }
            if first["peer"]:
                row["peer"] = statistics.median(now["peer"][kind] for now in crowds)
                row["times_peer"] = statistics.median(now["ours"][kind] / now["peer"][kind] for now in crowds)
            rows.append(row)
    return rows


def cells(row):
    """What print_table shows of a row; alone there is no goal."""
    crowd = f"{row['loops']} loops, nice {row['nice']}" if row["loops"] else "alone"
    shown = [f"{row['kind']}, {crowd}", f"{row['tokens_per_second']:.1f}", f"{row['share']:.2f}",
             f"{row['of_share']:.2f}"]
    missed = row["of_share"] < SHARE_GOAL
    if "peer" in row:
        shown += [f"{row['peer']:.1f}", f"{row['times_peer']:.2f}"]
        missed |= row["times_peer"] < PEER_GOAL
    return shown + ["" if row["loops"] == 0 else "MISSED" if missed else "met"]


def head(rows):
    peer = ["llama.cpp", "times it"] if any("peer" in row for row in rows) else []
    return ["what", "tok/s", "processors", "of that share"] + peer + [""]
