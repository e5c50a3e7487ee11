#!/usr/bin/env python3
"""How well an event loop stays responsive while devices are discovered and
backends are opened, in C, Python and Node.

    opening.py [--build build/release] [--node PACKAGE] [--runs 5]

Each run is a process of its own with empty caches. A timer of 1 ms runs on the
loop; what is printed are the medians over the runs of how late it was at worst,
how late it was at worst before anything was opened, how long the loop's thread
computed at most from one tick to the next, and how long the calls that began it
and that closed what was opened kept the loop. A timer that is later than its
thread computed waited for a processor. With the package `runcible` installed Python is measured
too, and Node with the folder of its package, such as build/bindings/node.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL_MS = 1
HERE = Path(__file__).resolve().parent


async def lateness(during):
    """The worst of a timer of 1 ms while that runs, the most that the thread
    computed from one tick to the next, and the result."""
    worst = busy = 0.0
    running = asyncio.ensure_future(during)
    while not running.done():
        begin, computed = time.perf_counter(), time.thread_time()
        await asyncio.sleep(0.001)
        worst = max(worst, time.perf_counter() - begin - 0.001)
        busy = max(busy, time.thread_time() - computed)
    return worst * 1e3, busy * 1e3, running.result()


async def measure(what):
    import runcible

    alone, _, _ = await lateness(asyncio.sleep(0.5))
    begin = time.perf_counter()
    opening = runcible.discover_async() if what == "discover" else runcible.Backend.open(what)
    late, busy, opened = await lateness(opening)
    seconds = time.perf_counter() - begin
    closing = time.perf_counter()
    if what != "discover":
        opened.close()
    closed = time.perf_counter() - closing
    return {"late_ms": late, "late_alone_ms": alone, "busy_ms": busy, "close_ms": closed * 1e3, "seconds": seconds}


def run(command):
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, XDG_CACHE_HOME=cache)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else f"status {done.returncode}"}
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "release")
    parser.add_argument("--node", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--specs", nargs="+", default=["discover", "auto", "cpu", "opencl", "vulkan"])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(asyncio.run(measure(args.measure))))
        return

    languages = {"C": lambda what: [args.build / "bin" / "bench" / "opening", what]}
    if importlib.util.find_spec("runcible"):
        languages["Python"] = lambda what: [sys.executable, __file__, "--measure", what]
    if args.node:
        languages["Node"] = lambda what: ["node", HERE / "opening.mjs", args.node.resolve(), what]
    rows = []
    print(f"{'':8}{'':10}{'late, ms':>10}{'alone':>8}{'busy':>8}{'call':>8}{'close':>8}{'seconds':>9}  goal: {GOAL_MS} ms")
    for name, command in languages.items():
        for what in args.specs:
            runs = [run(command(what)) for _ in range(args.runs)]
            errors = [one["error"] for one in runs if "error" in one]
            if errors:
                print(f"{name:8}{what:10}{errors[0]}")
                rows.append({"language": name, "what": what, "error": errors[0]})
                continue
            row = {"language": name, "what": what}
            for key in runs[0]:
                row[key] = round(statistics.median(one[key] for one in runs), 3)
            rows.append(row)
            longest = [row[key] for key in ("late_ms", "close_ms") if key in row]
            met = "met" if max(longest) <= GOAL_MS else "MISSED"
            cells = [f"{row[key]:8.2f}" if key in row else f"{'-':>8}"
                     for key in ("late_alone_ms", "busy_ms", "call_ms", "close_ms")]
            print(f"{name:8}{what:10}{row['late_ms']:10.2f}{''.join(cells)}{row['seconds']:9.2f}  {met}")
    if args.output:
        args.output.write_text(json.dumps({"runs": args.runs, "load": os.getloadavg()[0], "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
